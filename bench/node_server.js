// SPDX-License-Identifier: Apache-2.0
// A plain static file server as one would write it with Node's own modules: stat, then a stream.
// node node_server.js PORT ROOT WORKERS
'use strict';
const cluster = require('cluster');
const fs = require('fs');
const http = require('http');
const path = require('path');

const port = Number(process.argv[2]);
const root = path.resolve(process.argv[3]);
const workers = Number(process.argv[4] || 1);
const types = {
  '.html': 'text/html; charset=utf-8', '.css': 'text/css', '.js': 'text/javascript',
  '.png': 'image/png', '.jpg': 'image/jpeg', '.svg': 'image/svg+xml', '.ico': 'image/x-icon',
  '.txt': 'text/plain; charset=utf-8',
};

function refuse(response, status) {
  response.writeHead(status, { 'Content-Length': 0 });
  response.end();
}

function answer(request, response) {
  let name;
  try {
    name = decodeURIComponent(request.url.split('?')[0]);
  } catch {
    return refuse(response, 400);
  }
  const file = path.join(root, path.normalize(name));
  if (!file.startsWith(root + path.sep)) return refuse(response, 403);
  fs.stat(file, (error, st) => {
    if (error || !st.isFile()) return refuse(response, 404);
    response.writeHead(200, {
      'Content-Type': types[path.extname(file)] || 'application/octet-stream',
      'Content-Length': st.size,
      'Last-Modified': st.mtime.toUTCString(),
    });
    const stream = fs.createReadStream(file);
    stream.on('error', () => response.destroy());
    stream.pipe(response);
  });
}

if (workers > 1 && cluster.isPrimary) {
  for (let i = 0; i < workers; i++) cluster.fork();
  process.on('SIGTERM', () => {
    for (const id in cluster.workers) cluster.workers[id].process.kill();
    process.exit(0);
  });
} else {
  const server = http.createServer(answer);
  server.keepAliveTimeout = 120000;
  server.listen(port, '127.0.0.1', 4096);
  process.on('SIGTERM', () => process.exit(0));
}
