// The clients in TypeScript, put through the scenarios of ../clients/scenarios.py: see ../clients/test_clients.py.
//
// Prints a line for each failure and, last, how many jobs passed. Arguments choose the jobs whose
// client, scenario, upstream or mode has them.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

import { Vercel } from './clients/vercel_ai.mjs';
import { Messages } from './clients/anthropic.mjs';
import { Chat, Responses } from './clients/openai.mjs';

const ROOT = new URL('../../', import.meta.url).pathname;
const PYTHON = `${ROOT}.e2e/venv/bin/python`;
const AT_A_TIME = 8;

const TALKS = {
  'openai-node chat': Chat,
  'openai-node responses': Responses,
  'anthropic-node': Messages,
  'ai openai chat': Vercel,
  'ai openai responses': Vercel,
  'ai anthropic': Vercel,
  'ai openai-compatible': Vercel,
};

const started = Date.now();
const stage = spawn(PYTHON, ['-m', 'e2e.clients.case_server', 'typescript'], { cwd: ROOT, stdio: ['pipe', 'pipe', 'inherit'] });
const [first] = await new Promise((resolve) => createInterface(stage.stdout).once('line', (line) => resolve([line])));
const table = JSON.parse(first);
const only = process.argv.slice(2);
const waiting = table.jobs
  .map((job, number) => ({ ...job, number }))
  .filter((job) => only.every((part) => [job.client, job.scenario, job.behind, job.mode].includes(part)));
let [passed, failed] = [0, 0];
await Promise.all(Array.from({ length: AT_A_TIME }, work));
stage.stdin.end();
console.log(`${passed} passed, ${failed} failed in ${((Date.now() - started) / 1000).toFixed(2)}s`);
// Kept connections would hold the process open for some seconds.
process.exit(failed > 0 || passed === 0 ? 1 : 0);

async function work() {
  for (let job = waiting.shift(); job; job = waiting.shift()) {
    const wrong = await check(job).catch((error) => [error.stack]);
    for (const problem of wrong) {
      console.log(`FAILED ${job.client}, ${job.behind} behind, ${job.scenario}, ${job.mode}: ${problem}`);
    }
    if (wrong.length === 0) passed += 1;
    else failed += 1;
  }
}

// What is wrong with what a client heard.
async function check(job) {
  const heard = { steps: [], loss: [], error: null };
  try {
    await new TALKS[job.client](table, job, heard).run();
  } catch (error) {
    heard.error = caught(error);
  }
  const body = JSON.stringify({ job: job.number, heard });
  const headers = { 'content-type': 'application/json' };
  return (await fetch(`${table.control}/judge`, { method: 'POST', headers, body })).json();
}

// What the client threw, as ../clients/recording.py writes it down.
function caught(error) {
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
