// What the tests share: how cases are run and counted, and the case server of ../clients.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export const ROOT = new URL('../../', import.meta.url).pathname;
export const BINARY = process.env.TOOLWIRE_BIN ?? `${ROOT}target/debug/toolwire`;
const PYTHON = `${ROOT}.e2e/venv/bin/python`;
const CONCURRENCY = 8;

const started = Date.now();

// Runs the cases, several at a time. `check` returns the problems of a case, and `describe` names it.
export async function runConcurrently(cases, check, describe) {
  const waiting = [...cases];
  let [passed, failed] = [0, 0];
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const problems = await check(next).catch((error) => [error.stack]);
      for (const problem of problems) console.log(`FAILED ${describe(next)}: ${problem}`);
      if (problems.length === 0) passed += 1;
      else failed += 1;
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return { passed, failed };
}

// Runs the cases one after the other: functions by their names.
export async function runInOrder(cases) {
  let [passed, failed] = [0, 0];
  for (const [name, check] of Object.entries(cases)) {
    await check().then(
      () => (passed += 1),
      (error) => console.log(`FAILED ${name}: ${error.stack}`, (failed += 1)),
    );
  }
  return { passed, failed };
}

// Prints how many cases passed, and exits. Idle connections would keep the process alive for some seconds.
export function exitWith({ passed, failed }) {
  console.log(`${passed} passed, ${failed} failed in ${((Date.now() - started) / 1000).toFixed(2)}s`);
  process.exit(failed > 0 || passed === 0 ? 1 : 0);
}

// The first line that a program prints.
export function firstLine({ stdout }) {
  return new Promise((resolve) => createInterface(stdout).once('line', resolve));
}

// Starts ../clients/case_server.py, and reads the table of its cases.
export async function startCaseServer() {
  const command = ['-m', 'e2e.clients.case_server', 'typescript'];
  const server = spawn(PYTHON, command, { cwd: ROOT, stdio: ['pipe', 'pipe', 'inherit'] });
  return { table: JSON.parse(await firstLine(server)), stop: () => server.stdin.end() };
}
