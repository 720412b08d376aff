// SPDX-License-Identifier: Apache-2.0
// WebSocket of Node.js without a package (RFC 6455): node chat.js PORT. Echoes text frames of up to 125 bytes, and closes when asked to.
'use strict';
const crypto = require('crypto');
const http = require('http');
const TEXT = 1, CLOSE = 8;

const server = http.createServer((request, response) => response.end('fine'));

function answer(socket, opcode, payload) {
  socket.write(Buffer.concat([Buffer.from([0x80 | opcode, payload.length]), payload]));
  if (opcode === CLOSE) socket.end();
}

server.on('upgrade', (request, socket, head) => {
  const accept = crypto.createHash('sha1').update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
  let pending = head;
  socket.on('error', () => {});
  socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`);
  socket.on('data', (bytes) => {
    pending = Buffer.concat([pending, bytes]);
    while (pending.length >= 6 && pending.length >= 6 + (pending[1] & 0x7f)) {
      const opcode = pending[0] & 0x0f, mask = pending.subarray(2, 6), end = 6 + (pending[1] & 0x7f);
      const payload = Buffer.from(pending.subarray(6, end).map((byte, at) => byte ^ mask[at % 4]));
      pending = pending.subarray(end);
      if (opcode === TEXT || opcode === CLOSE) answer(socket, opcode, payload);
    }
  });
});
server.listen(Number(process.argv[2]), '127.0.0.1');
