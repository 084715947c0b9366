// Uploads and binary answers of the OpenAI SDK for Node through the gateway, which passes them on while they arrive:
// forms without a length, with the file before or after the model.
//
// Prints a line for each failure and, last, how many cases passed.

import { strict as assert } from 'node:assert';
import { createReadStream } from 'node:fs';
import http from 'node:http';

import OpenAI from 'openai';

import { runCases, startGateway } from './gateway.mjs';

const SOUND = Buffer.alloc(3_000_000, Uint8Array.from({ length: 256 }, (_, byte) => byte));

const received = [];
const upstream = http.createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk)).on('end', () => {
    received.push({ url: request.url, headers: request.headers, body: Buffer.concat(chunks) });
    if (request.url === '/v1/audio/speech') return response.end(SOUND);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ text: 'Hello.', id: 'file-1', object: 'file' }));
  });
});
const config = (url) =>
  `[[upstream]]\nname = "vendor"\nprotocol = "chat"\nbase_url = "${url}"\n` +
  `key = { file = "key" }\nmodels = ["whisper*", "tts"]\n\n[alias]\nfast = "whisper-small"\n\n[store]\nengine = "off"\n`;
const files = { 'sound.mp3': SOUND, key: 'upstream-key-0123456789' };
const gateway = await startGateway(upstream, config, files);
const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: 'client-key', maxRetries: 0 });

const sound = () => createReadStream(`${gateway.folder}/sound.mp3`);
const cases = {
  'the model before the file, by an alias': async () => {
    const { text } = await client.audio.transcriptions.create({ model: 'fast', file: sound() });
    checkForm('/v1/audio/transcriptions', 'whisper-small');
    assert.equal(text, 'Hello.');
  },
  'the file before the model': async () => {
    const { text } = await client.audio.transcriptions.create({ file: sound(), model: 'whisper-1' });
    checkForm('/v1/audio/transcriptions', 'whisper-1');
    assert.equal(text, 'Hello.');
  },
  'a file without a model': async () => {
    const { id } = await client.files.create({ file: sound(), purpose: 'batch' });
    checkForm('/v1/files');
    assert.equal(id, 'file-1');
  },
  'a binary answer': async () => {
    const speech = await client.audio.speech.create({ model: 'tts', voice: 'alloy', input: 'Hi.' });
    assert.ok(Buffer.from(await speech.arrayBuffer()).equals(SOUND));
  },
};
await runCases(cases, gateway);

function checkForm(path, model) {
  const { url: asked, headers, body } = received.at(-1);
  assert.equal(asked, path);
  assert.equal(headers.authorization, 'Bearer upstream-key-0123456789');
  assert.ok(body.includes(SOUND), 'the file is not what was sent');
  if (model) assert.ok(body.includes(`name="model"\r\n\r\n${model}\r\n`), 'the model is another one');
}
