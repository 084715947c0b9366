// The TypeScript half of ../clients/test_clients.py: its clients run the same scenarios.
//
// Prints a line for each failure and, last, how many cases passed. Arguments select the cases: each
// names a client, a scenario, a protocol of the upstream, a mode, or a dialect of calls in text.

import { Messages } from './clients/anthropic.mjs';
import { Chat, Responses } from './clients/openai.mjs';
import { VercelAi } from './clients/vercel_ai.mjs';
import { exitWith, runConcurrently, startCaseServer } from './harness.mjs';

const CONVERSATIONS = {
  'openai-node chat': Chat,
  'openai-node responses': Responses,
  'anthropic-node': Messages,
  'ai openai chat': VercelAi,
  'ai openai responses': VercelAi,
  'ai anthropic': VercelAi,
  'ai openai-compatible': VercelAi,
};

const { table, stop } = await startCaseServer();
const selected = process.argv.slice(2);
const cases = table.cases
  .map((testCase, number) => ({ ...testCase, number }))
  .filter(({ client, scenario, upstream_protocol: upstream, mode, dialect }) =>
    selected.every((name) => [client, scenario, upstream, mode, dialect].includes(name)),
  );
const counts = await runConcurrently(cases, check, describe);
stop();
exitWith(counts);

function describe({ client, scenario, upstream_protocol: upstream, mode, dialect }) {
  return `${client}, ${dialect ?? ''} ${upstream} upstream, ${scenario}, ${mode}`;
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
