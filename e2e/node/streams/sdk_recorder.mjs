// What the vendors' TypeScript SDKs make of a stream, like ../../streams/sdk_recorder.py.

import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { accumulateResponse } from 'openai/lib/responses/ResponseAccumulator';

const ASKED = {
  chat: { model: 'm', messages: [{ role: 'user', content: 'Go on.' }] },
  responses: { model: 'm', input: 'Go on.' },
  messages: { model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'Go on.' }] },
};

// What an SDK throws for a stream that ends in an error.
export const FAILURES = { chat: OpenAI.APIError, responses: OpenAI.APIError, messages: Anthropic.APIError };

export class Sdks {
  constructor(server) {
    const same = { baseURL: server.url, apiKey: 'k', maxRetries: 0, logLevel: 'off' };
    this.server = server;
    this.openai = new OpenAI(same);
    this.anthropic = new Anthropic(same);
  }

  // Every event as `create({stream: true})` gives it.
  async iterated(protocol, stream, piece) {
    const heard = { events: [] };
    try {
      const asked = { ...ASKED[protocol], stream: true };
      const options = { headers: this.server.headers(stream, piece) };
      const events = await {
        chat: () => this.openai.chat.completions.create(asked, options),
        responses: () => this.openai.responses.create(asked, options),
        messages: () => this.anthropic.messages.create(asked, options),
      }[protocol]();
      for await (const event of events) heard.events.push(event);
    } catch (error) {
      heard.error = error;
    }
    return heard;
  }

  // The answer as the `stream()` helper puts it together.
  async helped(protocol, stream, piece) {
    const heard = { events: [] };
    try {
      const options = { headers: this.server.headers(stream, piece) };
      const [helper, event, finish] = {
        chat: () => [this.openai.chat.completions.stream(ASKED.chat, options), 'chunk', 'finalChatCompletion'],
        responses: () => [this.openai.responses.stream(ASKED.responses, options), 'event', 'finalResponse'],
        messages: () => [this.anthropic.messages.stream(ASKED.messages, options), 'streamEvent', 'finalMessage'],
      }[protocol]();
      helper.on(event, (event) => heard.events.push(structuredClone(event)));
      heard.answer = await helper[finish]();
    } catch (error) {
      heard.error = error;
    }
    return heard;
  }
}

// The answer as the API would have sent it whole, without what the helper made of it.
export function document(protocol, { answer, events }) {
  answer = JSON.parse(JSON.stringify(answer));
  if (protocol === 'messages') return withInputs(answer, events);
  for (const { message, index } of answer.choices ?? []) {
    delete message.parsed;
    message.content ||= null;
    for (const { function: called } of message.tool_calls ?? []) delete called?.parsed_arguments;
    Object.assign(message, vendors(events, index));
  }
  delete answer.output_text;
  delete answer.output_parsed;
  for (const item of answer.output ?? []) {
    delete item.parsed_arguments;
    for (const part of item.content ?? []) delete part.parsed;
  }
  return JSON.stringify(answer);
}

// The helper keeps only the last piece of a member that OpenAI does not have, such as a vendor's
// reasoning. A client that wants it joins the pieces, like this.
function vendors(chunks, index) {
  const own = ['role', 'content', 'refusal', 'tool_calls', 'function_call', 'audio'];
  const joined = {};
  for (const { delta } of chunks.flatMap((chunk) => chunk.choices).filter((choice) => choice.index === index)) {
    for (const [key, value] of Object.entries(delta ?? {})) {
      if (own.includes(key) || value === null) continue;
      const grows = typeof value === 'string' || Array.isArray(value);
      joined[key] = key in joined && grows ? joined[key].concat(value) : value;
    }
  }
  return joined;
}

// A message whose inputs are the text that came: JavaScript would round their numbers.
function withInputs(message, events) {
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
  return JSON.stringify(message).replace(/"(input of block \d+)"/g, (_, mark) => texts[mark]);
}

function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

// What the events before the last one make of the output, and what the last one says it is.
export function outputs(events) {
  const before = events.slice(0, -1).reduce((answer, event) => accumulateResponse(event, answer), undefined);
  return [before?.output, events.at(-1)?.response?.output];
}

// The text and the calls of a Chat stream, joined without the helper, as a whole answer has them.
export function joined(chunks) {
  const message = { content: '', tool_calls: [] };
  for (const { delta } of chunks.flatMap((chunk) => chunk.choices)) {
    message.content += delta.content ?? '';
    for (const part of delta.tool_calls ?? []) {
      const call = (message.tool_calls[part.index] ??= { type: part.type, [part.type]: {} });
      const body = call[call.type];
      for (const [key, piece] of Object.entries(part[call.type])) body[key] = (body[key] ?? '') + piece;
    }
  }
  return JSON.stringify({ choices: [{ message }] });
}

// The text, and the name and arguments of every call, in an answer of any protocol.
export function saidIn(answer) {
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
  const named = calls.map((call) => ({ name: call.name, arguments: value(call.arguments ?? call.input) }));
  return { text: texts.join(''), calls: named };
}

function value(given) {
  const parsed = typeof given === 'string' && isJson(given) ? JSON.parse(given) : given;
  // A freeform call is a function of one text where there are no freeform calls.
  const wrapped = Object(parsed) === parsed && Object.keys(parsed).join() === 'input';
  return wrapped ? parsed.input : parsed;
}
