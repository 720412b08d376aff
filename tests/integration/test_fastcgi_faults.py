# SPDX-License-Identifier: Apache-2.0
"""FastCGI applications that misbehave: the client is told the truth, and the next one is served."""

import os
import re
import signal
import socket
import threading
import time

import pytest

from harness import fastcgi, http
from harness.client import PATIENCE, eventually, free_port
from harness.config import section

HEAD = b"Content-Type: text/plain\r\n\r\n"
WHOLE = fastcgi.record(fastcgi.STDOUT, HEAD + b"well") + fastcgi.end_record()


def serve(start, application, keep="on", **kwargs):
    return start(**fastcgi.config(application, location=f"Mount /\nKeepAlive {keep}", **kwargs))


def misbehaving(misbehave):
    """An application that misbehaves when asked for /bad, and is well otherwise."""
    def answer(call):
        call.body()
        if call.params.get("PATH_INFO") == "/bad":
            misbehave(call)
        else:
            call.ended = True
            call.raw(WHOLE)

    return fastcgi.Application(answer)


def raw_and_close(data):
    def misbehave(call):
        call.raw(data)
        call.close()

    return misbehave


def raw_and_stay(data):
    def misbehave(call):
        call.raw(data)
        call.ended = True

    return misbehave


def stdout(data, **kwargs):
    return fastcgi.record(fastcgi.STDOUT, data, **kwargs)


BEFORE_A_HEAD = {
    "closed at once": raw_and_close(b""),
    "closed within a record": raw_and_close(stdout(HEAD)[:5]),
    "closed within the head": raw_and_close(stdout(b"Content-Type: te")),
    "nothing said": raw_and_stay(fastcgi.end_record()),
    "nothing said but of failure": raw_and_stay(fastcgi.end_record(app_status=1)),
    "the end of nothing": raw_and_stay(stdout(b"") + fastcgi.end_record()),
    "only complaints": raw_and_stay(fastcgi.record(fastcgi.STDERR, b"no\n") + fastcgi.end_record()),
    "HTTP": raw_and_stay(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
    "noise": raw_and_stay(bytes(range(255, 0, -1)) * 100),
    "another version": raw_and_stay(stdout(HEAD, version=2)),
    "another request": raw_and_stay(stdout(HEAD, request=2) + fastcgi.end_record()),
    "a management record": raw_and_stay(fastcgi.record(10, b"", request=0)),
    "a wrong role": raw_and_stay(fastcgi.end_record(protocol_status=3)),
    "no head": raw_and_stay(stdout(b"just text, and more of it\n" * 10) + fastcgi.end_record()),
    "a head with a folded line": raw_and_stay(stdout(b"A: b\r\n c\r\n\r\n") + fastcgi.end_record()),
    "a head with framing": raw_and_stay(stdout(b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n") + fastcgi.end_record()),
    "a head with a NUL": raw_and_stay(stdout(b"A: b\0c\r\n\r\n") + fastcgi.end_record()),
    "a huge head": raw_and_stay(stdout(b"A: " + b"b" * 60_000) + stdout(b"b" * 10_000) + fastcgi.end_record()),
    "many fields": raw_and_stay(stdout(b"A: b\r\n" * 300 + b"\r\n") + fastcgi.end_record()),
    "an invalid status": raw_and_stay(stdout(b"Status: 999\r\n\r\n") + fastcgi.end_record()),
}


@pytest.mark.parametrize("name", BEFORE_A_HEAD)
def test_no_answer_is_a_502(start, name):
    with misbehaving(BEFORE_A_HEAD[name]) as application:
        server = serve(start, application)
        with server.connect() as connection:
            for _ in range(3):
                assert connection.request("/good").body == b"well"
                assert connection.request("/bad").status == 502
            assert connection.request("/good").body == b"well"
        assert eventually(lambda: application.open <= 1)


@pytest.mark.parametrize("minor", [0, 1])
@pytest.mark.parametrize("head", [HEAD, b"Content-Length: 1000\r\n\r\n"], ids=["unknown", "length"])
@pytest.mark.parametrize("death", [
    raw_and_close(b""),
    raw_and_close(stdout(b"more")[:9]),
    raw_and_stay(stdout(b"x", request=3)),
    raw_and_stay(fastcgi.end_record(protocol_status=2)),
], ids=["close", "within a record", "garbage", "refused"])
def test_an_answer_that_breaks_off_is_seen_as_such(start, death, head, minor):
    def die(call):
        call.out(head + b"some of it")
        time.sleep(0.05)
        death(call)

    with misbehaving(die) as application:
        server = serve(start, application)
        with server.connect() as connection:
            connection.send(f"GET /bad HTTP/1.{minor}\r\nHost: a\r\n\r\n")
            connection.sock.settimeout(30)
            seen, cut = b"", None
            try:
                while piece := connection.sock.recv(65536):
                    seen += piece
            except ConnectionResetError as reset:
                cut = reset
        assert seen.startswith(b"HTTP/1.1 200") and b"some of it" in seen
        assert not seen.endswith(b"\r\n0\r\n\r\n")
        if minor == 0 and head == HEAD:  # only a reset tells that it is not complete
            assert cut
        assert server.get("/good").body == b"well"


def test_more_than_was_promised_is_not_sent(start):
    with misbehaving(raw_and_stay(stdout(b"Content-Length: 3\r\n\r\nabcdef") + fastcgi.end_record())) as application:
        server = serve(start, application)
        with server.connect() as connection:
            for _ in range(3):
                assert connection.request("/bad").body == b"abc"
                assert connection.request("/good").body == b"well"


def test_something_behind_the_end_is_nobodys(start):
    stray = stdout(HEAD + b"somebody else's") + fastcgi.end_record()
    with misbehaving(raw_and_stay(WHOLE + stray)) as application:
        server = serve(start, application)
        with server.connect() as connection:
            for _ in range(3):
                assert connection.request("/bad").body == b"well"
                assert connection.request("/good").body == b"well"


def test_something_late_behind_the_end_is_nobodys(start):
    def later(call):
        call.ended = True
        call.raw(WHOLE)
        time.sleep(0.05)
        call.raw(stdout(HEAD + b"somebody else's") + fastcgi.end_record())

    with misbehaving(later) as application:
        server = serve(start, application)
        with server.connect() as connection:
            for pause in (0, 0.2):
                assert connection.request("/bad").body == b"well"
                time.sleep(pause)
                assert connection.request("/good").status in (200, 502)
            assert connection.request("/good").body == b"well"


@pytest.mark.parametrize("data", [
    WHOLE,
    stdout(HEAD[:7], padding=3) + stdout(HEAD[7:] + b"we", padding=8) + fastcgi.record(fastcgi.STDERR, b"x")
    + stdout(b"ll") + stdout(b"") + fastcgi.end_record(padding=8),
])
def test_an_answer_byte_by_byte(start, data):
    def drip(call):
        call.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for at in range(len(data)):
            call.raw(data[at:at + 1])
            time.sleep(0.001)
        call.ended = True

    with misbehaving(drip) as application:
        server = serve(start, application)
        with server.connect() as connection:
            for _ in range(3):
                assert connection.request("/bad").body == b"well"
        assert application.accepted == 1


def test_the_end_of_output_without_an_end_of_the_request(start):
    """The application said that this is all of it."""
    with misbehaving(raw_and_close(stdout(HEAD + b"all") + stdout(b""))) as application:
        server = serve(start, application)
        assert server.get("/bad").body == b"all"


def test_overloaded_is_a_503(start):
    with misbehaving(raw_and_stay(fastcgi.end_record(protocol_status=2))) as application:
        answer = serve(start, application).get("/bad")
        assert (answer.status, answer.header("Retry-After")) == (503, "1")


def test_complaints_are_logged_escaped_and_bounded(start):
    def complain(call):
        call.err(b'PHP Warning: "quoted" \x1b[31m\r\nconn=1 forged=')
        call.err(b"yes\n" + b"flood\n" * 10000)
        call.err(b"z" * 60000)
        call.ended = True
        call.raw(WHOLE)

    with misbehaving(complain) as application:
        server = serve(start, application)
        assert server.get("/bad").body == b"well"
        log = server.wait_for_log(r"fastcgi stderr .*PHP Warning.*").string
    assert r'text="PHP Warning: \"quoted\" \x1b[31m"' in log
    assert "forged=yes" in log and "\nconn=1" not in log
    assert 5 < log.count("fastcgi stderr") <= 33
    assert len(log) < 30000


def test_a_flood_of_complaints_harms_no_other(start):
    done = threading.Event()

    def flood(call):
        deadline = time.monotonic() + 2 * PATIENCE
        while not done.is_set() and time.monotonic() < deadline:
            call.err(b"y" * 65000)
        call.ended = True
        call.raw(WHOLE)

    with misbehaving(flood) as application:
        server = serve(start, application)
        with server.connect() as connection:
            connection.send(http.request("/bad"))
            try:
                for _ in range(20):
                    assert server.get("/good").body == b"well"
            finally:
                done.set()
            assert connection.response().body == b"well"


def test_nobody_listens(start):
    port = free_port()
    application = type("Nobody", (), {"path": None, "port": port})
    server = serve(start, application)
    with server.connect() as connection:
        for _ in range(2):
            assert connection.request("/").status == 502
            assert connection.request("/", "POST", body=b"x").status == 502
    server.wait_for_log("fastcgi failed server=app0")


def test_a_silent_application_is_a_504(start):
    never = threading.Event()
    with misbehaving(lambda call: fastcgi.sleep_until(never, 2 * PATIENCE)) as application:
        server = serve(start, application, server="ReadTimeout 300ms")
        began = time.monotonic()
        assert server.get("/bad").status == 504
        assert 0.2 < time.monotonic() - began < PATIENCE
        assert server.get("/good").body == b"well"
        never.set()


def test_silence_within_the_head_is_a_504(start):
    never = threading.Event()

    def stop_short(call):
        call.out(b"Content-Type: ")
        fastcgi.sleep_until(never, 5)
        call.close()

    with misbehaving(stop_short) as application:
        server = serve(start, application, server="ReadTimeout 300ms")
        assert server.get("/bad").status == 504
        never.set()


def test_silence_within_the_body_breaks_it_off(start):
    never = threading.Event()

    def stop_short(call):
        call.out(HEAD + b"some of it")
        fastcgi.sleep_until(never, 5)
        call.close()

    with misbehaving(stop_short) as application:
        server = serve(start, application, server="ReadTimeout 300ms")
        with server.connect() as connection:
            connection.send(http.request("/bad"))
            assert http.is_cut_off(connection.rest_until_cut())
        never.set()


def test_work_that_takes_longer_than_a_read_is_not_cut(start):
    def drip(call):
        call.out(HEAD)
        for _ in range(10):
            call.out(b".")
            time.sleep(0.1)
        call.end()

    with misbehaving(drip) as application:
        server = serve(start, application, server="ReadTimeout 500ms")
        assert server.get("/bad").body == b"." * 10


def test_a_slow_reader_is_not_the_applications_fault(start):
    def answer(call):
        call.out(HEAD)
        for _ in range(200):
            call.out(b"z" * 50000)
        call.end()

    with misbehaving(answer) as application:
        server = serve(start, application, server="ReadTimeout 300ms")
        with server.connect(receive_buffer=4096) as connection:
            connection.send(http.request("/bad"))
            time.sleep(1)
            assert len(connection.response().body) == 200 * 50000


def test_a_slow_sender_is_not_the_applications_fault(start):
    def answer(call):
        call.answer(str(len(call.body())).encode())

    with fastcgi.Application(answer) as application:
        server = serve(start, application, server="ReadTimeout 300ms")
        with server.connect() as connection:
            connection.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 300000\r\n\r\n")
            for _ in range(6):
                connection.send(b"x" * 50000)
                time.sleep(0.2)
            assert connection.response("POST").body == b"300000"


def test_a_slow_reader_that_still_sends_is_not_the_applications_fault(start):
    """The application has no room for the body, because its own output does not go on."""
    size, piece = 20 << 20, b"x" * 65536

    def answer(call):
        body = call.pieces()

        def read_some():
            for _, _ in zip(range(30), body):
                time.sleep(0.02)

        reader = threading.Thread(target=read_some)
        reader.start()
        call.out(HEAD + piece * 160)
        reader.join()
        for _ in body:
            pass
        call.end()

    with fastcgi.Application(answer) as application:
        server = start(**fastcgi.config(application, server="ReadTimeout 2"), server="MaxBodySize 100M")
        with server.connect(receive_buffer=4096) as connection:
            def upload():
                connection.send(f"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {size}\r\n\r\n")
                for _ in range(size // len(piece)):
                    connection.send(piece)

            sender = threading.Thread(target=upload)
            sender.start()
            time.sleep(3)
            assert len(connection.response("POST").body) == 160 * len(piece)
            sender.join()


def test_sleep_of_the_server_is_not_the_applications_fault(start):
    """A machine that is too busy to run the server: what the application has given meanwhile counts."""
    def drip(call):
        call.out(HEAD)
        for _ in range(9):
            call.out(b".")
            time.sleep(0.4)
        call.end()

    with misbehaving(drip) as application:
        server = serve(start, application, server="ReadTimeout 1")
        with server.connect() as connection:
            connection.send(http.request("/bad"))
            time.sleep(0.5)
            os.kill(server.pid, signal.SIGSTOP)
            time.sleep(1.5)
            os.kill(server.pid, signal.SIGCONT)
            assert connection.response().body == b"." * 9


def test_a_client_that_leaves_ends_its_request_alone(start):
    began, ended = threading.Event(), threading.Event()

    def wait(call):
        began.set()
        call.sock.settimeout(30)
        if not call.sock.recv(1):
            ended.set()
        call.close()

    with misbehaving(wait) as application:
        server = serve(start, application)
        with server.connect() as other:
            assert other.request("/good").body == b"well"
            with server.connect() as connection:
                connection.send(http.request("/bad"))
                assert began.wait(30)
            assert ended.wait(30)
            assert other.request("/good").body == b"well"


def test_a_client_that_leaves_while_it_reads_ends_its_request(start):
    ended = threading.Event()

    def answer(call):
        try:
            call.out(HEAD)
            while True:
                call.out(b"z" * 60000)
        except OSError:
            ended.set()
            raise

    with misbehaving(answer) as application:
        server = serve(start, application)
        with server.connect() as connection:
            connection.send(http.request("/bad"))
            connection.sock.recv(10000)
        assert ended.wait(30)
        assert server.get("/good").body == b"well"


def test_a_client_that_leaves_while_it_waits_in_the_queue(start):
    go = threading.Event()
    with misbehaving(lambda call: (fastcgi.sleep_until(go), call.raw(WHOLE), setattr(call, "ended", True))) as application:
        server = serve(start, application, server="MaxConnections 1")
        with server.connect() as first:
            first.send(http.request("/bad"))
            assert eventually(lambda: application.requests == 1)
            for _ in range(5):
                with server.connect() as connection:
                    connection.send(http.request("/bad"))
                    time.sleep(0.05)
            go.set()
            assert first.response().body == b"well"
        assert server.get("/good").body == b"well"
        assert application.requests == 2


def test_an_early_answer_while_the_client_still_sends(start):
    def answer(call):
        call.ended = True
        call.raw(stdout(HEAD + b"no thanks") + fastcgi.end_record())
        time.sleep(0.2)
        call.close()

    with fastcgi.Application(answer) as application:
        server = serve(start, application)
        with server.connect() as connection:
            connection.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2000000\r\n\r\n" + "x" * 100000)
            assert connection.response("POST").body == b"no thanks"
        assert server.get("/").body == b"no thanks"


def test_an_application_that_ends_within_the_upload(start):
    def answer(call):
        next(call.pieces())
        call.close()

    with fastcgi.Application(answer) as application:
        server = serve(start, application)
        with server.connect() as connection:
            connection.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2000000\r\n\r\n" + "x" * 100000)
            assert connection.response("POST").status == 502


def test_a_client_that_breaks_off_its_upload(start):
    ended = threading.Event()

    def answer(call):
        try:
            call.body()
        except (fastcgi.Ended, OSError):
            ended.set()
            raise

    with fastcgi.Application(answer) as application:
        server = serve(start, application)
        with server.connect() as connection:
            connection.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2000000\r\n\r\n" + "x" * 300000)
            assert eventually(lambda: application.requests or application.open)
        assert ended.wait(30)


@pytest.mark.parametrize("body", [b"zz\r\n", b"5\r\nhelloXX"], ids=["size", "end"])
def test_a_chunked_body_that_is_none(start, body):
    with fastcgi.Application(lambda call: call.answer()) as application:
        server = serve(start, application)
        with server.connect() as connection:
            connection.send(b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + body)
            assert connection.response("POST").status == 400
        assert application.requests == 0


def test_a_chunked_body_above_the_limit(start):
    with fastcgi.Application(lambda call: call.answer()) as application:
        config = fastcgi.config(application)
        server = start(**config, server="MaxBodySize 10K")
        with server.connect() as connection:
            connection.send(b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                            + b"4000\r\n" + b"x" * 0x4000 + b"\r\n")
            assert connection.response("POST").status == 413
        assert application.requests == 0


def test_one_that_gives_up_on_a_slow_upload_is_not_at_fault(start):
    def answer(call):
        if call.params["REQUEST_METHOD"] != "POST":
            return call.answer(b"well")
        next(call.pieces())
        time.sleep(0.2)
        return call.close()

    with fastcgi.Application(answer) as one, fastcgi.Application(answer) as two:
        server = start(**fastcgi.config(one, two, location="Mount /\nKeepAlive on"))
        for _ in range(3):
            with server.connect() as client:
                client.send(http.request("/", "POST", headers=[("Content-Length", "1000000")]) + b"x" * 100_000)
                assert client.response().status == 502
        assert "server offline" not in server.log()
        assert server.get("/").text == "well"


@pytest.mark.parametrize("where, why", [
    ("ServerPath {tmp}/none.sock", r"{tmp}/none\.sock: No such file or directory"),
    ("ServerPath {tmp}/plain", r"{tmp}/plain: Connection refused"),
    ("ServerAddr 127.0.0.1:{port}", r"127\.0\.0\.1:{port}: Connection refused"),
    ("ServerAddr localhost:{port}", r"localhost:{port} \((127\.0\.0\.1|::1)\): Connection refused"),
])
def test_what_cannot_be_reached_is_named_in_both_logs(start, tmp_path, where, why):
    port = free_port()
    (tmp_path / "plain").write_text("")
    server_section = section("FASTCGI_SERVER", f"ServerName app\n{where.format(tmp=tmp_path, port=port)}")
    server = start(site=section("LOGGER", "ErrorLog site.log"), extra={
        "plugins.load": section("PLUGINS", "Load fastcgi\nLoad logger"),
        "plugins/logger/logger.conf": section("LOGGER", "FlushTimeout 0"),
        "plugins/fastcgi/a.conf": server_section + section("FASTCGI_LOCATION", "Mount /\nMatch ^/")})
    assert server.get("/").status == 502
    why = why.format(tmp=re.escape(str(tmp_path)), port=port)
    assert re.search(rf'fastcgi failed server=app why="{why}" url="/"', server.log()), server.log()
    log = server.conf / "site.log"
    assert eventually(lambda: log.exists() and re.search(rf'status=502 reason="{why}"', log.read_text())), server.log()
