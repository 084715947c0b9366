// A gateway in front of an upstream of a test, and the cases that are run through it.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';

import { BINARY, exitWith, firstLine, runInOrder } from './harness.mjs';

// Starts the upstream, and a gateway with `config` and further `files` in a folder of its own.
export async function startGateway(upstream, config, files = {}) {
  await new Promise((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const folder = mkdtempSync(`${tmpdir()}/toolwire-node-`);
  files['toolwire.toml'] = config(`http://127.0.0.1:${upstream.address().port}`);
  for (const [name, content] of Object.entries(files)) writeFileSync(`${folder}/${name}`, content);
  const arguments_ = ['serve', '--config', `${folder}/toolwire.toml`, '--listen', '127.0.0.1:0'];
  const env = { ...process.env, XDG_STATE_HOME: folder };
  const gateway = spawn(BINARY, arguments_, { stdio: ['ignore', 'pipe', 'ignore'], env });
  const [url] = (await firstLine(gateway)).match(/http:\/\/\S+/);
  const stop = () => {
    gateway.kill();
    upstream.close();
    rmSync(folder, { recursive: true });
  };
  return { url, folder, stop };
}

// Runs the cases one after the other, stops the gateway, and exits with what came of them.
export async function runCases(cases, { stop }) {
  const counts = await runInOrder(cases);
  stop();
  exitWith(counts);
}
