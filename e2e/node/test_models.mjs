// The list of models through both SDKs for Node: what an upstream lists for a pattern, page by page.
//
// Prints a line for each failure and, last, how many cases passed.

import { strict as assert } from 'node:assert';
import http from 'node:http';

import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';

import { runCases, startGateway } from './gateway.mjs';

const NAMES = Array.from({ length: 45 }, (_, number) => `vendor/m-${number}`);

const upstream = http.createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ object: 'list', data: NAMES.map((id) => ({ id, object: 'model', created: 1_700_000_000 })) }));
});
const config = (url) => `[[upstream]]\nname = "vendor"\nprotocol = "chat"\nbase_url = "${url}"\nmodels = ["vendor/*"]\n`;
const gateway = await startGateway(upstream, config);
const openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: 'client-key', maxRetries: 0 });
const anthropic = new Anthropic({ baseURL: gateway.url, apiKey: 'client-key', maxRetries: 0 });

const cases = {
  'one page of OpenAI': async () => assert.deepEqual(await ids(openai.models.list()), NAMES),
  'pages of Anthropic': async () => {
    assert.deepEqual(await ids(anthropic.models.list()), NAMES);
    assert.deepEqual(await ids(anthropic.models.list({ limit: 4 })), NAMES);
    assert.deepEqual((await ids(anthropic.models.list({ before_id: 'vendor/m-30', limit: 7 }))).length, 30);
  },
  'one model': async () => {
    assert.equal((await openai.models.retrieve('vendor/m-3')).id, 'vendor/m-3');
    assert.equal((await anthropic.models.retrieve('vendor/m-3')).id, 'vendor/m-3');
  },
  'no such model': async () => {
    await assert.rejects(openai.models.retrieve('vendor/m-99'), OpenAI.NotFoundError);
    await assert.rejects(anthropic.models.retrieve('vendor/m-99'), Anthropic.NotFoundError);
  },
};
await runCases(cases, gateway);

async function ids(page) {
  const all = [];
  for await (const model of page) all.push(model.id);
  return all;
}
