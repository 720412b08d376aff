// SPDX-License-Identifier: Apache-2.0
// The arena's end points without a framework: node.js PORT ITEMS
"use strict";

const fs = require("fs");
const http = require("http");

const [port, path] = process.argv.slice(2);

const items = fs.readFileSync(path, "utf8").trimEnd().split("\n").map((line) => {
    const [id, name, category, price, quantity, active, tags, score, count] = line.split("\t");
    return { id: +id, name, category, price: +price, quantity: +quantity, active: active === "true", tags: tags.split(","),
             rating: { score: +score, count: +count } };
});

function send(response, status, type, text) {
    response.writeHead(status, { "Content-Type": type, "Content-Length": Buffer.byteLength(text) });
    response.end(text);
}

function list(count, factor) {
    const shown = items.slice(0, count).map((item) => ({ ...item, total: item.price * item.quantity * factor }));
    return JSON.stringify({ items: shown, count: shown.length });
}

http.createServer((request, response) => {
    const cut = request.url.indexOf("?");
    const target = cut < 0 ? request.url : request.url.slice(0, cut);
    const query = new URLSearchParams(cut < 0 ? "" : request.url.slice(cut));

    if (target === "/baseline11")
        send(response, 200, "text/plain", String(Number(query.get("a")) + Number(query.get("b"))));
    else if (target === "/pipeline")
        send(response, 200, "text/plain", "ok");
    else if (target.startsWith("/json/"))
        send(response, 200, "application/json", list(Number(target.slice(6)), Number(query.get("m") ?? 1)));
    else
        send(response, 404, "text/plain", "");
}).listen({ port: Number(port), host: "127.0.0.1", backlog: 4096 });
