# SPDX-License-Identifier: Apache-2.0
"""
Both ends of gRPC: harness/grpc_server.py as a process, and a client with the methods of its service.

    with rpc.Server(tmp_path) as server, rpc.Client(server.address) as client:
        assert client.echo(b"hello") == b"hello"

Each call has a deadline. Needs the package grpc; tests skip without it.
"""

import contextlib
import json
import pathlib
import queue
import select
import signal
import socket
import subprocess
import sys

import grpc

from harness import ports
from harness.client import PATIENCE, eventually
from harness.grpc_server import LARGEST, SERVICE

FOLDER = pathlib.Path(__file__).resolve().parents[1]
OPTIONS = [("grpc.max_receive_message_length", LARGEST), ("grpc.max_send_message_length", LARGEST),
           ("grpc.enable_http_proxy", 0), ("grpc.use_local_subchannel_pool", 1),
           ("grpc.initial_reconnect_backoff_ms", 100), ("grpc.min_reconnect_backoff_ms", 1000),
           ("grpc.max_reconnect_backoff_ms", 500)]


class Server:
    """The server as a process. Started again, it has the same port."""

    def __init__(self, folder, pair=None, port=0):
        """pair: a certificate (harness/certificates.py), for TLS. port: another one's; without, one that no client gets."""
        self._log = pathlib.Path(folder) / "grpc.log"
        self._pair, self.port = pair, port
        self._process = None
        if port:
            self.start()
        else:
            ports.on_free(self._start_at)

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    @property
    def pid(self):
        return self._process.pid

    def _start_at(self, port):
        self.port = port
        self.start()

    def start(self):
        secured = ["--certificate", str(self._pair.chain), "--key", str(self._pair.key)] if self._pair else []
        with open(self._log, "ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "harness.grpc_server", "--port", str(self.port), *secured], cwd=FOLDER,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        is_ready, *_ = select.select([self._process.stdout], [], [], PATIENCE)
        line = self._process.stdout.readline() if is_ready else b""
        if not line.strip():
            self.kill()
            raise AssertionError(f"the server of gRPC does not start\n{self._log.read_text()}")
        self.port = int(line)

    def retire(self):
        """Let it complete the calls under way, and wait until another server can listen in its place."""
        self._process.send_signal(signal.SIGTERM)
        assert eventually(self._is_free)

    def _is_free(self):
        """The server refuses connections a little before it gives the port back."""
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", self.port))
            except OSError:
                return False
            return True

    def has_ended(self, within=PATIENCE):
        return eventually(lambda: self._process.poll() is not None, within=within)

    def kill(self):
        self._process.kill()
        self._process.wait(PATIENCE)
        self._process.stdin.close()
        self._process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()


class Talk:
    """A call with a stream each way: say() sends a message, hear() waits for one; None is the end."""

    def __init__(self, method, **kwargs):
        self._said = queue.SimpleQueue()
        self.call = method(iter(self._said.get, None), **kwargs)

    def say(self, message):
        self._said.put(message)

    def hear(self):
        return next(self.call, None)

    def end(self):
        """No message follows."""
        self._said.put(None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()
        self.call.cancel()


class Client:
    """A channel of its own connection. Methods raise grpc.RpcError, whose code() and details() are the status."""

    def __init__(self, address, options=()):
        self.channel = grpc.insecure_channel(address, [*OPTIONS, *options])

    def _call(self, kind, name):
        return getattr(self.channel, kind)(name if name.startswith("/") else f"/{SERVICE}/{name}")

    def unary(self, name):
        return self._call("unary_unary", name)

    def ask(self, name, message=b"", timeout=PATIENCE, **kwargs):
        return self.unary(name)(message, timeout=timeout, **kwargs)

    def begin(self, name, message=b"", timeout=PATIENCE, **kwargs):
        """The same without waiting: a future."""
        return self.unary(name).future(message, timeout=timeout, **kwargs)

    def echo(self, message, **kwargs):
        return self.ask("Echo", message, **kwargs)

    def fail(self, code, details, **parameters):
        """The error of a call that fails."""
        try:
            self.ask("Fail", json.dumps({"code": code, "details": details, **parameters}).encode())
        except grpc.RpcError as error:
            return error
        raise AssertionError("the call did not fail")

    def count(self, number, timeout=PATIENCE, **parameters):
        """So many messages, to iterate over."""
        return self._call("unary_stream", "Count")(json.dumps({"count": number, **parameters}).encode(), timeout=timeout)

    def sum(self, messages, timeout=PATIENCE):
        return self._call("stream_unary", "Sum")(iter(messages), timeout=timeout)

    def chat(self, timeout=PATIENCE):
        return Talk(self._call("stream_stream", "Chat"), timeout=timeout)

    def counts(self):
        """Of the server's calls: those that are waiting and those that were cancelled."""
        return json.loads(self.ask("Cancelled", wait_for_ready=True))

    def wait_for(self, within=PATIENCE, **counts):
        """Whether the counts become these."""
        return eventually(lambda: counts.items() <= self.counts().items(), within=within)

    def close(self):
        self.channel.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


@contextlib.contextmanager
def raises(*codes):
    """The block must end with a call's error of one of these statuses; `.value` is the error."""
    holder = type("Raised", (), {"value": None})()
    try:
        yield holder
    except grpc.RpcError as error:
        holder.value = error
    assert holder.value, f"no error, where one of {codes} should be"
    assert holder.value.code() in codes, holder.value
