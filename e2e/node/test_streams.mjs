// The TypeScript half of ../streams/test_streams.py: same vectors, same checks, same known differences.
//
// Prints a line for each failure and, last, how many vectors passed. Arguments select the vectors
// whose name contains one of them.

import { execFile } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';

import { BINARY, exitWith, runConcurrently } from './harness.mjs';
import { startReplayServer } from './streams/replay_server.mjs';
import { STREAM_ERRORS, SdkRecorder, document, joinChunks, outputs, textAndCalls } from './streams/sdk_recorder.mjs';

const VECTORS = new URL('../../vectors/streams/', import.meta.url);
const PROTOCOLS = ['chat', 'responses', 'messages'];
const CHUNK_SIZE = 61;

const KNOWN = JSON.parse(readFileSync(new URL('../streams/known_differences.json', import.meta.url)));

// The known differences of one kind for a vector, in general or for one client.
function knownDifferences(kind, vector, to) {
  const applies = (entry) => entry.vector === vector && entry.to === to && entry.languages.includes('typescript');
  return KNOWN[kind].filter(applies);
}

const server = await startReplayServer();
const recorder = new SdkRecorder(server);
const vectors = readdirSync(VECTORS).sort();
const selected = process.argv.slice(2);
const chosen = vectors.filter((name) => selected.length === 0 || selected.some((part) => name.includes(part)));
const counts = await runConcurrently(chosen, check, (vector) => vector);
server.close();
exitWith(counts);

// What is wrong with the streams of one vector.
async function check(vector) {
  const folder = new URL(`${vector}/`, VECTORS);
  const source = PROTOCOLS.find((protocol) => existsSync(new URL(`in.${protocol}.sse`, folder)));
  const input = readFileSync(new URL(`in.${source}.sse`, folder));
  const upstream = await recorder.useHelper(source, input, CHUNK_SIZE);
  const misread = knownDifferences('upstream_misread', vector).length > 0;
  const wrong = [];
  const read = [];
  for (const to of PROTOCOLS) {
    const [succeeded, output] = await translate(folder, source, to, 'stream', input);
    if (to === source && output.equals(input)) continue;
    const fromEvents = await recorder.iterate(to, output, /unicode|parallel/.test(vector) ? 1 : CHUNK_SIZE);
    const recordings = { fromEvents, fromHelper: await recorder.useHelper(to, output, CHUNK_SIZE) };
    const vectorTo = { vector, folder, source, to, upstream, misread };
    const problems =
      to === source
        ? passthroughProblems(to, upstream, succeeded, recordings)
        : await translationProblems(vectorTo, succeeded, output, recordings);
    wrong.push(...problems.map((problem) => `${source} to ${to}: ${problem}`));
    const { fromHelper } = recordings;
    if (misread && to !== source && fromHelper.answer) read.push(textAndCalls(document(to, fromHelper)));
  }
  if (misread && !isDeepStrictEqual(read[0], read[1])) wrong.push('one client gets something else than the other');
  return wrong;
}

// What is wrong with a stream that was translated for a client of another protocol.
async function translationProblems(vectorTo, succeeded, output, { fromEvents, fromHelper }) {
  const { vector, folder, source, to, upstream, misread } = vectorTo;
  const wrong = [...eventProblems(output, fromEvents)];
  if (!succeeded) {
    const complete = !upstream.error && looksComplete(upstream.answer);
    if (complete !== knownDifferences('cut_unnoticed', vector).length > 0) {
      wrong.push("ends in an error, but the upstream's own SDK gets a complete answer (or the known difference is gone)");
    }
    return [...wrong, ...missingErrors(to, fromEvents, fromHelper)];
  }
  const error = fromEvents.error ?? (knownDifferences('helper_fails', vector, to).length > 0 ? undefined : fromHelper.error);
  if (error) return [...wrong, `ends without an error, but the SDK threw ${firstLine(error)}`];
  if (to === 'responses') {
    const [before, last] = outputs(fromEvents.events);
    wrong.push(...diff(before, last).map(([at]) => `the last event differs at /output${at} from those before it`));
  }
  if (upstream.error) {
    const problem = `ends without an error, but the upstream's own SDK threw ${firstLine(upstream.error)}`;
    return misread ? wrong : [...wrong, problem];
  }
  const [, expected] = await translate(folder, source, to, 'response', document(source, upstream));
  if (fromHelper.error) {
    const streamed = textAndCalls(joinChunks(fromEvents.events));
    return [...wrong, ...diff(textAndCalls(expected), streamed).map(describe)];
  }
  const differences = [...unexpectedDifferences(folder, vector, to, expected, document(to, fromHelper))];
  if (!misread) return [...wrong, ...differences];
  const needless = "is as the upstream's own SDK reads it, so it is not a known difference";
  return differences.length > 0 ? wrong : [...wrong, needless];
}

// What is wrong with a stream for a client of the same protocol, which gets the upstream's bytes.
function passthroughProblems(protocol, upstream, succeeded, { fromEvents, fromHelper }) {
  if (!succeeded) return missingErrors(protocol, fromEvents, fromHelper);
  const same = upstream.error
    ? firstLine(fromHelper.error) === firstLine(upstream.error)
    : fromHelper.answer && document(protocol, fromHelper) === document(protocol, upstream);
  return same ? [] : ['the SDK gets another answer than from the upstream'];
}

// Whether the upstream's own SDK sees a complete answer. If not, its Chat helper throws.
function looksComplete({ choices, status, stop_reason: reason }) {
  return Boolean(choices ?? reason ?? ['completed', 'incomplete'].includes(status));
}

function missingErrors(to, ...recordings) {
  const others = recordings.filter(({ error }) => !(error instanceof STREAM_ERRORS[to]));
  return others.map(({ error }) => `ends in an error, but the SDK threw ${error}`);
}

// Translates for the client whose request is beside the vector, if there is one.
function translate(folder, from, to, kind, input) {
  const request = new URL(`request.${to}.json`, folder);
  const command = ['translate', '--from', from, '--to', to, '--kind', kind];
  if (existsSync(request)) command.push('--request', request.pathname);
  // A client must not notice the comment that the gateway writes into every stream that loses something.
  if (kind === 'stream') command.push('--loss-comment');
  return new Promise((resolve) => {
    const options = { encoding: 'buffer', maxBuffer: 1 << 26 };
    const child = execFile(BINARY, command, options, (error, out) => resolve([!error, out]));
    child.stdin.end(input);
  });
}

// Events that the SDK did not pass to its user.
function* eventProblems(output, fromEvents) {
  let events = output
    .toString()
    .split('\n')
    .filter((line) => line.startsWith('data: ') && line !== 'data: [DONE]')
    .map((line) => JSON.parse(line.slice('data: '.length)));
  const failure = events.findIndex((data) => 'error' in data);
  if (fromEvents.error && failure >= 0) events = events.slice(0, failure);
  events = events.filter(({ type }) => type !== 'ping');
  if (!isDeepStrictEqual(fromEvents.events, events)) {
    yield `the SDK gave ${fromEvents.events.length} events of ${events.length}, or gave others`;
  }
}

// Differences that are not known, and known differences that are gone.
function* unexpectedDifferences(folder, vector, to, expected, answer) {
  const known = knownDifferences('differences', vector, to);
  const left = new Set(known);
  for (const difference of diff(normalized(folder, to, expected), normalized(folder, to, answer))) {
    const entry = known.find(({ at }) => at === difference[0]);
    left.delete(entry);
    if (!entry || !isDeepStrictEqual(entry.client, difference[2])) yield describe(difference);
  }
  for (const { at } of left) yield `${at} is a known difference and does not differ`;
}

function firstLine(error) {
  return String(error).split('\n')[0];
}

function describe([at, whole, stream]) {
  const short = (value) => (JSON.stringify(value) ?? 'nothing').slice(0, 400);
  return `${at || '/'} is ${short(whole)} as a whole and ${short(stream)} as a stream`;
}

// The answer without the fields that may differ between a whole answer and a stream.
// ../streams/test_streams.py explains them.
function normalized(folder, to, text) {
  // Numbers are compared as text, because parsing would round them.
  const tokens = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
  // SDKs write whole numbers without ".0".
  const quoted = (token) => (token.startsWith('"') ? token : `"${token.replace(/\.0+$/, '')}"`);
  const exact = text.toString().replace(tokens, quoted);
  const answer = JSON.parse(exact, (key, value) =>
    value === null || ['created', 'created_at', 'completed_at'].includes(key) ? undefined : value,
  );
  if (to === 'chat' && !asksForUsage(folder)) delete answer.usage;
  // The first chunk has "" where a whole answer has no content.
  for (const { message } of answer.choices ?? []) message.content ??= '';
  if (to === 'messages') delete answer.usage.service_tier;
  for (const item of answer.output ?? []) delete item.id;
  return answer;
}

function asksForUsage(folder) {
  const request = new URL('request.chat.json', folder);
  return existsSync(request) && JSON.parse(readFileSync(request)).stream_options?.include_usage === true;
}

// Where two values differ: the JSON Pointer, and the value on each side.
function diff(one, other, at = '') {
  const objects = Object(one) === one && Object(other) === other;
  const lists = Array.isArray(one) && Array.isArray(other);
  if (objects && (lists ? one.length === other.length : !Array.isArray(one) && !Array.isArray(other))) {
    const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
    return [...keys].flatMap((key) => diff(one[key], other[key], `${at}/${key}`));
  }
  return isDeepStrictEqual(one, other) ? [] : [[at, one, other]];
}
