// SPDX-License-Identifier: Apache-2.0
// A Node.js backend: node peer.js KEEP_ALIVE_MS. Prints its port. Counts what it saw of each POST, by its path.
'use strict';
const http = require('http');
const seen = {};

const server = http.createServer((request, response) => {
  if (request.url === '/seen') {
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify(seen));
  } else if (request.url === '/events') {
    response.writeHead(200, {'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store'});
    let n = 0;
    const timer = setInterval(() => response.write(`data: ${n++}\n\n`), 100);
    response.on('close', () => clearInterval(timer));
  } else if (request.url === '/chunks') {
    response.setHeader('Trailer', 'X-Sum');
    let n = 0;
    const next = () => {
      if (n === 200) {
        response.addTrailers({'X-Sum': 'done'});
        return response.end();
      }
      response.write(`${n}`.padEnd(1 + n * 7 % 3000, '.') + '\n');
      n++;
      return setImmediate(next);
    };
    next();
  } else if (request.url === '/hints') {
    response.writeEarlyHints({link: '</style.css>; rel=preload'});
    response.end('hinted');
  } else {
    if (request.method === 'POST') seen[request.url] = (seen[request.url] || 0) + 1;
    let length = 0;
    request.on('data', (piece) => { length += piece.length; });
    request.on('end', () => response.end(`${request.method} ${request.url} ${length}`));
  }
});
server.keepAliveTimeout = Number(process.argv[2]);
server.on('upgrade', (request, socket) => {
  socket.on('error', () => {});
  socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: shout\r\n\r\n');
  socket.on('data', (bytes) => socket.write(bytes.toString().toUpperCase()));
  socket.on('end', () => socket.end());
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
