# SPDX-License-Identifier: Apache-2.0
"""
Random failures: backends do something else with every request, by a schedule drawn from a seed. Every request
has a tag, every byte of an answer says for which tag and by which backend it is. However it goes, a client gets its own
whole answer, an error, or one that is plainly cut off; and no POST arrives twice.
"""

import collections
import random
import threading
import time

import pytest

from harness import http
from harness.backend import Backend, configured

SCHEDULES, A_TEST = 200, 25
CLIENTS, REQUESTS, BACKENDS = 4, 12, 3


def body_for(tag, name, size):
    line = f"{tag} {name} ".encode()
    return (line * (size // len(line) + 1))[:size]


# What a backend may do with a request. Each is given the whole answer's body.

def whole(conn, body, rng):
    conn.answer(body)


def in_chunks(conn, body, rng):
    step = rng.randrange(1, 9000)
    conn.chunked(*[body[at:at + step] for at in range(0, len(body), step)])


def until_close(conn, body, rng):
    conn.send(b"HTTP/1.1 200 OK\r\n\r\n" + body)
    raise EOFError


def then_close(conn, body, rng):
    conn.answer(body)
    raise EOFError


def says_close(conn, body, rng):
    conn.answer(body, fields="Connection: close\r\n")
    raise EOFError


def in_pieces(conn, body, rng):
    raw = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
    for at in range(0, 200, 20):
        conn.send(raw[at:at + 20])
        time.sleep(0.001)
    conn.send(raw[200:])


def hints(conn, body, rng):
    conn.send(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
    conn.answer(body)


def nothing(conn, body, rng):
    raise EOFError


def reset(conn, body, rng):
    conn.reset()
    raise EOFError


def half_a_head(conn, body, rng):
    conn.send(b"HTTP/1.1 200 OK\r\nContent-")
    raise EOFError


def half_a_body(conn, body, rng):
    conn.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body[:len(body) // 2])
    raise EOFError


def half_the_chunks(conn, body, rng):
    conn.chunked(body[:len(body) // 2 + 1], end=False)
    raise EOFError


def a_reset_in_the_body(conn, body, rng):
    conn.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body[:len(body) // 2])
    time.sleep(0.01)
    conn.reset()
    raise EOFError


def too_much(conn, body, rng):
    conn.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body + b"HTTP/1.1 200 OK\r\n\r\nevil")


def garbage(conn, body, rng):
    conn.send(b"\0\1garbage\r\n\r\n")
    raise EOFError


def both_framings(conn, body, rng):
    conn.send(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
    raise EOFError


def silence(conn, body, rng):
    conn.ended()
    raise EOFError


GOOD = [whole] * 6 + [in_chunks, until_close, then_close, says_close, in_pieces, hints]
BAD = [nothing, reset, half_a_head, half_a_body, half_the_chunks, a_reset_in_the_body, too_much, garbage, both_framings,
       silence]


class Chaos:
    """The backends of one schedule."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.share = self.rng.choice([0.1, 0.3, 0.6])
        self.lock = threading.Lock()
        self.posts = collections.Counter()

    def serve(self, name):
        def serve(conn):
            while request := conn.request():
                tag = request.target[1:]
                with self.lock:
                    seed, is_bad = self.rng.random(), self.rng.random() < self.share
                    if request.method == "POST":
                        assert request.body == body_for(tag, "client", len(request.body))
                        self.posts[tag] += 1
                rng = random.Random(seed)
                size = rng.choice([0, 1, 100, 5000, 20000, 200_000])
                what = rng.choice(BAD if is_bad else GOOD)
                what(conn, body_for(tag, name, size), rng)
        return serve


def visit(server, chaos, number, faults, counts):
    rng = random.Random(number)
    try:
        client = server.connect(timeout=20)
        for turn in range(REQUESTS):
            tag = f"c{number}t{turn}"
            method = rng.choice(["GET", "GET", "POST"])
            body = body_for(tag, "client", rng.choice([1, 5000, 60_000])) if method == "POST" else b""
            try:
                answer = client.request("/" + tag, method, body=body)
            except (AssertionError, OSError):  # cut off, and the client knows
                counts["cut"] += 1
                client.close()
                client = server.connect(timeout=20)
                continue
            counts[answer.status] += 1
            if answer.status == 200:
                names = {body_for(tag, name, len(answer.body)) for name in "abc"}
                assert answer.body in names, f"{tag}: {answer.body[:80]!r}"
                assert len(answer.body) in (0, 1, 100, 5000, 20000, 200_000), len(answer.body)
            else:
                assert answer.status in (502, 504), answer
            if not answer.keeps_connection:
                client.close()
                client = server.connect(timeout=20)
        client.close()
    except Exception as fault:  # pylint: disable=broad-except
        faults.append(f"client {number}: {fault!r}")


def one_schedule(server, chaos, seed):
    faults, counts = [], collections.Counter()
    threads = [threading.Thread(target=visit, args=(server, chaos, seed * 100 + number, faults, counts))
               for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(50)
    assert not faults, f"seed {seed}: {faults}"
    assert all(count == 1 for count in chaos.posts.values()), f"seed {seed}: {chaos.posts.most_common(3)}"
    return counts


@pytest.mark.limit(120)
@pytest.mark.parametrize("first", [pytest.param(first, marks=pytest.mark.slow) if first > A_TEST else first
                                   for first in range(0, SCHEDULES, A_TEST)])
def test_schedules_of_failures(start, first):
    chaos = [Chaos(0)]
    backends = [Backend(lambda conn, name=name: chaos[0].serve(name)(conn)) for name in "abc"[:BACKENDS]]
    offline = "100ms" if first == 0 else "0"
    server = start(**configured(f"ReadTimeout 200ms\nOfflineTimeOut {offline}\nAttemptsCount 2\nKeepAlive 4", *backends))
    total = collections.Counter()
    for seed in range(first, first + A_TEST):
        chaos[0] = Chaos(seed)
        total.update(one_schedule(server, chaos[0], seed))
    for backend in backends:
        backend.close()
    assert not [fault for backend in backends for fault in backend.faults]
    assert total["cut"] > 0 and total[502] > 0 and total[200] > (0 if first == 0 else total["cut"] + total[502])
