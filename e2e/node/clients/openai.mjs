// `openai`: Chat Completions and Responses.

import OpenAI from 'openai';

import { Talk, dataUrl } from './conversation.mjs';

const CHAT_STOPS = { stop: 'end', tool_calls: 'calls', length: 'length' };
const FORMAT = { type: 'json_schema', name: 'answer', strict: true };

export class Chat extends Talk {
  connect(url, fetch) {
    const { system, user, image } = this.ask;
    const picture = { type: 'image_url', image_url: { url: dataUrl(image) } };
    this.messages = system ? [{ role: 'system', content: system }] : [];
    this.messages.push({ role: 'user', content: image ? [{ type: 'text', text: user }, picture] : user });
    return new OpenAI({ baseURL: `${url}/v1`, apiKey: 'client-key', maxRetries: 0, fetch });
  }

  asked() {
    const { choice, parallel, format, limit, think } = this.ask;
    const asked = { model: this.model, messages: this.messages };
    // The helper takes strict tools alone.
    const strict = this.mode === 'helper' ? { strict: true } : {};
    const tools = this.tools.map(({ name, description, schema }) => ({ name, description, parameters: schema, ...strict }));
    if (tools.length > 0) asked.tools = tools.map((tool) => ({ type: 'function', function: tool }));
    if (choice) asked.tool_choice = this.choice(choice);
    if (parallel !== undefined) asked.parallel_tool_calls = parallel;
    if (format) {
      const { type, ...named } = FORMAT;
      asked.response_format = { type, json_schema: { ...named, schema: format } };
    }
    if (limit) asked.max_completion_tokens = limit;
    if (think) asked.reasoning_effort = 'low';
    if (this.mode !== 'unary') asked.stream_options = { include_usage: true };
    return asked;
  }

  choice(choice) {
    if (typeof choice === 'string') return choice === 'any' ? 'required' : choice;
    const named = (name) => ({ type: 'function', function: { name } });
    if (choice.name) return named(choice.name);
    return { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: choice.allowed.map(named) } };
  }

  create(more) {
    return this.client.chat.completions.create({ ...this.asked(), ...more });
  }

  helper() {
    return this.client.chat.completions.stream(this.asked());
  }

  isText(event) {
    return Boolean(event.choices?.[0]?.delta?.content);
  }

  async step() {
    const { message, stop, usage } = await this.whole();
    this.messages.push(message);
    const calls = message.tool_calls ?? [];
    const step = {
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
    return { step, calls };
  }

  async whole() {
    if (this.mode === 'stream') return joined(await this.create({ stream: true }));
    const completion = await (this.mode === 'unary' ? this.create() : this.helper().finalChatCompletion());
    const [{ message, finish_reason: stop }] = completion.choices;
    return { message, stop, usage: completion.usage };
  }

  answer(calls) {
    for (const { id, function: called } of calls) {
      this.messages.push({ role: 'tool', tool_call_id: id, content: this.results[called.name].text });
    }
  }
}

// A message from its chunks, as a user without the helper puts it together.
async function joined(chunks) {
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

export class Responses extends Talk {
  connect(url, fetch) {
    const { user, image } = this.ask;
    const picture = { type: 'input_image', image_url: dataUrl(image), detail: 'auto' };
    this.items = [{ role: 'user', content: image ? [{ type: 'input_text', text: user }, picture] : user }];
    return new OpenAI({ baseURL: `${url}/v1`, apiKey: 'client-key', maxRetries: 0, fetch });
  }

  asked() {
    const { system, choice, parallel, format, limit, think } = this.ask;
    // Without a store behind the gateway, a client keeps its own history.
    const asked = { model: this.model, input: this.items, store: false };
    const tools = this.tools.map(({ name, description, schema }) => ({ name, description, parameters: schema, strict: true }));
    if (system) asked.instructions = system;
    if (tools.length > 0) asked.tools = tools.map((tool) => ({ type: 'function', ...tool }));
    if (choice) asked.tool_choice = this.choice(choice);
    if (parallel !== undefined) asked.parallel_tool_calls = parallel;
    if (format) asked.text = { format: { ...FORMAT, schema: format } };
    if (limit) asked.max_output_tokens = limit;
    if (think) {
      asked.reasoning = { effort: 'low', summary: 'auto' };
      asked.include = ['reasoning.encrypted_content'];
    }
    return asked;
  }

  choice(choice) {
    if (typeof choice === 'string') return choice === 'any' ? 'required' : choice;
    const named = (name) => ({ type: 'function', name });
    return choice.name ? named(choice.name) : { type: 'allowed_tools', mode: 'auto', tools: choice.allowed.map(named) };
  }

  create(more) {
    return this.client.responses.create({ ...this.asked(), ...more });
  }

  helper() {
    return this.client.responses.stream(this.asked());
  }

  isText(event) {
    return event.type === 'response.output_text.delta';
  }

  async step() {
    const { output, usage, status } = await this.whole();
    this.items.push(...output);
    const calls = output.filter(({ type }) => type === 'function_call');
    const texts = output.filter(({ type }) => type === 'message').flatMap(({ content }) => content.map(({ text }) => text));
    const reasoning = output.filter(({ type }) => type === 'reasoning').flatMap((item) => [...item.summary, ...(item.content ?? [])]);
    const step = {
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
    return { step, calls };
  }

  async whole() {
    if (this.mode === 'unary') return this.create();
    if (this.mode === 'helper') return this.helper().finalResponse();
    let last;
    for await (last of await this.create({ stream: true }));
    return last.response;
  }

  answer(calls) {
    for (const { name, call_id } of calls) {
      const { text, image } = this.results[name];
      const picture = { type: 'input_image', image_url: dataUrl(image), detail: 'auto' };
      const output = image ? [{ type: 'input_text', text }, picture] : text;
      this.items.push({ type: 'function_call_output', call_id, output });
    }
  }
}
