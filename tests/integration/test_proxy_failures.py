# SPDX-License-Identifier: Apache-2.0
"""
Random schedules of failures. Every request and every answer carries the number of its request, so that it shows
when a client sees bytes of another answer, a truncated body as complete, or a POST that was sent twice.

The seed is printed; TEST_SEED repeats it, as far as threads repeat anything.

What a backend sends unasked while a request is on its way to it is an answer for all that anybody can know, so that
is not among the acts; test_proxy_faults.py has what can be known.
"""

import collections
import json
import random
import re
import threading
import time

import pytest

from harness import http, seeded
from harness.backend import Backend, proxy, servers
from harness.client import eventually, free_port
from harness.config import section

SCHEDULES, PARTS = 200, 8
CLIENTS, ASKED = 4, 6  # in a schedule: clients, and requests of each


def tagged(number, size):
    """A body of this size, all of which says whose it is."""
    tag = b"<%d>" % number
    return (tag * (size // len(tag) + 1))[:size]


POISON = b"HTTP/1.1 200 OK\r\nX-Tag: poison\r\nContent-Length: 6\r\n\r\npoison"


class Chaos:
    """What all backends do, and what they saw. A schedule is how likely each act is, and their order."""

    def __init__(self):
        self.lock = threading.Lock()
        self.seen = collections.Counter()  # heads of POSTs, by number

    def begin(self, seed):
        dice = random.Random(seed)
        weights = [dice.choice([0, 0, 1, 3]) for _ in self.ACTS]
        weights[0] = dice.choice([2, 8, 20])
        with self.lock:
            self.random = dice
            self.acts = dice.choices(self.ACTS, weights, k=4000)

    def next(self):
        with self.lock:
            return self.acts.pop(), self.random.randrange(2 ** 31)

    def serve(self, peer):
        while True:
            act, seed = self.next()
            if not act(self, peer, random.Random(seed)):
                return

    # -- the parts of an exchange

    def take(self, peer):
        """The head of the next request, which is noted."""
        request = peer.head()
        if not request:
            raise EOFError
        request.number = int(request.target.rpartition("/")[2])
        if request.method == "POST":
            with self.lock:
                self.seen[request.number] += 1
        return request

    def read(self, peer):
        request = self.take(peer)
        request.body = peer.body(request)
        assert request.body == tagged(request.number, len(request.body)), f"mixed request {request.number}"
        return request

    @staticmethod
    def head(request, size, framing="length"):
        lines = {"length": f"Content-Length: {size}\r\n", "chunked": "Transfer-Encoding: chunked\r\n",
                 "close": "Connection: close\r\n", "none": "",
                 "both": f"Content-Length: {size}\r\nTransfer-Encoding: chunked\r\n"}[framing]
        return f"HTTP/1.1 200 OK\r\nX-Tag: {request.number}\r\nX-Size: {size}\r\n{lines}\r\n".encode()

    @staticmethod
    def chunked(body, dice, whole=True):
        pieces, at = [], 0
        while at < len(body):
            n = dice.randrange(1, 40000)
            pieces.append(b"%x\r\n" % len(body[at:at + n]) + body[at:at + n] + b"\r\n")
            at += n
        return b"".join(pieces) + (b"0\r\n\r\n" if whole else b"")

    @staticmethod
    def size(dice):
        return dice.choice([0, 1, 10, 1000, 16384, dice.randrange(200000)])

    # -- acts: each is one exchange, and tells whether the connection goes on

    def well(self, peer, dice):
        request, size = self.read(peer), self.size(dice)
        body, framing = tagged(request.number, size), dice.choice(["length", "length", "chunked", "close", "none"])
        peer.send(self.head(request, size, framing) + (self.chunked(body, dice) if framing == "chunked" else body))
        return framing in ("length", "chunked")

    def well_and_says_close(self, peer, _):
        request = self.read(peer)
        body = tagged(request.number, 10)
        peer.send(self.head(request, 10).replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n") + body)
        return False

    def well_then_closes(self, peer, dice):
        """The race of keep-alive: the connection closes when, or just before, the next request comes."""
        request = self.read(peer)
        peer.send(self.head(request, 3) + tagged(request.number, 3))
        time.sleep(dice.choice([0, 0.001, 0.005]))
        return dice.random() < 0.3 and bool(peer.reset())

    def resets_at_once(self, peer, _):
        return bool(peer.reset())

    def leaves_at_once(self, _peer, _dice):
        return False

    def resets_behind_the_request(self, peer, _):
        self.read(peer)
        return bool(peer.reset())

    def resets_within_the_request(self, peer, _):
        self.take(peer)
        return bool(peer.reset())

    def half_a_head(self, peer, dice):
        head = self.head(self.read(peer), 10)
        peer.send(head[:dice.randrange(1, len(head))])
        return dice.random() < 0.5 and bool(peer.reset())

    def half_a_body(self, peer, dice):
        request, size = self.read(peer), 2 + self.size(dice)
        body = tagged(request.number, size)
        cut = dice.randrange(0, size)
        framing = dice.choice(["length", "chunked", "none"])
        peer.send(self.head(request, size, framing) +
                  (self.chunked(body[:cut], dice, whole=False) if framing == "chunked" else body[:cut]))
        time.sleep(dice.choice([0, 0.01]))
        return (framing == "none" or dice.random() < 0.5) and bool(peer.reset())

    def drips(self, peer, dice):
        request = self.read(peer)
        for byte in self.head(request, 20) + tagged(request.number, 20):
            peer.send(bytes([byte]))
            time.sleep(dice.choice([0, 0, 0.001]))
        return True

    def says_too_little(self, peer, dice):
        """More than was promised, which looks like the next answer."""
        request = self.read(peer)
        peer.send(self.head(request, 20) + tagged(request.number, 20) + POISON)
        return dice.random() < 0.5

    def frames_twice(self, peer, dice):
        request = self.read(peer)
        peer.send(self.head(request, 20, "both") + self.chunked(tagged(request.number, 20), dice))
        return True

    def bad_chunks(self, peer, dice):
        request = self.read(peer)
        peer.send(self.head(request, 20, "chunked") + dice.choice([b"xyz\r\n", b"5\r\n<1234", b"-1\r\n\r\n", b"5\n12345\n"]))
        return False

    def garbage(self, peer, dice):
        self.read(peer)
        peer.send(dice.randbytes(300))
        return False

    def hints_first(self, peer, dice):
        request = self.read(peer)
        peer.send(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * dice.choice([1, 3]))
        peer.send(self.head(request, 20) + tagged(request.number, 20))
        return True

    def floods_with_hints(self, peer, _):
        self.read(peer)
        peer.send(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 5000)
        return False

    def answers_early(self, peer, dice):
        """Before it has read the body, of which it never reads the rest."""
        request = self.take(peer)
        peer.send(self.head(request, 20) + tagged(request.number, 20))
        time.sleep(0.002)
        return dice.random() < 0.5 and bool(peer.reset())

    def is_silent(self, peer, _):
        self.read(peer)
        time.sleep(0.5)
        return False

    ACTS = [well, well_and_says_close, well_then_closes, resets_at_once, leaves_at_once, resets_behind_the_request,
            resets_within_the_request, half_a_head, half_a_body, drips, says_too_little, frames_twice, bad_chunks, garbage,
            hints_first, floods_with_hints, answers_early, is_silent]


def check(answer, number):
    """An answer that was read to its end, by its framing."""
    if answer.header("X-Tag") is None:
        assert answer.status in (400, 502, 503, 504), f"{number}: {answer}"
        return "refused"
    assert answer.header("X-Tag") == str(number), f"{number} got the answer {answer!r}"
    expected = tagged(number, int(answer.header("X-Size")))
    assert answer.body == expected, f"{number}: {len(answer.body)} bytes of {len(expected)}, {answer.body[:40]!r}"
    return "whole"


def one_client(server, chaos, numbers, seed, results, faults):
    dice = random.Random(seed)
    numbers = list(numbers)
    try:
        while numbers:
            with server.connect(timeout=30) as connection:
                while numbers:
                    number = numbers.pop()
                    post = dice.random() < 0.4
                    body = tagged(number, dice.choice([0, 5, 1000, 30000, 150000])) if post else b""
                    lines = [("Content-Length", str(len(body)))] if post else []
                    data = http.request(f"/{number}", "POST" if post else "GET", headers=lines)
                    data = (data if isinstance(data, bytes) else data.encode("latin-1")) + body
                    try:
                        connection.send(data)
                        if dice.random() < 0.08:
                            connection.reset()
                            results["left"] += 1
                            break
                        answer = connection.response("POST" if post else "GET")
                    except OSError:
                        results["broken"] += 1
                        break
                    except AssertionError as fault:
                        # The reader is strict: what ends early is told as such, anything else is a fault.
                        if not any(words in str(fault) for words in ("ends", "chunk size None", "without a response")):
                            raise
                        results["broken"] += 1
                        break
                    results[check(answer, number)] += 1
                    if not answer.keeps_connection:
                        break
    except Exception as fault:  # noqa: BLE001 - told by the test
        faults.append(repr(fault))


@pytest.mark.limit(200)
@pytest.mark.parametrize("part", [pytest.param(part, marks=[pytest.mark.slow] if part > 1 else []) for part in range(PARTS)])
def test_no_client_sees_what_is_not_its_own(start, part):
    seed = seeded.of_this_run()
    print(f"TEST_SEED={seed}")
    dice = random.Random(seed * PARTS + part)
    chaos, numbers, results = Chaos(), iter(range(part * 10 ** 6, (part + 1) * 10 ** 6)), collections.Counter()
    chaos.begin(0)
    three = [Backend(name=name, serve=chaos.serve) for name in "abc"]
    balancer = ["RoundRobin", "LeastConnections", "Random2", "LockingRoundRobin"][part % 4]
    offline = ["0", "20ms"][part % 2]
    server = start(extra=proxy(f"Name chaos\nMatch ^/\n{servers(three)}\nLoadBalancer {balancer}\nOfflineTimeOut {offline}\n"
                               f"AttemptsCount {dice.choice([3, 8])}\nReadTimeout 200ms\nStatisticsURL /stats\nKeepAliveTimeout 1\n"
                               f"MaxConnections {dice.choice([0, 2])}\nQueueTimeout 3"))
    for schedule in range(SCHEDULES // PARTS):
        chaos.begin(dice.randrange(2 ** 31))
        faults = []
        clients = [threading.Thread(target=one_client, args=(server, chaos, [next(numbers) for _ in range(ASKED)],
                                                            dice.randrange(2 ** 31), results, faults))
                   for _ in range(CLIENTS)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        told = f"TEST_SEED={seed} part={part} schedule={schedule}"
        assert not faults, f"{told}: {faults}"
        again = {number: count for number, count in chaos.seen.items() if count > 1}
        assert not again, f"{told}: POSTs that came twice: {again}"
        assert not [fault for backend in three for fault in backend.faults], f"{told}: {[b.faults for b in three]}"
    print(dict(results))
    assert results["whole"] > 20 and results["refused"] + results["broken"] > 10
    facts = lambda: json.loads(server.get("/stats?format=json").text)["entries"][0]["backends"]  # noqa: E731
    assert eventually(lambda: [fact["active"] for fact in facts()] == [0, 0, 0])
    for backend in three:
        backend.stop()


@pytest.mark.parametrize("server_list, why", [
    ("127.0.0.1:{port}", r"127\.0\.0\.1:{port}: Connection refused"),
    ("unix:{tmp}/none.sock", r"{tmp}/none\.sock: No such file or directory"),
    ("no-such-name.invalid", r"no-such-name\.invalid:80: (the name does not exist|the name cannot be looked up now)"),
])
def test_what_cannot_be_reached_is_named_in_both_logs(start, tmp_path, server_list, why):
    port = free_port()
    server = start(site=section("LOGGER", "ErrorLog site.log"), extra={
        "plugins.load": section("PLUGINS", "Load proxy_reverse\nLoad logger"),
        "plugins/logger/logger.conf": section("LOGGER", "FlushTimeout 0"),
        "plugins/proxy_reverse/a.conf": section("PROXY_ENTRY", f"Match ^/\nConnectTimeout 30\nServerList {server_list.format(tmp=tmp_path, port=port)}")})
    assert server.get("/", timeout=40).status == 502 # without a name server musl's look-up takes five seconds
    why = why.format(tmp=re.escape(str(tmp_path)), port=port)
    assert re.search(rf'proxy cannot connect entry=\S+ backend=\S+ why="{why}"', server.log()), server.log()
    log = server.conf / "site.log"
    assert eventually(lambda: log.exists() and re.search(rf'status=502 reason="{why}"', log.read_text())), server.log()


def test_why_a_backend_failed_is_in_both_logs_where_there_is_no_other(start):
    with Backend(each=lambda conn, _request: conn.close()) as backend:
        server = start(site=section("LOGGER", "ErrorLog site.log"), extra={
            "plugins.load": section("PLUGINS", "Load proxy_reverse\nLoad logger"),
            "plugins/logger/logger.conf": section("LOGGER", "FlushTimeout 0"),
            "plugins/proxy_reverse/a.conf": section("PROXY_ENTRY", f"Match ^/\nServerList {backend.address}")})
        assert server.get("/").status == 502
    why = "the backend closed the connection"
    assert f'why="{why}"' in server.log() and 'why="no other backend is available"' in server.log(), server.log()
    log = server.conf / "site.log"
    assert eventually(lambda: log.exists() and f'status=502 reason="{why}"' in log.read_text()), log.read_text()
