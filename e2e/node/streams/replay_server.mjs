// A local server that answers every request with a stream from memory, as ../../streams/replay_server.py does.

import { createServer } from 'node:http';
import { once } from 'node:events';

export async function startReplayServer() {
  const streams = [];
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const stream = streams[request.headers['x-stream']];
      const chunkSize = Number(request.headers['x-chunk-size']);
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
      // Every write is a chunk of the transfer encoding.
      for (let at = 0; at < stream.length; at += chunkSize) response.write(stream.subarray(at, at + chunkSize));
      response.end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    headers: (stream, chunkSize) => ({
      'x-stream': String(streams.push(stream) - 1),
      'x-chunk-size': String(chunkSize),
    }),
    close: () => server.close(),
  };
}
