// A gateway in front of an upstream of a test, and the cases that are run through it.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';

export const ROOT = new URL('../../', import.meta.url).pathname;
const BINARY = process.env.TOOLWIRE_BIN ?? `${ROOT}target/debug/toolwire`;

const started = Date.now();

// Starts the upstream, and a gateway with `config` and further `files` in a folder of its own.
export async function startGateway(upstream, config, files = {}) {
  await new Promise((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const folder = mkdtempSync(`${tmpdir()}/toolwire-node-`);
  files['toolwire.toml'] = config(`http://127.0.0.1:${upstream.address().port}`);
  for (const [name, content] of Object.entries(files)) writeFileSync(`${folder}/${name}`, content);
  const arguments_ = ['serve', '--config', `${folder}/toolwire.toml`, '--listen', '127.0.0.1:0'];
  const env = { ...process.env, XDG_STATE_HOME: folder };
  const gateway = spawn(BINARY, arguments_, { stdio: ['ignore', 'pipe', 'ignore'], env });
  const [first] = await new Promise((resolve) => createInterface(gateway.stdout).once('line', (line) => resolve([line])));
  const [url] = first.match(/http:\/\/\S+/);
  const stop = () => {
    gateway.kill();
    upstream.close();
    rmSync(folder, { recursive: true });
  };
  return { url, folder, stop };
}

// Runs the cases one after the other, stops the gateway, and exits with what came of them.
export async function runCases(cases, { stop }) {
  let [passed, failed] = [0, 0];
  for (const [name, check] of Object.entries(cases)) {
    await check().then(
      () => (passed += 1),
      (error) => console.log(`FAILED ${name}: ${error.message}`, (failed += 1)),
    );
  }
  stop();
  console.log(`${passed} passed, ${failed} failed in ${((Date.now() - started) / 1000).toFixed(2)}s`);
  process.exit(failed > 0 || passed === 0 ? 1 : 0);
}
