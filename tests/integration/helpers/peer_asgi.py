# SPDX-License-Identifier: Apache-2.0
"""An ASGI application, run by uvicorn: echoes bodies and WebSockets, and streams."""

import asyncio
import hashlib


async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        await lifespan(receive, send)
    elif scope["type"] == "websocket":
        await websocket(receive, send)
    elif scope["path"] == "/stream":
        await stream(send)
    else:
        await echo(scope, receive, send)


async def lifespan(receive, send):
    while True:
        message = await receive()
        await send({"type": message["type"] + ".complete"})
        if message["type"] == "lifespan.shutdown":
            return


async def websocket(receive, send):
    await receive()
    await send({"type": "websocket.accept"})
    while True:
        message = await receive()
        if message["type"] == "websocket.disconnect":
            return
        kind = "text" if message.get("text") is not None else "bytes"
        await send({"type": "websocket.send", kind: message[kind]})


async def stream(send):
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
    for number in range(20):
        await send({"type": "http.response.body", "body": b"%d\n" % number, "more_body": True})
        await asyncio.sleep(0.05)
    await send({"type": "http.response.body"})


async def echo(scope, receive, send):
    digest, length, more = hashlib.sha256(), 0, True
    while more:
        message = await receive()
        digest.update(message.get("body", b""))
        length += len(message.get("body", b""))
        more = message.get("more_body", False)
    headers = {name.decode(): value.decode("latin-1") for name, value in scope["headers"]}
    body = (f"{scope['method']} {scope['path']}?{scope['query_string'].decode()} {length} {digest.hexdigest()}\n"
            f"host={headers.get('host')}\nfor={headers.get('x-forwarded-for')}\n").encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})
