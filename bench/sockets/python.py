# SPDX-License-Identifier: Apache-2.0
"""Python with websockets: /echo sends each message back, /all sends it to everybody there."""

import asyncio
import sys

import websockets

everybody = set()


async def serve(socket):
    if socket.path == "/echo":
        async for message in socket:
            await socket.send(message)
        return
    everybody.add(socket)
    try:
        async for message in socket:
            websockets.broadcast(everybody, message)
    finally:
        everybody.remove(socket)


async def main():
    # As ours and the client: no compression, no message beyond a MB.
    async with websockets.serve(serve, "127.0.0.1", int(sys.argv[1]), compression=None, ping_interval=None):
        await asyncio.get_running_loop().create_future()


asyncio.run(main())
