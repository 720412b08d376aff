# SPDX-License-Identifier: Apache-2.0
"""FastCGI: connections that are kept, how many there are, who waits, and which of several servers is asked."""

import threading
import time

import pytest

from harness import fastcgi, http
from harness.client import PATIENCE, Connection, eventually

SLOW = "Mount /\nKeepAlive on"


def config(*applications, keep="on", server="", **kwargs):
    return fastcgi.config(*applications, location=f"Mount /\nKeepAlive {keep}", server=server, **kwargs)


def ask_all(server, count, target="/"):
    """At the same time, each on a connection of its own."""
    answers, lock = [], threading.Lock()

    def ask():
        answer = server.get(target)
        with lock:
            answers.append(answer)

    threads = [threading.Thread(target=ask) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == count
    return answers


@pytest.mark.parametrize("keep", ["on", "off"])
def test_a_bound_over_all_workers(start, keep):
    running, lock, most = 0, threading.Lock(), 0

    def answer(call):
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.02)
        with lock:
            running -= 1
        call.answer(b"done")

    with fastcgi.Application(answer) as application:
        server = start(**config(application, keep=keep, server="MaxConnections 3"), server="Workers 4")
        assert all(answer.body == b"done" for answer in ask_all(server, 60))
        assert most == 3
        assert application.accepted < 60 or keep == "off"


def test_many_clients_and_tagged_bodies(start):
    """Nobody ever sees a byte that is another's, whatever the sizes and however the application cuts them."""
    def answer(call):
        tag, size = call.params["QUERY_STRING"].split("-")
        body = call.body()
        assert body == (tag * 10).encode() * int(call.params.get("CONTENT_LENGTH", 0)) or not body or \
            body == tag.encode() * (len(body) // len(tag))
        out = b"Content-Type: text/plain\r\n\r\n" + tag.encode() * int(size)
        step = 1 + int(size) % 5000
        if int(size) % 3 == 0:
            for at in range(0, len(out), max(step, 500)):
                call.out(out[at:at + max(step, 500)])
            call.end()
        else:
            call.answer(out[len(b"Content-Type: text/plain\r\n\r\n"):])

    wrong = []

    def client(server, number):
        try:
            with Connection(("127.0.0.1", server.port), timeout=30) as connection:
                for i in range(25):
                    tag, size = f"{number:03}{i:03}", (number * 31 + i * 977) % 9000
                    if i % 4 == 3:
                        answer = connection.request(f"/?{tag}-{size}", "POST", body=tag.encode() * (i * 100))
                    else:
                        answer = connection.request(f"/?{tag}-{size}")
                    if answer.status != 200 or answer.body != tag.encode() * size:
                        wrong.append((tag, size, answer.status, answer.body[:50]))
        except (OSError, AssertionError) as fault:
            wrong.append(repr(fault))

    with fastcgi.Application(answer) as one, fastcgi.Application(answer) as two:
        server = start(**config(one, two, server="MaxConnections 7\nMaxRequests 20"), server="Workers 3")
        threads = [threading.Thread(target=client, args=(server, number)) for number in range(24)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong
        assert one.requests > 100 and two.requests > 100


def test_requests_over_one_connection_are_counted(start):
    with fastcgi.Application(lambda call: call.answer()) as application:
        server = start(**config(application, server="MaxRequests 3"))
        with server.connect() as connection:
            for _ in range(9):
                assert connection.request("/").status == 200
        assert application.accepted == 3


def test_an_unused_connection_is_closed(start):
    with fastcgi.Application(lambda call: call.answer()) as application:
        server = start(**config(application, server="KeepAliveTimeout 300ms"))
        assert server.get("/").status == 200
        assert application.open == 1
        assert eventually(lambda: application.open == 0)
        assert server.get("/").status == 200


@pytest.mark.parametrize("lines", ["QueueTimeout 300ms", "QueueLength 0"])
def test_who_waits_in_vain_gets_503(start, lines):
    go = threading.Event()

    def answer(call):
        fastcgi.sleep_until(go)
        call.answer(b"done")

    with fastcgi.Application(answer) as application:
        server = start(**config(application, server=f"MaxConnections 1\n{lines}"))
        with server.connect() as first:
            first.send(http.request("/"))
            assert eventually(lambda: application.requests == 1)
            began = time.monotonic()
            refused = server.get("/")
            took = time.monotonic() - began
            go.set()
            assert (refused.status, refused.header("Retry-After")) == (503, "1")
            assert took < PATIENCE and (took > 0.2 or "Length" in lines)
            assert first.response().body == b"done"
        assert server.get("/").body == b"done"


def test_an_idle_connection_that_ended_is_replaced(start):
    with fastcgi.Application(lambda call: call.answer(call.body())) as application:
        server = start(**config(application))
        with server.connect() as connection:
            for i in range(6):
                method = "POST" if i % 2 else "GET"
                assert connection.request("/", method, body=b"x" if i % 2 else b"").status == 200
                application.drop_connections()
                assert eventually(lambda: application.open == 0)


def test_an_idle_connection_that_ends_under_a_request(start):
    """It is sent again over a new one if it may be; nothing is run twice that must not be."""
    lost = []

    def answer(call):
        body = call.body()
        if call.params["PATH_INFO"] == "/again" and call.params["REQUEST_METHOD"] not in lost:
            lost.append(call.params["REQUEST_METHOD"])
            call.close()
        call.answer(body)

    with fastcgi.Application(answer) as application:
        server = start(**config(application), server="Workers 1")
        with server.connect() as connection:
            for method, body in (("GET", b""), ("PUT", b"put"), ("POST", b"post")):
                assert connection.request("/").status == 200
                answer = connection.request("/again", method, body=body)
                assert answer.status == (502 if method == "POST" else 200)
                if method != "POST":
                    assert answer.body == body
        assert lost == ["GET", "PUT", "POST"]


def closing(call):
    call.body()
    call.close()


def named(name):
    return lambda call: call.answer(name)


def test_a_get_goes_to_another_server(start):
    with fastcgi.Application(closing) as bad, fastcgi.Application(named(b"good")) as good:
        server = start(**config(bad, good, server="OfflineTimeOut 0"))
        for _ in range(6):
            assert server.get("/").body == b"good"
        assert server.request("/", "PUT", body=b"x").body == b"good"
        assert bad.requests > 0


def test_a_gathered_body_is_sent_again(start):
    """Chunked, larger than any buffer: it is still in its file."""
    body = bytes(range(256)) * 2000

    def check(call):
        call.answer(b"good" if call.body() == body else b"wrong")

    with fastcgi.Application(closing) as bad, fastcgi.Application(check) as good:
        server = start(**config(bad, good, server="OfflineTimeOut 0"))
        for _ in range(4):
            with server.connect() as connection:
                connection.send(b"PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
                connection.send(b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body))
                assert connection.response("PUT").body == b"good"
        assert bad.requests > 0


def test_a_body_that_went_through_is_not_sent_again(start):
    with fastcgi.Application(closing) as bad, fastcgi.Application(named(b"good")) as good:
        server = start(**config(bad, good, server="OfflineTimeOut 0"))
        statuses = [server.request("/", "PUT", body=b"x" * 300000).status for _ in range(6)]
        assert statuses.count(502) == bad.requests > 0
        assert statuses.count(200) == good.requests > 0


def test_a_post_goes_to_no_other_server_once_it_was_sent(start):
    with fastcgi.Application(closing) as bad, fastcgi.Application(named(b"good")) as good:
        server = start(**config(bad, good, server="OfflineTimeOut 0"))
        statuses = [server.request("/", "POST", body=b"x").status for _ in range(6)]
        assert statuses.count(502) == bad.requests > 0
        assert statuses.count(200) == good.requests > 0


def test_what_cannot_be_reached_is_left_out(start):
    with fastcgi.Application(named(b"bad")) as bad, fastcgi.Application(named(b"good")) as good:
        bad.stop()
        server = start(**config(bad, good, server="OfflineTimeOut 1"), server="Workers 1\nLogLevel info")
        for i in range(10):
            answer = server.request("/", "POST" if i % 2 else "GET", body=b"x" * (i % 2))
            assert answer.body == b"good"
        assert len(server.log().split("fastcgi failed")) == 2
        server.wait_for_log("server offline server=app0")
        with fastcgi.Application(named(b"back"), port=bad.port):
            assert eventually(lambda: server.get("/").body == b"back", every=0.1)
            server.wait_for_log("server online server=app0")


def test_all_servers_are_down_and_one_comes_back(start):
    with fastcgi.Application(named(b"a")) as one, fastcgi.Application(named(b"b")) as two:
        one.stop()
        two.stop()
        server = start(**config(one, two, server="OfflineTimeOut 60"))
        assert server.get("/").status == 502
        with fastcgi.Application(named(b"back"), port=two.port):
            assert server.get("/").body == b"back"


def test_the_least_loaded_is_asked(start):
    go = threading.Event()

    def slow(call):
        fastcgi.sleep_until(go)
        call.answer(b"slow")

    with fastcgi.Application(slow) as one, fastcgi.Application(named(b"quick")) as two:
        server = start(**config(one, two))
        with server.connect() as first:
            while not one.requests:
                first.send(http.request("/"))
                if not eventually(lambda: one.requests, within=0.3):
                    assert first.response().body == b"quick"
            for _ in range(10):
                assert server.get("/").body == b"quick"
            go.set()
            assert first.response().body == b"slow"


def test_a_reload_keeps_connections_and_cuts_none(start):
    go = threading.Event()

    def answer(call):
        if call.params["PATH_INFO"] == "/slow":
            fastcgi.sleep_until(go)
        call.answer(b"done")

    with fastcgi.Application(answer) as application:
        settings = config(application, server="MaxConnections 4")
        server = start(**settings, server="Workers 1")
        with server.connect() as slow, server.connect() as other:
            assert other.request("/").body == b"done"
            slow.send(http.request("/slow"))
            assert eventually(lambda: application.requests == 2)
            before = application.accepted
            for _ in range(3):
                server.reload(**settings, server="Workers 1")
                assert other.request("/").body == b"done"
            assert application.accepted == before + 1  # beside the one that is in use
            server.reload(**config(application, server="MaxConnections 5"), server="Workers 1")
            assert server.get("/").body == b"done"
            go.set()
            assert slow.response().body == b"done"
        assert eventually(lambda: application.open == 1)  # of the pool in force


def test_a_reload_forgets_no_broken_server(start):
    with fastcgi.Application(named(b"bad")) as bad, fastcgi.Application(named(b"good")) as good:
        bad.stop()
        settings = config(bad, good, server="OfflineTimeOut 60")
        server = start(**settings, server="Workers 1")
        for _ in range(4):
            assert server.get("/").body == b"good"
        for bound in ("", "\nMaxConnections 5"):  # its connections may be others then
            server.reload(**config(bad, good, server=f"OfflineTimeOut 60{bound}"), server="Workers 1")
            for _ in range(4):
                assert server.get("/").body == b"good"
        assert len(server.log().split("fastcgi failed")) == 2


def test_a_server_that_stops_while_connections_are_kept(start):
    with fastcgi.Application(lambda call: call.answer()) as application:
        server = start(**config(application))
        ask_all(server, 10)
        server.stop()
        assert eventually(lambda: application.open == 0)
