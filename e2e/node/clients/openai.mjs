// `openai`: Chat Completions and Responses.

import OpenAI from 'openai';

import { Conversation, dataUrl } from './conversation.mjs';

const CHAT_STOPS = { stop: 'end', tool_calls: 'calls', length: 'length' };
const FORMAT = { type: 'json_schema', name: 'answer', strict: true };

export class Chat extends Conversation {
  connect(url, fetch) {
    const { system, user, image } = this.ask;
    const imageBlock = { type: 'image_url', image_url: { url: dataUrl(image) } };
    this.messages = system ? [{ role: 'system', content: system }] : [];
    this.messages.push({ role: 'user', content: image ? [{ type: 'text', text: user }, imageBlock] : user });
    return new OpenAI({ baseURL: `${url}/v1`, apiKey: 'client-key', maxRetries: 0, fetch });
  }

  parameters() {
    const { choice, parallel, format, limit, think } = this.ask;
    const parameters = { model: this.model, messages: this.messages };
    // The helper accepts strict tools only.
    const strict = this.mode === 'helper' ? { strict: true } : {};
    const tools = this.tools.map(({ name, description, schema }) => ({ name, description, parameters: schema, ...strict }));
    if (tools.length > 0) parameters.tools = tools.map((tool) => ({ type: 'function', function: tool }));
    if (choice) parameters.tool_choice = this.choice(choice);
    if (parallel !== undefined) parameters.parallel_tool_calls = parallel;
    if (format) {
      const { type, ...named } = FORMAT;
      parameters.response_format = { type, json_schema: { ...named, schema: format } };
    }
    if (limit) parameters.max_completion_tokens = limit;
    if (think) parameters.reasoning_effort = 'low';
    if (this.mode !== 'unary') parameters.stream_options = { include_usage: true };
    return parameters;
  }

  choice(choice) {
    if (typeof choice === 'string') return choice === 'any' ? 'required' : choice;
    const named = (name) => ({ type: 'function', function: { name } });
    if (choice.name) return named(choice.name);
    return { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: choice.allowed.map(named) } };
  }

  create(more) {
    return this.client.chat.completions.create({ ...this.parameters(), ...more });
  }

  helper() {
    return this.client.chat.completions.stream(this.parameters());
  }

  isText(event) {
    return Boolean(event.choices?.[0]?.delta?.content);
  }

  async nextAnswer() {
    const { message, stop, usage } = await this.finalAnswer();
    this.messages.push(message);
    const calls = message.tool_calls ?? [];
    const answer = {
      text: message.content ?? '',
      calls: calls.map((call) => [call.function.name, JSON.parse(call.function.arguments)]),
      reasoning: this.mode === 'helper' ? null : (message.reasoning_content ?? null),
      usage: usage && {
        input: usage.prompt_tokens,
        cached: usage.prompt_tokens_details.cached_tokens,
        output: usage.completion_tokens,
        reasoning: usage.completion_tokens_details?.reasoning_tokens ?? 0,
      },
      stop: CHAT_STOPS[stop],
    };
    return { answer, calls };
  }

  async finalAnswer() {
    if (this.mode === 'stream') return joinChunks(await this.create({ stream: true }));
    const completion = await (this.mode === 'unary' ? this.create() : this.helper().finalChatCompletion());
    const [{ message, finish_reason: stop }] = completion.choices;
    return { message, stop, usage: completion.usage };
  }

  addResults(calls) {
    for (const { id, function: called } of calls) {
      this.messages.push({ role: 'tool', tool_call_id: id, content: this.results[called.name].text });
    }
  }
}

// A message assembled from its chunks, without the helper.
async function joinChunks(chunks) {
  const message = { role: 'assistant', content: null };
  let [stop, usage] = [null, null];
  for await (const chunk of chunks) {
    usage = chunk.usage ?? usage;
    for (const { delta, finish_reason: reason } of chunk.choices) {
      stop = reason ?? stop;
      for (const key of ['content', 'reasoning_content']) if (delta[key]) message[key] = (message[key] ?? '') + delta[key];
      if (delta.reasoning_details) {
        message.reasoning_details = [...(message.reasoning_details ?? []), ...delta.reasoning_details];
      }
      for (const { index, id, type, function: piece } of delta.tool_calls ?? []) {
        message.tool_calls ??= [];
        const call = (message.tool_calls[index] ??= { id, type, function: { name: '', arguments: '' } });
        for (const [key, text] of Object.entries(piece)) call.function[key] += text ?? '';
      }
    }
  }
  return { message, stop, usage };
}

export class Responses extends Conversation {
  connect(url, fetch) {
    const { user, image } = this.ask;
    const imageBlock = { type: 'input_image', image_url: dataUrl(image), detail: 'auto' };
    this.items = [{ role: 'user', content: image ? [{ type: 'input_text', text: user }, imageBlock] : user }];
    return new OpenAI({ baseURL: `${url}/v1`, apiKey: 'client-key', maxRetries: 0, fetch });
  }

  parameters() {
    const { system, choice, parallel, format, limit, think } = this.ask;
    // There is no store behind the gateway, so the client keeps its own history.
    const parameters = { model: this.model, input: this.items, store: false };
    const tools = this.tools.map(({ name, description, schema }) => ({ name, description, parameters: schema, strict: true }));
    if (system) parameters.instructions = system;
    if (tools.length > 0) parameters.tools = tools.map((tool) => ({ type: 'function', ...tool }));
    if (choice) parameters.tool_choice = this.choice(choice);
    if (parallel !== undefined) parameters.parallel_tool_calls = parallel;
    if (format) parameters.text = { format: { ...FORMAT, schema: format } };
    if (limit) parameters.max_output_tokens = limit;
    if (think) {
      parameters.reasoning = { effort: 'low', summary: 'auto' };
      parameters.include = ['reasoning.encrypted_content'];
    }
    return parameters;
  }

  choice(choice) {
    if (typeof choice === 'string') return choice === 'any' ? 'required' : choice;
    const named = (name) => ({ type: 'function', name });
    return choice.name ? named(choice.name) : { type: 'allowed_tools', mode: 'auto', tools: choice.allowed.map(named) };
  }

  create(more) {
    return this.client.responses.create({ ...this.parameters(), ...more });
  }

  helper() {
    return this.client.responses.stream(this.parameters());
  }

  isText(event) {
    return event.type === 'response.output_text.delta';
  }

  async nextAnswer() {
    const { output, usage, status } = await this.finalAnswer();
    this.items.push(...output);
    const calls = output.filter(({ type }) => type === 'function_call');
    const texts = output.filter(({ type }) => type === 'message').flatMap(({ content }) => content.map(({ text }) => text));
    const reasoning = output.filter(({ type }) => type === 'reasoning').flatMap((item) => [...item.summary, ...(item.content ?? [])]);
    const answer = {
      text: texts.join(''),
      calls: calls.map((call) => [call.name, JSON.parse(call.arguments)]),
      reasoning: reasoning.map(({ text }) => text).join(''),
      usage: {
        input: usage.input_tokens,
        cached: usage.input_tokens_details.cached_tokens,
        output: usage.output_tokens,
        reasoning: usage.output_tokens_details.reasoning_tokens,
      },
      stop: status === 'incomplete' ? 'length' : calls.length > 0 ? 'calls' : 'end',
    };
    return { answer, calls };
  }

  async finalAnswer() {
    if (this.mode === 'unary') return this.create();
    if (this.mode === 'helper') return this.helper().finalResponse();
    let last;
    for await (last of await this.create({ stream: true }));
    return last.response;
  }

  addResults(calls) {
    for (const { name, call_id } of calls) {
      const { text, image } = this.results[name];
      const imageBlock = { type: 'input_image', image_url: dataUrl(image), detail: 'auto' };
      const output = image ? [{ type: 'input_text', text }, imageBlock] : text;
      this.items.push({ type: 'function_call_output', call_id, output });
    }
  }
}
