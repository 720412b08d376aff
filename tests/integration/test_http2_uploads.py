# SPDX-License-Identifier: Apache-2.0
"""Request bodies over HTTP/2: their time, and the windows of streams that share a connection."""

import contextlib
import hashlib
import random
import time

import pytest

from harness import counters, duda, executable, seeded
from harness.client import eventually
from harness.config import section
from harness.http2 import PING, frame
from harness.uploads import PATIENCE, Upload, Uploads


@pytest.fixture(name="behind", params=counters.ALL)
def fixture_behind(request, start, tmp_path, monkeypatch):
    """Starts a server that speaks HTTP/2 with the application behind one of the plugins."""
    with contextlib.ExitStack() as stack:
        def begin(**kwargs):
            with monkeypatch.context() as patch:
                patch.setenv("CARRIER", "h2")
                app = counters.ALL[request.param](start, tmp_path, **kwargs)
            stack.callback(app.stop)
            return app

        yield begin


def body(chance, size):
    return chance.randbytes(size)


# ---- how long they may take ----

def test_an_upload_that_goes_on_may_take_longer_than_bodytimeout(behind):
    app = behind(server="BodyTimeout 3")
    with Uploads(app.server, random.Random(1)) as uploads:
        one = uploads.begin(Upload(app.base + "/count", bytes(500_000)))
        while not one.is_sent:
            uploads.send(1)
            time.sleep(0.2)
            while uploads.has_input(0):
                uploads.receive()
        uploads.run()
        assert (one.status, one.answer) == (200, b"%d %d" % (len(one.body), len(one.body)))


@pytest.mark.parametrize("rate", ["MinRate 0", "MinRate 1M"])
def test_a_silent_client_is_answered_408(behind, rate):
    app = behind(server=f"BodyTimeout 1\n{rate}")
    with Uploads(app.server, random.Random(1)) as uploads:
        one = uploads.begin(Upload(app.base + "/count", bytes(200_000)))
        while one.sent < 60_000:
            uploads.send(1)
        uploads.read_until(lambda: one.is_over)
        assert one.status == 408


def test_a_body_below_minrate_is_answered_408(behind):
    """As a whole: each piece is in time."""
    app = behind(server="BodyTimeout 3\nMinRate 1M")
    with Uploads(app.server, random.Random(1)) as uploads:
        one = uploads.begin(Upload(app.base + "/count", bytes(2_000_000)))
        deadline = time.monotonic() + PATIENCE
        while not one.is_over and time.monotonic() < deadline:
            uploads.send(1, 10_000)
            if uploads.has_input(0.2):
                uploads.receive()
        assert one.status == 408


# ---- many at once ----

def test_streams_that_nobody_reads_leave_others_their_window(behind):
    """RFC 9113 5.2.2: eight bodies of 1 MB for two places; none is called slow while it may not send"""
    app = behind(places=2, server="BodyTimeout 4")
    with Uploads(app.server, random.Random(1)) as uploads:
        for _ in range(8):
            uploads.begin(Upload(app.base + "/count", bytes(1_000_000)))
        uploads.run()
        assert [(one.status, one.answer) for one in uploads.streams.values()] == [(200, b"1000000 1000000")] * 8


def test_a_window_that_nobody_empties_stays_as_it_is(behind):
    """A body waits for its place: what it may send meanwhile is StreamWindow, whatever the connection has."""
    app = behind(places=1, buffering="auto")
    with Uploads(app.server, random.Random(1)) as uploads:
        first, second = (uploads.begin(Upload(app.base + "/count", bytes(3_000_000))) for _ in range(2))
        while first.sent < 40_000:
            uploads.send(1)
        assert eventually(lambda: app.begun() == 1)
        while second.sent < 65536:
            if not uploads.send(3):
                uploads.receive()
        uploads.client.send(frame(PING, 0, 0, bytes(8)))
        uploads.read_until(lambda: PING in uploads.seen)  # what the server gives back for these bytes has come before
        while uploads.send(3):
            pass
        assert 65536 <= second.sent <= 4 * 65536
        uploads.run()
        assert (first.status, second.status) == (200, 200)


SEEDS = [1, 2, 3, seeded.of_this_run()]


def schedule(chance, paths):
    for _ in range(chance.randint(8, 30)):
        size = chance.choice((1, 1000, 40_000, 70_000, 300_000))
        least, most = chance.choice(((1, 16384), (8000, 16384), (500, 4000)))
        yield Upload(chance.choice(paths), body(chance, size), announced=chance.random() < 0.7, pieces=(least, most))


@pytest.mark.parametrize("seed", SEEDS)
def test_random_uploads_side_by_side(behind, seed):
    chance = random.Random(seed)
    app = behind(places=chance.randint(1, 4), buffering=chance.choice(("auto", "on", "off")), server="BodyTimeout 10")
    with Uploads(app.server, chance) as uploads:
        for one in schedule(chance, [app.base + "/echo", app.base + "/count"]):
            uploads.begin(one)
        uploads.run()
        for one in uploads.streams.values():
            assert one.status == 200, one
            if one.path.endswith("/echo"):
                assert hashlib.md5(one.answer).digest() == hashlib.md5(one.body).digest(), one
            else:
                assert one.answer.split()[0] == b"%d" % len(one.body), one


@pytest.mark.parametrize("seed", SEEDS)
def test_random_uploads_to_the_servers_own_handlers(start, seed):
    """The echo of tests, which reads as bytes come, and a file, that reads nothing and answers at once."""
    if not executable.plugin("http2"):
        pytest.skip("this build has no such plugin")
    chance = random.Random(seed)
    server = start(server="Listen 127.0.0.1:0 h2\nBodyTimeout 10", handlers="Match ^/echo echo", files={"a.txt": "a"},
                   extra={"plugins.load": section("PLUGINS", f"Load {executable.plugin('http2')}")})
    with Uploads(server, chance) as uploads:
        for _ in range(chance.randint(20, 60)):
            path = chance.choice(("/echo", "/a.txt"))
            uploads.begin(Upload(path, body(chance, chance.choice((1, 5000, 70_000, 300_000))), announced=chance.random() < 0.7))
        uploads.run()
        for one in uploads.streams.values():
            assert one.status == (200 if one.path == "/echo" else 405), one
            assert one.path != "/echo" or one.answer.endswith(one.body), one


SERVICE = """
#include "webservice.h"
DUDA_REGISTER("tests", "uploads");
static void tell(duda_request_t *dr, long long bytes)
{
    response->send(dr, 200, "text/plain", "%lld", bytes);
}
static void whole(duda_request_t *dr)
{
    size_t len = 0;

    request->body(dr, &len);
    tell(dr, (long long)len);
}
static int count(duda_request_t *dr, const struct duda_part *part, const char *bytes, size_t length, void *arg)
{
    *(long long *)arg += (long long)length;
    return 0;
}
static void counted(duda_request_t *dr, int error, void *arg)
{
    tell(dr, error ? -1 : *(long long *)arg);
}
static void pieces(duda_request_t *dr)
{
    static const struct duda_receiver counter = {.data = count, .done = counted};
    long long *bytes = mem->alloc_z(sizeof(*bytes));

    gc->add(dr, bytes);
    request->read(dr, &counter, bytes);
}
int duda_main()
{
    router->post("/whole", whole);
    router->early("POST", "/pieces", pieces);
    return 0;
}
"""


@pytest.mark.parametrize("seed", SEEDS)
def test_random_uploads_to_a_service(start, tmp_path, seed):
    """Bodies that are gathered, and bodies that are read as they come."""
    if not executable.plugin("http2"):
        pytest.skip("this build has no such plugin")
    chance = random.Random(seed)
    duda.build(tmp_path, SERVICE, name="uploads", level=3)
    config = duda.config(tmp_path, "uploads", server="Listen 127.0.0.1:0 h2\nBodyTimeout 10")
    config["extra"]["plugins.load"] += f"    Load {executable.plugin('http2')}\n"
    with Uploads(start(**config), chance) as uploads:
        for one in schedule(chance, [f"/uploads/{kind}" for kind in ("whole", "pieces")]):
            uploads.begin(one)
        uploads.run()
        for one in uploads.streams.values():
            assert (one.status, one.answer) == (200, b"%d" % len(one.body)), one
