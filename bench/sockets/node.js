// SPDX-License-Identifier: Apache-2.0
// Node.js with ws: /echo sends each message back, /all sends it to everybody there.
"use strict";

const { WebSocket, WebSocketServer } = require("ws");

const everybody = new Set();
const server = new WebSocketServer({ host: "127.0.0.1", port: Number(process.argv[2]) });

server.on("connection", (socket, request) => {
    if (request.url === "/echo") {
        socket.on("message", (data, isBinary) => socket.send(data, { binary: isBinary }));
        return;
    }
    everybody.add(socket);
    socket.on("close", () => everybody.delete(socket));
    socket.on("message", (data, isBinary) => {
        for (const one of everybody) {
            if (one.readyState === WebSocket.OPEN)
                one.send(data, { binary: isBinary });
        }
    });
});
