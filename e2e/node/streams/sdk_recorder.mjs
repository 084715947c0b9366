// Records what the vendors' TypeScript SDKs read from a stream, as ../../streams/sdk_recorder.py does.

import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { accumulateResponse } from 'openai/lib/responses/ResponseAccumulator';

const REQUESTS = {
  chat: { model: 'm', messages: [{ role: 'user', content: 'Go on.' }] },
  responses: { model: 'm', input: 'Go on.' },
  messages: { model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'Go on.' }] },
};

// What an SDK throws for a stream that ends in an error.
export const STREAM_ERRORS = { chat: OpenAI.APIError, responses: OpenAI.APIError, messages: Anthropic.APIError };

export class SdkRecorder {
  constructor(server) {
    const options = { baseURL: server.url, apiKey: 'k', maxRetries: 0, logLevel: 'off' };
    this.server = server;
    this.openai = new OpenAI(options);
    this.anthropic = new Anthropic(options);
  }

  // Records every event of `create({stream: true})`.
  async iterate(protocol, stream, chunkSize) {
    const recording = { events: [] };
    try {
      const request = { ...REQUESTS[protocol], stream: true };
      const options = { headers: this.server.headers(stream, chunkSize) };
      const events = await {
        chat: () => this.openai.chat.completions.create(request, options),
        responses: () => this.openai.responses.create(request, options),
        messages: () => this.anthropic.messages.create(request, options),
      }[protocol]();
      for await (const event of events) recording.events.push(event);
    } catch (error) {
      recording.error = error;
    }
    return recording;
  }

  // Records the answer that the `stream()` helper assembles.
  async useHelper(protocol, stream, chunkSize) {
    const recording = { events: [] };
    try {
      const options = { headers: this.server.headers(stream, chunkSize) };
      const [helper, event, finish] = {
        chat: () => [this.openai.chat.completions.stream(REQUESTS.chat, options), 'chunk', 'finalChatCompletion'],
        responses: () => [this.openai.responses.stream(REQUESTS.responses, options), 'event', 'finalResponse'],
        messages: () => [this.anthropic.messages.stream(REQUESTS.messages, options), 'streamEvent', 'finalMessage'],
      }[protocol]();
      helper.on(event, (event) => recording.events.push(structuredClone(event)));
      recording.answer = await helper[finish]();
    } catch (error) {
      recording.error = error;
    }
    return recording;
  }
}

// The answer as the API would have sent it unary: without the fields that the helper adds.
export function document(protocol, { answer, events }) {
  answer = JSON.parse(JSON.stringify(answer));
  if (protocol === 'messages') return withExactInputs(answer, events);
  for (const { message, index } of answer.choices ?? []) {
    delete message.parsed;
    message.content ||= null;
    for (const { function: called } of message.tool_calls ?? []) delete called?.parsed_arguments;
    Object.assign(message, vendorFields(events, index));
  }
  delete answer.output_text;
  delete answer.output_parsed;
  for (const item of answer.output ?? []) {
    delete item.parsed_arguments;
    for (const part of item.content ?? []) delete part.parsed;
  }
  return JSON.stringify(answer);
}

// Of a field that OpenAI does not have, such as a vendor's reasoning, the helper keeps only the last
// delta. A client that wants the field joins the deltas like this.
function vendorFields(chunks, index) {
  const own = ['role', 'content', 'refusal', 'tool_calls', 'function_call', 'audio'];
  const fields = {};
  for (const { delta } of chunks.flatMap((chunk) => chunk.choices).filter((choice) => choice.index === index)) {
    for (const [key, value] of Object.entries(delta ?? {})) {
      if (own.includes(key) || value === null) continue;
      const grows = typeof value === 'string' || Array.isArray(value);
      fields[key] = key in fields && grows ? fields[key].concat(value) : value;
    }
  }
  return fields;
}

// A message whose inputs are the original text, because JavaScript would round their numbers.
function withExactInputs(message, events) {
  const inputs = {};
  for (const { type, index, delta } of events) {
    if (type === 'content_block_delta' && delta.type === 'input_json_delta') {
      inputs[index] = (inputs[index] ?? '') + delta.partial_json;
    }
  }
  const texts = {};
  message.content.forEach((block, index) => {
    delete block.parsed_output;
    if ('input' in block && isJson(inputs[index] ?? '')) {
      block.input = `input of block ${index}`;
      texts[block.input] = inputs[index];
    }
  });
  delete message.parsed_output;
  return JSON.stringify(message).replace(/"(input of block \d+)"/g, (_, placeholder) => texts[placeholder]);
}

function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

// The output that the events before the last one add up to, and the output in the last event.
export function outputs(events) {
  const before = events.slice(0, -1).reduce((answer, event) => accumulateResponse(event, answer), undefined);
  return [before?.output, events.at(-1)?.response?.output];
}

// The text and the calls of a Chat stream as a whole answer, assembled without the helper.
export function joinChunks(chunks) {
  const message = { content: '', tool_calls: [] };
  for (const { delta } of chunks.flatMap((chunk) => chunk.choices)) {
    message.content += delta.content ?? '';
    for (const part of delta.tool_calls ?? []) {
      const call = (message.tool_calls[part.index] ??= { type: part.type, [part.type]: {} });
      const body = call[call.type];
      for (const [key, text] of Object.entries(part[call.type])) body[key] = (body[key] ?? '') + text;
    }
  }
  return JSON.stringify({ choices: [{ message }] });
}

// The text, and the name and arguments of every call, in an answer of any protocol.
export function textAndCalls(answer) {
  const { choices = [], output = [], content = [] } = JSON.parse(answer);
  const texts = [
    ...choices.map(({ message }) => message.content ?? ''),
    ...output.filter(({ type }) => type === 'message').flatMap((item) => item.content.map(({ text }) => text ?? '')),
    ...content.filter(({ type }) => type === 'text').map(({ text }) => text),
  ];
  const calls = [
    ...choices.flatMap(({ message }) => message.tool_calls ?? []).map((call) => call[call.type]),
    ...output.filter(({ type }) => ['function_call', 'custom_tool_call'].includes(type)),
    ...content.filter(({ type }) => type === 'tool_use'),
  ];
  const namedCalls = calls.map((call) => ({ name: call.name, arguments: argumentValue(call.arguments ?? call.input) }));
  return { text: texts.join(''), calls: namedCalls };
}

function argumentValue(given) {
  const parsed = typeof given === 'string' && isJson(given) ? JSON.parse(given) : given;
  // A protocol without freeform calls has a function with one text argument in their place.
  const wrapped = Object(parsed) === parsed && Object.keys(parsed).join() === 'input';
  return wrapped ? parsed.input : parsed;
}
