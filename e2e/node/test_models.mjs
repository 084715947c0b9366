// The list of models through both SDKs for Node: what an upstream lists for a pattern, page by page.
//
// Prints a line for each failure and, last, how many cases passed.

import { strict as assert } from 'node:assert';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';

import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';

const ROOT = new URL('../../', import.meta.url).pathname;
const BINARY = process.env.TOOLWIRE_BIN ?? `${ROOT}target/debug/toolwire`;
const NAMES = Array.from({ length: 45 }, (_, number) => `vendor/m-${number}`);

const started = Date.now();
const upstream = http.createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ object: 'list', data: NAMES.map((id) => ({ id, object: 'model', created: 1_700_000_000 })) }));
});
await new Promise((resolve) => upstream.listen(0, '127.0.0.1', resolve));
const folder = mkdtempSync(`${tmpdir()}/toolwire-models-`);
writeFileSync(
  `${folder}/toolwire.toml`,
  `[[upstream]]\nname = "vendor"\nprotocol = "chat"\nbase_url = "http://127.0.0.1:${upstream.address().port}"\nmodels = ["vendor/*"]\n`,
);
const environment = { ...process.env, XDG_STATE_HOME: folder };
const arguments_ = ['serve', '--config', `${folder}/toolwire.toml`, '--listen', '127.0.0.1:0'];
const gateway = spawn(BINARY, arguments_, { stdio: ['ignore', 'pipe', 'ignore'], env: environment });
const [first] = await new Promise((resolve) => createInterface(gateway.stdout).once('line', (line) => resolve([line])));
const [url] = first.match(/http:\/\/\S+/);
const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'client-key', maxRetries: 0 });
const anthropic = new Anthropic({ baseURL: url, apiKey: 'client-key', maxRetries: 0 });

const CASES = {
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
let [passed, failed] = [0, 0];
for (const [name, check] of Object.entries(CASES)) {
  await check().then(
    () => (passed += 1),
    (error) => console.log(`FAILED ${name}: ${error.message}`, (failed += 1)),
  );
}
gateway.kill();
upstream.close();
rmSync(folder, { recursive: true });
console.log(`${passed} passed, ${failed} failed in ${((Date.now() - started) / 1000).toFixed(2)}s`);
process.exit(failed > 0 || passed === 0 ? 1 : 0);

async function ids(page) {
  const all = [];
  for await (const model of page) all.push(model.id);
  return all;
}
