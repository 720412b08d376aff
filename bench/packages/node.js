// SPDX-License-Identifier: Apache-2.0
// What service.c serves, with the usual clients of Node.js: node node.js PORT SETTINGS, which are JSON.
'use strict';
const http = require('http');
const { createRequire } = require('module');

const [port, text] = process.argv.slice(2);
const settings = JSON.parse(text);
const load = createRequire(settings.modules + '/');
const kinds = {};

// What is not installed is not served, and its name said.
function add(kind, make) {
  try {
    kinds[kind] = make();
  } catch (error) {
    console.error(`Node.js has no client for ${kind}: ${error.message.split('\n')[0]}`);
  }
}

add('postgresql', () => {
  const { Pool } = load('pg');
  const pool = new Pool({ connectionString: settings.postgresql, max: settings.pool });
  return async (id) => {
    const { rows } = await pool.query({ name: 'row', text: 'SELECT name FROM items WHERE id = $1', values: [id] });
    return rows[0].name;
  };
});
add('mariadb', () => {
  const pool = load('mysql2/promise').createPool({
    host: '127.0.0.1', port: settings.mariadb, user: 'root', database: 'shop', connectionLimit: settings.pool,
  });
  return async (id) => (await pool.execute('SELECT name FROM items WHERE id = ?', [id]))[0][0].name;
});
add('redis', () => {
  const Redis = load('ioredis');
  const client = new Redis(settings.redis);
  return (id) => client.get('item:' + id);
});
add('memcached', () => {
  const client = load('memjs').Client.create(settings.memcached);
  return async (id) => (await client.get('item:' + id)).value.toString();
});
add('sqlite', () => {
  let database;
  try {
    database = new (load('better-sqlite3'))(settings.sqlite);
  } catch {
    database = new (require('node:sqlite').DatabaseSync)(settings.sqlite);
  }
  const statement = database.prepare('SELECT name FROM items WHERE id = ?');
  return async (id) => statement.get(id).name;
});

const server = http.createServer((request, response) => {
  const url = new URL(request.url, 'http://localhost');
  const kind = kinds[url.pathname.slice('/db/'.length)];
  const refuse = (status) => {
    response.writeHead(status, { 'Content-Length': 0 });
    response.end();
  };
  if (!kind) return refuse(404);
  return kind(url.searchParams.get('id')).then((name) => {
    response.writeHead(200, { 'Content-Type': 'text/plain', 'Content-Length': Buffer.byteLength(name) });
    response.end(name);
  }, () => refuse(503));
});
server.keepAliveTimeout = 120000;
server.listen(Number(port), '127.0.0.1', 4096);
