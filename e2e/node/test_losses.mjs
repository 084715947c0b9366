// The trailer `toolwire-loss` of a stream, as the HTTP clients of Node see it, over HTTP/1.1 and HTTP/2:
// it says what the comment in the stream says, and there is none if nothing was lost or nobody asked.
//
// Prints a line for each failure and, last, how many cases passed.

import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';

import { runCases, startGateway } from './gateway.mjs';
import { ROOT } from './harness.mjs';

const VECTORS = { chat: 'chat-annotations', responses: 'responses-file-citations', messages: 'messages-web-search' };
const PROTOCOLS = Object.keys(VECTORS);
const REQUESTS = {
  chat: ['/v1/chat/completions', { messages: [{ role: 'user', content: 'Go on.' }] }],
  responses: ['/v1/responses', { input: 'Go on.' }],
  messages: ['/v1/messages', { max_tokens: 1, messages: [{ role: 'user', content: 'Go on.' }] }],
};

const upstream = http.createServer((request, response) => {
  const protocol = PROTOCOLS.find((name) => request.url === REQUESTS[name][0]);
  // The gateway also asks for the list of models.
  if (!protocol) return response.writeHead(404).end();
  const stream = readFileSync(`${ROOT}vectors/streams/${VECTORS[protocol]}/in.${protocol}.sse`);
  request.resume().on('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(stream);
  });
});
const config = (url) => PROTOCOLS.map((protocol) => upstreamConfig(protocol, url)).join('');
const gateway = await startGateway(upstream, config);

const cases = {};
for (const post of [overHttp1, overHttp2]) {
  for (const from of PROTOCOLS) {
    for (const to of PROTOCOLS) {
      for (const takesTrailers of [true, false]) {
        const name = `${post.name}, ${from} to ${to}, ${takesTrailers ? 'with' : 'without'} trailers`;
        cases[name] = () => check(post, from, to, takesTrailers);
      }
    }
  }
}
await runCases(cases, gateway);

async function check(post, from, to, takesTrailers) {
  const [path, request] = REQUESTS[to];
  const headers = { 'content-type': 'application/json', ...(takesTrailers && { te: 'trailers' }) };
  const body = JSON.stringify({ ...request, model: `${from}/m`, stream: true });
  const { text, announced, trailers } = await post(path, headers, body);
  const comments = text.split('\n').filter((line) => line.startsWith(':'));
  assert.equal(comments.length, from === to ? 0 : 1, text);
  assert.equal(announced, takesTrailers ? 'toolwire-loss' : undefined);
  const expected = takesTrailers ? comments[0]?.replace(/^: toolwire-loss /, '') : undefined;
  assert.equal(trailers['toolwire-loss'], expected);
}

function overHttp1(path, headers, body) {
  return new Promise((resolve, reject) => {
    const request = http.request(gateway.url + path, { method: 'POST', headers }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk)).on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ text, announced: response.headers.trailer, trailers: response.trailers });
      });
    });
    request.on('error', reject).end(body);
  });
}

function overHttp2(path, headers, body) {
  return new Promise((resolve, reject) => {
    const session = http2.connect(gateway.url).on('error', reject);
    const stream = session.request({ ':method': 'POST', ':path': path, ...headers });
    const [chunks, seen] = [[], { trailers: {} }];
    stream.on('response', (head) => (seen.announced = head.trailer));
    stream.on('trailers', (trailers) => (seen.trailers = trailers));
    stream.on('data', (chunk) => chunks.push(chunk)).on('error', reject);
    stream.on('end', () => {
      session.close();
      resolve({ text: Buffer.concat(chunks).toString(), ...seen });
    });
    stream.end(body);
  });
}

function upstreamConfig(protocol, url) {
  return `[[upstream]]\nname = "${protocol}"\nprotocol = "${protocol}"\nbase_url = "${url}"\nmodels = ["${protocol}-*"]\n`;
}
