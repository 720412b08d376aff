# SPDX-License-Identifier: Apache-2.0
"""
A server of gRPC with the methods that tests need, as a program of its own; messages are bytes, and those with parameters JSON.

    python3 -m harness.grpc_server [--port PORT] [--certificate FILE --key FILE]

It prints its port. TERM makes it refuse new calls and complete those under way; it exits at once when its standard input ends.
"""

import argparse
import contextlib
import json
import os
import signal
import sys
import threading
from concurrent import futures

import grpc

SERVICE = "test.Service"
THREADS = 256  # each call under way has one
GRACE = 30.0  # seconds
LARGEST = 64 << 20
OPTIONS = [("grpc.max_receive_message_length", LARGEST), ("grpc.max_send_message_length", LARGEST),
           ("grpc.so_reuseport", 0)]
CODES = {code.name: code for code in grpc.StatusCode}


class Calls:
    """Counts the calls that wait, and those of them that end before they are answered."""

    def __init__(self):
        self.lock = threading.Lock()
        self.waiting = self.cancelled = 0

    def _add(self, waiting, cancelled=0):
        with self.lock:
            self.waiting += waiting
            self.cancelled += cancelled

    @contextlib.contextmanager
    def watch(self, context):
        """An event that is set when the call ends, by its client or by its deadline."""
        ended = threading.Event()
        if not context.add_callback(ended.set):
            ended.set()
        self._add(1)
        try:
            yield ended
        finally:
            self._add(-1, not context.is_active())

    def counts(self):
        with self.lock:
            return {"waiting": self.waiting, "cancelled": self.cancelled}


CALLS = Calls()


def echo(message, _):
    return message


def fail(message, context):
    """Parameters: code, details, metadata (pairs); initial: the head of the answer is sent before."""
    asked = json.loads(message)
    if asked.get("initial"):
        context.send_initial_metadata([("x-initial", "sent")])
    context.set_trailing_metadata([tuple(pair) for pair in asked.get("metadata", [])])
    context.abort(CODES[asked["code"]], asked["details"])


def count(message, context):
    """Parameters: count and size of messages; pause: seconds between two; code: the status behind them."""
    asked = json.loads(message)
    with CALLS.watch(context) as ended:
        for n in range(asked["count"]):
            if n and asked.get("pause") and ended.wait(asked["pause"]):
                return
            yield b"%d " % n + b"x" * asked.get("size", 0)
    if "code" in asked:
        context.abort(CODES[asked["code"]], "after the messages")


def total(messages, _):
    """How many messages came, and how many bytes."""
    lengths = [len(message) for message in messages]
    return b"%d %d" % (len(lengths), sum(lengths))


def chat(messages, context):
    with CALLS.watch(context):
        for message in messages:
            yield b"re: " + message


def sleep(message, context):
    """The message is the number of seconds; the answer is the number of this process."""
    with CALLS.watch(context) as ended:
        ended.wait(float(message))
    return b"%d" % os.getpid()


def cancelled(*_):
    return json.dumps(CALLS.counts()).encode()


def metadata(_, context):
    """The metadata of the request, its peer's authority and the seconds that are left; sends some of its own."""
    context.send_initial_metadata([("x-initial", "first"), ("x-initial-bin", bytes(range(256)))])
    context.set_trailing_metadata([("x-trailing", "last"), ("x-trailing-bin", bytes(reversed(range(256))))])
    pairs = [(key, value.hex() if isinstance(value, bytes) else value) for key, value in context.invocation_metadata()]
    return json.dumps({"metadata": pairs, "remaining": context.time_remaining()}).encode()


def large(message, _):
    return b"l" * int(message)


def handlers():
    return grpc.method_handlers_generic_handler(SERVICE, {
        "Echo": grpc.unary_unary_rpc_method_handler(echo),
        "Fail": grpc.unary_unary_rpc_method_handler(fail),
        "Count": grpc.unary_stream_rpc_method_handler(count),
        "Sum": grpc.stream_unary_rpc_method_handler(total),
        "Chat": grpc.stream_stream_rpc_method_handler(chat),
        "Sleep": grpc.unary_unary_rpc_method_handler(sleep),
        "Cancelled": grpc.unary_unary_rpc_method_handler(cancelled),
        "Metadata": grpc.unary_unary_rpc_method_handler(metadata),
        "Large": grpc.unary_unary_rpc_method_handler(large),
    })


def add_port(server, options):
    address = f"127.0.0.1:{options.port}"
    if not options.certificate:
        return server.add_insecure_port(address)
    with open(options.key, "rb") as key, open(options.certificate, "rb") as certificate:
        return server.add_secure_port(address, grpc.ssl_server_credentials([(key.read(), certificate.read())]))


def exit_with_input():
    sys.stdin.buffer.read()
    os._exit(0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--certificate")
    parser.add_argument("--key")
    options = parser.parse_args()
    is_over = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: is_over.set())
    server = grpc.server(futures.ThreadPoolExecutor(THREADS), handlers=[handlers()], options=OPTIONS)
    port = add_port(server, options)
    server.start()
    threading.Thread(target=exit_with_input, daemon=True).start()
    print(port, flush=True)
    is_over.wait()
    server.stop(GRACE).wait()


if __name__ == "__main__":
    main()
