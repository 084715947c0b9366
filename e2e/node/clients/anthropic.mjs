// `@anthropic-ai/sdk`.

import Anthropic from '@anthropic-ai/sdk';

import { Conversation } from './conversation.mjs';

const STOPS = { end_turn: 'end', tool_use: 'calls', max_tokens: 'length' };

export class Messages extends Conversation {
  connect(url, fetch) {
    const { user, image } = this.ask;
    this.messages = [{ role: 'user', content: image ? [{ type: 'text', text: user }, imageBlock(image)] : user }];
    return new Anthropic({ baseURL: url, apiKey: 'client-key', maxRetries: 0, fetch });
  }

  parameters() {
    const { system, choice, parallel, format, limit, think } = this.ask;
    const parameters = { model: this.model, messages: this.messages, max_tokens: limit ?? 4096 };
    if (system) parameters.system = system;
    if (this.tools.length > 0) {
      parameters.tools = this.tools.map(({ name, description, schema }) => ({ name, description, input_schema: schema }));
    }
    if (choice) parameters.tool_choice = typeof choice === 'string' ? { type: choice } : { type: 'tool', ...choice };
    if (parallel !== undefined) parameters.tool_choice = { type: 'auto', disable_parallel_tool_use: !parallel };
    if (format) parameters.output_config = { format: { type: 'json_schema', schema: format } };
    if (think) parameters.thinking = { type: 'enabled', budget_tokens: 2048 };
    return parameters;
  }

  create(more) {
    return this.client.messages.create({ ...this.parameters(), ...more });
  }

  helper() {
    return this.client.messages.stream(this.parameters());
  }

  isText(event) {
    return event.type === 'content_block_delta' && event.delta.type === 'text_delta';
  }

  async nextAnswer() {
    const { content, usage, stop_reason: stop } = await this.finalAnswer();
    this.messages.push({ role: 'assistant', content });
    const of = (kind) => content.filter(({ type }) => type === kind);
    const [cached, written] = [usage.cache_read_input_tokens ?? 0, usage.cache_creation_input_tokens ?? 0];
    const calls = of('tool_use');
    const answer = {
      text: of('text').map(({ text }) => text).join(''),
      calls: calls.map(({ name, input }) => [name, input]),
      reasoning: of('thinking').map(({ thinking }) => thinking).join(''),
      usage: {
        input: usage.input_tokens + cached + written,
        cached,
        output: usage.output_tokens,
        reasoning: usage.output_tokens_details?.thinking_tokens ?? 0,
      },
      stop: STOPS[stop],
    };
    return { answer, calls };
  }

  async finalAnswer() {
    if (this.mode === 'unary') return this.create();
    if (this.mode === 'helper') return this.helper().finalMessage();
    return joinEvents(await this.create({ stream: true }));
  }

  addResults(calls) {
    const results = calls.map(({ id, name }) => {
      const { text, image, error } = this.results[name];
      const content = image ? [{ type: 'text', text }, imageBlock(image)] : text;
      return { type: 'tool_result', tool_use_id: id, content, ...(error ? { is_error: true } : {}) };
    });
    this.messages.push({ role: 'user', content: results });
  }
}

// A message assembled from its events, without the helper.
async function joinEvents(events) {
  let message;
  const inputs = {};
  for await (const { type, index, delta, content_block: block, usage, message: started } of events) {
    if (type === 'message_start') message = started;
    if (type === 'content_block_start') message.content.push(block);
    if (type === 'content_block_delta') {
      const key = delta.type.replace(/_delta$/, '');
      if (key === 'input_json') inputs[index] = (inputs[index] ?? '') + delta.partial_json;
      else message.content[index][key] = (message.content[index][key] ?? '') + delta[key];
    }
    if (type === 'content_block_stop' && inputs[index]) message.content[index].input = JSON.parse(inputs[index]);
    if (type === 'message_delta') {
      Object.assign(message, delta);
      Object.assign(message.usage, usage);
    }
  }
  return message;
}

const imageBlock = (data) => ({ type: 'image', source: { type: 'base64', media_type: 'image/png', data } });
