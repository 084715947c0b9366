// The TypeScript half of ../clients/test_sessions.py: the vendors' SDKs send only the new message or only the results
// of their tools, and a session may change its client in the middle.
//
// Prints a line for each failure and, last, how many cases passed.

import { strict as assert } from 'node:assert';

import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';

import { exitWith, runInOrder, startCaseServer } from './harness.mjs';

const CITIES = ['Paris', 'Oslo', 'Rome', 'Bern'];
const SCHEMA = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

class ChatClient {
  constructor(url, session) {
    const defaultHeaders = { 'toolwire-session': session };
    this.sdk = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'client-key', maxRetries: 0, defaultHeaders });
  }

  async ask(streamed, model, messages) {
    const tools = [{ type: 'function', function: { name: 'weather', parameters: SCHEMA } }];
    const completions = this.sdk.chat.completions;
    const answer = streamed
      ? await completions.stream({ model, messages, tools }).finalChatCompletion()
      : await completions.create({ model, messages, tools });
    const { content, tool_calls: calls } = answer.choices[0].message;
    return [content, (calls ?? []).map((call) => [call.id, JSON.parse(call.function.arguments)])];
  }

  results(calls) {
    return calls.map(([id, { city }]) => ({ role: 'tool', tool_call_id: id, content: `Sunny in ${city}.` }));
  }
}

class MessagesClient {
  constructor(url, session) {
    this.session = session;
    this.sdk = new Anthropic({ baseURL: url, apiKey: 'client-key', maxRetries: 0 });
  }

  async ask(streamed, model, messages) {
    const tools = [{ name: 'weather', input_schema: SCHEMA }];
    const request = { model, messages, tools, max_tokens: 4096, session_id: this.session };
    const { content } = streamed
      ? await this.sdk.messages.stream(request).finalMessage()
      : await this.sdk.messages.create(request);
    const text = content.filter((block) => block.type === 'text').map((block) => block.text);
    const calls = content.filter((block) => block.type === 'tool_use');
    return [text.join(''), calls.map((call) => [call.id, call.input])];
  }

  results(calls) {
    const block = ([id, { city }]) => ({ type: 'tool_result', tool_use_id: id, content: `Sunny in ${city}.` });
    return [{ role: 'user', content: calls.map(block) }];
  }
}

const CLIENTS = {
  openai: [ChatClient],
  anthropic: [MessagesClient],
  both: [ChatClient, MessagesClient],
  'both-reversed': [MessagesClient, ChatClient],
};

const { table, stop } = await startCaseServer();
const { control } = table;
const gateway = table.cases.find(({ dialect }) => dialect === null).gateway;

const cases = {};
for (const name of Object.keys(CLIENTS)) {
  for (const protocol of ['chat', 'responses', 'messages']) {
    for (const streamed of [false, true]) {
      const described = `${name}, ${protocol} upstream, ${streamed ? 'streamed' : 'whole'}`;
      cases[described] = () => fiveTurns(name, protocol, streamed);
    }
  }
}
const counts = await runInOrder(cases);
stop();
exitWith(counts);

async function fiveTurns(name, protocol, streamed) {
  const model = `node-session-${name}-${protocol}-${streamed}`;
  const reasoning = protocol === 'chat' ? { text: 'Hm.' } : { text: 'Hm.', seal: 'c2VhbA==' };
  const turns = CITIES.map((city) => ({ reasoning, calls: [{ name: 'weather', args: { city } }] }));
  await post(`${control}/script`, { model, turns: [...turns, { text: 'Done.' }] });
  const clients = CLIENTS[name].map((Client) => new Client(gateway, model));
  let messages = [{ role: 'user', content: 'What is the weather in four cities?' }];
  for (const [turn, city] of [...CITIES, null].entries()) {
    const [text, calls] = await clients[turn % clients.length].ask(streamed, `${protocol}/${model}`, messages);
    assert.deepEqual(calls.map(([, input]) => input), city ? [{ city }] : []);
    if (!city) assert.equal(text, 'Done.');
    messages = clients[(turn + 1) % clients.length].results(calls);
  }
  const seen = await (await fetch(`${control}/requests?model=${model}`)).json();
  assert.deepEqual(seen.map(({ rejection }) => rejection), Array(5).fill(null));
  const { stats } = await (await fetch(`${gateway}/v1/sessions/${model}`)).json();
  assert.equal(stats.turns, 5);
  assert.equal(stats.calls.completed, 4);
}

async function post(url, document) {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(document) });
  assert.ok(response.ok, await response.text());
}
