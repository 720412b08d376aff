// SPDX-License-Identifier: Apache-2.0
// The arena's end points without a framework: node.js ITEMS CERTIFICATE KEY PORT PORT_TLS PORT_H2 PORT_H2C
"use strict";

const fs = require("fs");
const http = require("http");
const http2 = require("http2");
const https = require("https");
const zlib = require("zlib");

const [path, certificate, key, plain, tls, h2, h2c] = process.argv.slice(2);

const items = fs.readFileSync(path, "utf8").trimEnd().split("\n").map((line) => {
    const [id, name, category, price, quantity, active, tags, score, count] = line.split("\t");
    return { id: +id, name, category, price: +price, quantity: +quantity, active: active === "true", tags: tags.split(","),
             rating: { score: +score, count: +count } };
});

function send(response, status, type, text, coding) {
    const fields = { "Content-Type": type, "Content-Length": Buffer.byteLength(text) };

    if (coding)
        fields["Content-Encoding"] = coding;
    response.writeHead(status, fields);
    response.end(text);
}

function list(count, factor) {
    const shown = items.slice(0, count).map((item) => ({ ...item, total: item.price * item.quantity * factor }));
    return JSON.stringify({ items: shown, count: shown.length });
}

function sendList(request, response, text) {
    if (/\bgzip\b/.test(request.headers["accept-encoding"] ?? ""))
        zlib.gzip(text, (_, packed) => send(response, 200, "application/json", packed, "gzip"));
    else
        send(response, 200, "application/json", text);
}

function upload(request, response) {
    let size = 0;

    request.on("data", (bytes) => { size += bytes.length; });
    request.on("end", () => send(response, 200, "text/plain", String(size)));
}

function answer(request, response) {
    const cut = request.url.indexOf("?");
    const target = cut < 0 ? request.url : request.url.slice(0, cut);
    const query = new URLSearchParams(cut < 0 ? "" : request.url.slice(cut));

    if (target === "/baseline11" || target === "/baseline2")
        send(response, 200, "text/plain", String(Number(query.get("a")) + Number(query.get("b"))));
    else if (target === "/pipeline")
        send(response, 200, "text/plain", "ok");
    else if (target.startsWith("/json/"))
        sendList(request, response, list(Number(target.slice(6)), Number(query.get("m") ?? 1)));
    else if (target === "/upload")
        upload(request, response);
    else
        send(response, 404, "text/plain", "");
}

// The module ws is no part of Node.js.
function openSockets(server) {
    let ws;

    try {
        ws = require("ws");
    } catch {
        return;
    }
    new ws.WebSocketServer({ server, path: "/ws" }).on("connection", (socket) => {
        socket.on("message", (bytes, isBinary) => socket.send(bytes, { binary: isBinary }));
    });
}

const pair = { cert: fs.readFileSync(certificate), key: fs.readFileSync(key) };
const first = http.createServer(answer);

openSockets(first);
for (const [server, port] of [[https.createServer(pair, answer), tls], [http2.createSecureServer(pair, answer), h2],
                              [http2.createServer(answer), h2c], [first, plain]])
    server.listen({ port: Number(port), host: "127.0.0.1", backlog: 4096 });
