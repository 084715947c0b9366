// The TypeScript half of ../clients/test_clients.py: its clients run the same scenarios.
//
// Prints a line for each failure and, last, how many cases passed. Arguments select the cases: each
// names a client, a scenario, a protocol of the upstream, a mode, or a dialect of calls in text.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

import { Messages } from './clients/anthropic.mjs';
import { Chat, Responses } from './clients/openai.mjs';
import { VercelAi } from './clients/vercel_ai.mjs';

const ROOT = new URL('../../', import.meta.url).pathname;
const PYTHON = `${ROOT}.e2e/venv/bin/python`;
const CONCURRENCY = 8;

const CONVERSATIONS = {
  'openai-node chat': Chat,
  'openai-node responses': Responses,
  'anthropic-node': Messages,
  'ai openai chat': VercelAi,
  'ai openai responses': VercelAi,
  'ai anthropic': VercelAi,
  'ai openai-compatible': VercelAi,
};

const started = Date.now();
const SERVER = ['-m', 'e2e.clients.case_server', 'typescript'];
const server = spawn(PYTHON, SERVER, { cwd: ROOT, stdio: ['pipe', 'pipe', 'inherit'] });
const [first] = await new Promise((resolve) => createInterface(server.stdout).once('line', (line) => resolve([line])));
const table = JSON.parse(first);
const selected = process.argv.slice(2);
const waiting = table.cases
  .map((testCase, number) => ({ ...testCase, number }))
  .filter(({ client, scenario, upstream_protocol: upstream, mode, dialect }) =>
    selected.every((name) => [client, scenario, upstream, mode, dialect].includes(name)),
  );
let [passed, failed] = [0, 0];
await Promise.all(Array.from({ length: CONCURRENCY }, work));
server.stdin.end();
console.log(`${passed} passed, ${failed} failed in ${((Date.now() - started) / 1000).toFixed(2)}s`);
// Idle connections would keep the process alive for some seconds.
process.exit(failed > 0 || passed === 0 ? 1 : 0);

async function work() {
  for (let testCase = waiting.shift(); testCase; testCase = waiting.shift()) {
    const wrong = await check(testCase).catch((error) => [error.stack]);
    for (const problem of wrong) {
      const { client, scenario, upstream_protocol: upstream, mode, dialect } = testCase;
      console.log(`FAILED ${client}, ${dialect ?? ''} ${upstream} upstream, ${scenario}, ${mode}: ${problem}`);
    }
    if (wrong.length === 0) passed += 1;
    else failed += 1;
  }
}

// Runs a case, and returns the problems that ../clients/verification.py finds.
async function check(testCase) {
  const recording = { answers: [], loss_headers: [], recovered: [], error: null };
  try {
    await new CONVERSATIONS[testCase.client](table, testCase, recording).run();
  } catch (error) {
    recording.error = recordedError(error);
  }
  const body = JSON.stringify({ case: testCase.number, recording });
  const headers = { 'content-type': 'application/json' };
  return (await fetch(`${table.control}/verify`, { method: 'POST', headers, body })).json();
}

// What the client threw, in the format of ../clients/recording.py.
function recordedError(error) {
  const classes = [error.name];
  for (let kind = error.constructor; kind?.name; kind = Object.getPrototypeOf(kind)) classes.push(kind.name);
  const header = error.headers?.get?.('retry-after') ?? error.responseHeaders?.['retry-after'] ?? null;
  return {
    classes,
    status: error.status ?? error.statusCode ?? null,
    code: error.code ?? error.data?.error?.code ?? null,
    message: String(error.message),
    retry_after: header,
  };
}
