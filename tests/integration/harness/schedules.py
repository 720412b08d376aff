# SPDX-License-Identifier: Apache-2.0
"""
Random conversations. A seed alone makes one: what a client asks and must get, how it cuts and delays what it sends, how
it reads, and how it ends. A conversation that fails tells its seed and can be had again.

    plan = Plan(seed, resources)
    plan.talk(connection)      # AssertionError or OSError: not what it must have received, or too late
"""

import contextlib
import random
import socket
import threading
import time

from harness import http
from harness.content import noise

DEADLINE = 20.0  # seconds without a byte; a plan's own pauses are less than two
LONGEST = 180.0  # seconds for a conversation; a small window can take half a minute for a large file


class Ask:
    """
    A request and what its answer must be. is_fragile: a client that ends its sending half before it has the answer has left,
    as the manual says of scripts and of other servers.
    """

    def __init__(self, method, target, body=b"", chunks=(), status=200, answer=b"", ends_with=False, is_fragile=False):
        self.method, self.target, self.body, self.chunks = method, target, body, chunks
        self.status, self.answer, self.ends_with, self.is_fragile = status, answer, ends_with, is_fragile

    def wire(self, is_last):
        headers = [("Connection", "close")] if is_last else []
        if not self.chunks:
            return http.request(self.target, self.method, headers, self.body)
        return http.request(self.target, self.method, [*headers, ("Transfer-Encoding", "chunked")]) + http.chunked(*self.chunks)

    def judge(self, response):
        assert response.status == self.status, f"{self}: {response.status} instead of {self.status}"
        if self.answer is not None and self.method != "HEAD":
            got = response.body[-len(self.answer):] if self.ends_with and self.answer else response.body
            assert got == self.answer, f"{self}: {len(response.body)} bytes, which are not the right {len(self.answer)}"

    def __str__(self):
        return f"{self.method} {self.target} ({'chunked' if self.chunks else len(self.body)})"


class Resources:
    """
    What a server has to be asked for. prefixes: paths below which all of it is. kinds: functions of (random, prefix) that
    make an Ask, with how often each is to be chosen. tunnel: a path for Upgrade that leads to an echo.
    """

    def __init__(self, kinds, prefixes=("",), tunnel=None):
        self.kinds, self.prefixes, self.tunnel = kinds, prefixes, tunnel

    def choose(self, chance):
        kind = chance.choices(list(self.kinds), list(self.kinds.values()))[0]
        return kind(chance, chance.choice(self.prefixes))


def body(chance, largest=60_000):
    return noise(chance.choice([1, chance.randrange(1, 300), chance.randrange(1, 9000), chance.randrange(1, largest)]),
                 chance.random())


def pieces(chance, data):
    """A body in chunks, small ones too."""
    found = []
    while data:
        size = chance.choice([1, 7, chance.randrange(1, 500), chance.randrange(1, 20_000)])
        found.append(data[:size])
        data = data[size:]
        if len(found) > 20:
            size = len(data)
            found += [data] if data else []
            data = b""
    return found


class Plan:
    def __init__(self, seed, resources):
        chance = self.chance = random.Random(seed)
        depth = chance.choice([1, 2, 3, chance.randrange(2, 12), chance.randrange(10, 60)])
        self.receive_buffer = chance.choice([None, None, 4096, 16384])
        self.end = chance.choice(["leaves", "closes", "half"])
        if depth < 12:
            self.asks = [resources.choose(chance) for _ in range(depth)]
        else:
            one = resources.choose(chance)
            self.asks = [resources.choose(chance) if chance.random() < 0.1 else one for _ in range(depth)]
        self.tunnel = None
        if resources.tunnel and self.end == "leaves" and chance.random() < 0.5:
            self.end = "tunnels"
            self.tunnel = chance.choice(resources.prefixes) + resources.tunnel
            self.echoed = body(chance, 300_000)
        if self.end == "half" and chance.random() < 0.7:
            self.asks = [ask for ask in self.asks if not ask.is_fragile] or self.asks
        if self.end == "half" and any(ask.is_fragile for ask in self.asks):
            self.end = "half afterwards"
        self.cut = chance.choice(["whole", "requests", "shifted", "even", "random", "small"])
        self.read_at_once = chance.choice([100, 4096, 65536, 65536])
        self.waits_before_reading = chance.choice([0, 0, 0, chance.uniform(0, 0.5)])
        self.send_pauses = chance.choice([0, 0, 0.002, 0.03])
        self.read_pauses = chance.choice([0, 0, 0.001, 0.01])
        self.corks = chance.choice([0, 0, 0.3, 0.8])
        self.answered = 0

    def __str__(self):
        asks = ", ".join(map(str, self.asks[:4])) + (f", ... {len(self.asks)} in all" if len(self.asks) > 4 else "")
        return (f"{asks}; sent {self.cut} with pauses of {self.send_pauses}, corked {self.corks}; read by "
                f"{self.read_at_once} after {self.waits_before_reading:.2f}, pauses of {self.read_pauses}, buffer "
                f"{self.receive_buffer}; {self.end} {self.tunnel or ''}; {self.answered} answered")

    # -- sending

    def segments(self):
        """
        What is sent, in the pieces in which it is. None is empty: the reader ends the sending half once all answers are there,
        and a call that sends nothing is an error (EPIPE) from then on.
        """
        chance = self.chance
        wires = [ask.wire(is_last=self.end == "closes" and left == 0)
                 for left, ask in zip(reversed(range(len(self.asks))), self.asks)]
        if self.tunnel:
            wires += [http.request(self.tunnel, headers={"Connection": "Upgrade", "Upgrade": "echo"}), self.echoed]
        data = b"".join(wires)
        if self.cut == "whole":
            return [data]
        if self.cut == "requests":
            return wires
        if self.cut == "shifted":  # a request's end together with the beginning of the next one
            shift, cuts, at = chance.randrange(1, 40), {0, len(data)}, 0
            for wire in wires[:-1]:
                at += len(wire)
                cuts.add(min(at + min(shift, 20), len(data)))
            cuts = sorted(cuts)
            return [data[a:b] for a, b in zip(cuts, cuts[1:])]
        if self.cut == "even":
            step = max(chance.randrange(50, 5000), len(data) // 200)
        elif self.cut == "small":
            step = max(chance.randrange(1, 20), len(data) // 300)
        else:
            cuts = sorted({0, len(data), *(chance.randrange(len(data)) for _ in range(chance.randrange(1, 30)))})
            return [data[a:b] for a, b in zip(cuts, cuts[1:])]
        return [data[at:at + step] for at in range(0, len(data), step)]

    def _send(self, connection, faults):
        """Some pieces leave in one TCP segment with the next; over TLS that is several records at once."""
        chance, is_corked, spent = self.chance, False, 0.0

        def cork(on):
            with contextlib.suppress(OSError):
                connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, on)

        try:
            for piece in self.segments():
                connection.send(piece)
                if chance.random() < self.corks:
                    cork(1)
                    is_corked = True
                    continue
                if is_corked:
                    cork(0)
                    is_corked = False
                pause = chance.uniform(0, self.send_pauses) if spent < 1.5 else 0
                if chance.random() < 0.02 and spent < 1:
                    pause = 0.3
                spent += pause
                if pause:
                    time.sleep(pause)
            cork(0)
            if self.end == "half":
                connection.finish_sending()
        except BaseException as fault:  # noqa: BLE001 - told by the reader
            faults.append(fault)

    # -- reading

    def talk(self, connection):
        """connection: opened with receive_buffer."""
        faults = []
        sender = threading.Thread(target=self._send, args=(connection, faults), daemon=True)
        ends_at = time.monotonic() + LONGEST
        chance, spent = random.Random(self.chance.random()), 0.0

        def receive():
            nonlocal spent
            pause = chance.uniform(0, self.read_pauses) if spent < 1 else 0
            if pause:
                time.sleep(pause)
                spent += pause
            left = ends_at - time.monotonic()
            if left <= 0:
                raise TimeoutError("too late")
            connection.sock.settimeout(min(left, DEADLINE))
            return connection.sock.recv(self.read_at_once)

        sender.start()
        try:
            time.sleep(self.waits_before_reading)
            stream = http.Stream(receive)
            for ask in self.asks:
                ask.judge(http.read_response(stream, ask.method))
                self.answered += 1
            if self.tunnel:
                assert http.read_head(stream).status == 101
                assert stream.exactly(len(self.echoed)) == self.echoed
            if self.end in ("half afterwards", "tunnels"):
                connection.finish_sending()
            assert self.end == "leaves" or stream.at_end(), "bytes behind the last answer"
        except (AssertionError, OSError) as fault:
            raise AssertionError(f"{fault!r}; the sender: {faults}") from fault
        finally:
            sender.join(DEADLINE)
        assert not faults, faults


def disturb(chance, connect, resources):
    """A client that asks and leaves with a reset in the middle."""
    connection = connect(chance.choice([None, 4096]))
    with contextlib.suppress(OSError, AssertionError):
        connection.sock.settimeout(2)
        data = b"".join(resources.choose(chance).wire(False) for _ in range(chance.randrange(1, 8)))
        connection.send(data[:chance.randrange(1, min(len(data), 50_000) + 1)])
        if chance.random() < 0.5:
            connection.sock.recv(chance.randrange(1, 3000))
    with contextlib.suppress(OSError):
        connection.reset()
