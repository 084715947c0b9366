// The TypeScript half of ../streams/test_streams.py: the same vectors, the same truth, the same excuses.
//
// Prints a line for each failure and, last, how many vectors passed.

import { execFile } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';

import { replay } from './streams/replay_server.mjs';
import { FAILURES, Sdks, document, joined, outputs, saidIn } from './streams/sdk_recorder.mjs';

const ROOT = new URL('../../', import.meta.url);
const BINARY = process.env.TOOLWIRE_BIN ?? new URL('target/debug/toolwire', ROOT).pathname;
const PROTOCOLS = ['chat', 'responses', 'messages'];
const PIECE = 61;
const AT_A_TIME = 8;

const EXCUSED = JSON.parse(readFileSync(new URL('../streams/known_differences.json', import.meta.url)));

// The excuses of one kind that a vector has, toward one client or at all.
function excuses(kind, vector, to) {
  const meant = (excuse) => excuse.vector === vector && excuse.to === to && excuse.sdks.includes('typescript');
  return EXCUSED[kind].filter(meant);
}

const server = await replay();
const sdks = new Sdks(server);
const started = Date.now();
const vectors = readdirSync(new URL('vectors/streams/', ROOT)).sort();
const only = process.argv.slice(2);
const waiting = vectors.filter((name) => only.length === 0 || only.some((part) => name.includes(part)));
let [passed, failed] = [0, 0];
await Promise.all(Array.from({ length: AT_A_TIME }, work));
server.close();
console.log(`${passed} passed, ${failed} failed in ${((Date.now() - started) / 1000).toFixed(2)}s`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;

async function work() {
  for (let vector = waiting.shift(); vector; vector = waiting.shift()) {
    const wrong = await check(vector).catch((error) => [error.stack]);
    for (const problem of wrong) console.log(`FAILED ${vector}: ${problem}`);
    if (wrong.length === 0) passed += 1;
    else failed += 1;
  }
}

// What is wrong with the streams of one vector.
async function check(vector) {
  const folder = new URL(`vectors/streams/${vector}/`, ROOT);
  const source = PROTOCOLS.find((protocol) => existsSync(new URL(`in.${protocol}.sse`, folder)));
  const came = readFileSync(new URL(`in.${source}.sse`, folder));
  const upstream = await sdks.helped(source, came, PIECE);
  const misread = excuses('misread', vector).length > 0;
  const wrong = [];
  const said = [];
  for (const to of PROTOCOLS) {
    const [well, written] = await run(folder, source, to, 'stream', came);
    if (to === source && written.equals(came)) continue;
    const iterated = await sdks.iterated(to, written, /unicode|parallel/.test(vector) ? 1 : PIECE);
    const heard = { iterated, helped: await sdks.helped(to, written, PIECE) };
    const vectorTo = { vector, folder, source, to, upstream, misread };
    const problems = to === source ? forwarded(to, upstream, well, heard) : await translated(vectorTo, well, written, heard);
    wrong.push(...problems.map((problem) => `${source} to ${to}: ${problem}`));
    if (misread && to !== source && heard.helped.answer) said.push(saidIn(document(to, heard.helped)));
  }
  if (misread && !isDeepStrictEqual(said[0], said[1])) wrong.push('one client hears something else than the other');
  return wrong;
}

// What is wrong with a stream for a client of another protocol.
async function translated({ vector, folder, source, to, upstream, misread }, well, written, { iterated, helped }) {
  const wrong = [...unheard(written, iterated)];
  if (!well) {
    const content = !upstream.error && ended(upstream.answer);
    if (content !== excuses('content', vector).length > 0) {
      wrong.push("ends in an error, but the upstream's own SDK is content, or has an excuse and is not");
    }
    return [...wrong, ...unthrown(to, iterated, helped)];
  }
  const error = iterated.error ?? (excuses('unhelped', vector, to).length > 0 ? undefined : helped.error);
  if (error) return [...wrong, `ends well, but the SDK threw ${firstLine(error)}`];
  if (to === 'responses') {
    const [before, last] = outputs(iterated.events);
    wrong.push(...compared(before, last).map(([at]) => `the last event differs at /output${at} from those before it`));
  }
  if (upstream.error) {
    return misread ? wrong : [...wrong, `ends well, but the upstream's own SDK threw ${firstLine(upstream.error)}`];
  }
  const [, truth] = await run(folder, source, to, 'response', document(source, upstream));
  if (helped.error) return [...wrong, ...compared(saidIn(truth), saidIn(joined(iterated.events))).map(told)];
  const differences = [...unlike(folder, vector, to, truth, document(to, helped))];
  if (!misread) return [...wrong, ...differences];
  const needless = "is as the upstream's own SDK reads it, so that needs no excuse";
  return differences.length > 0 ? wrong : [...wrong, needless];
}

// What is wrong with a stream for a client of the same protocol, which is the upstream's bytes.
function forwarded(protocol, upstream, well, { iterated, helped }) {
  if (!well) return unthrown(protocol, iterated, helped);
  const same = upstream.error
    ? firstLine(helped.error) === firstLine(upstream.error)
    : helped.answer && document(protocol, helped) === document(protocol, upstream);
  return same ? [] : ['the SDK hears another answer than from the upstream'];
}

// Whether the SDK takes the upstream's answer for one that ended. Its Chat helper throws if not.
function ended({ choices, status, stop_reason: reason }) {
  return Boolean(choices ?? reason ?? ['completed', 'incomplete'].includes(status));
}

function unthrown(to, ...heard) {
  const others = heard.filter(({ error }) => !(error instanceof FAILURES[to]));
  return others.map(({ error }) => `ends in an error, but the SDK threw ${error}`);
}

// Translates for the client whose request stands beside the vector, if one does.
function run(folder, from, to, kind, input) {
  const asked = new URL(`request.${to}.json`, folder);
  const line = ['translate', '--from', from, '--to', to, '--kind', kind];
  if (existsSync(asked)) line.push('--request', asked.pathname);
  return new Promise((resolve) => {
    const options = { encoding: 'buffer', maxBuffer: 1 << 26 };
    const child = execFile(BINARY, line, options, (error, out) => resolve([!error, out]));
    child.stdin.end(input);
  });
}

// What of the stream the SDK did not give its user.
function* unheard(written, iterated) {
  let frames = written
    .toString()
    .split('\n')
    .filter((line) => line.startsWith('data: ') && line !== 'data: [DONE]')
    .map((line) => JSON.parse(line.slice('data: '.length)));
  const failure = frames.findIndex((data) => 'error' in data);
  if (iterated.error && failure >= 0) frames = frames.slice(0, failure);
  frames = frames.filter(({ type }) => type !== 'ping');
  if (!isDeepStrictEqual(iterated.events, frames)) {
    yield `the SDK gave ${iterated.events.length} events of ${frames.length}, or gave others`;
  }
}

// Where the answer differs from the truth and has no excuse, or has one and does not differ.
function* unlike(folder, vector, to, truth, answer) {
  const known = excuses('differs', vector, to);
  const left = new Set(known);
  for (const difference of compared(usual(folder, to, truth), usual(folder, to, answer))) {
    const excuse = known.find(({ at }) => at === difference[0]);
    left.delete(excuse);
    if (!excuse || !isDeepStrictEqual(excuse.client, difference[2])) yield told(difference);
  }
  for (const { at } of left) yield `${at} is excused and does not differ`;
}

function firstLine(error) {
  return String(error).split('\n')[0];
}

function told([at, whole, stream]) {
  const short = (value) => (JSON.stringify(value) ?? 'nothing').slice(0, 400);
  return `${at || '/'} is ${short(whole)} as a whole and ${short(stream)} as a stream`;
}

// The answer without what may differ between a whole answer and a stream: see ../streams/test_streams.py.
function usual(folder, to, text) {
  // Numbers are compared as they are written.
  const tokens = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
  // SDKs write a whole number without its ".0".
  const quoted = (token) => (token.startsWith('"') ? token : `"${token.replace(/\.0+$/, '')}"`);
  const exact = text.toString().replace(tokens, quoted);
  const answer = JSON.parse(exact, (key, value) =>
    value === null || ['created', 'created_at', 'completed_at'].includes(key) ? undefined : value,
  );
  if (to === 'chat' && !asksForUsage(folder)) delete answer.usage;
  // The first chunk says "" where a whole answer says nothing.
  for (const { message } of answer.choices ?? []) message.content ??= '';
  if (to === 'messages') delete answer.usage.service_tier;
  for (const item of answer.output ?? []) delete item.id;
  return answer;
}

function asksForUsage(folder) {
  const asked = new URL('request.chat.json', folder);
  return existsSync(asked) && JSON.parse(readFileSync(asked)).stream_options?.include_usage === true;
}

// Where two values differ: the place, and what stands there in each.
function compared(one, other, at = '') {
  const objects = Object(one) === one && Object(other) === other;
  const lists = Array.isArray(one) && Array.isArray(other);
  if (objects && (lists ? one.length === other.length : !Array.isArray(one) && !Array.isArray(other))) {
    const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
    return [...keys].flatMap((key) => compared(one[key], other[key], `${at}/${key}`));
  }
  return isDeepStrictEqual(one, other) ? [] : [[at, one, other]];
}
