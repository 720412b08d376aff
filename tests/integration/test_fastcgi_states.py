# SPDX-License-Identifier: Apache-2.0
"""What LogLevel trace says of a request that a FastCGI application answers."""

import threading

from harness import fastcgi, states
from harness.client import eventually


def serve(start, *applications, server="OfflineTimeOut 0", level="trace:plugin"):
    return start(**fastcgi.config(*applications, location="Mount /\nKeepAlive on", server=server),
                 server=f"LogLevel {level}\nWorkers 1")


def changes(server, of):
    return states.changes(server, "fastcgi", of)


def hello(call):
    call.answer(b"hello")


def test_a_request_without_a_body(start):
    with fastcgi.Application(hello) as application:
        server = serve(start, application)
        assert server.get("/").body == b"hello"
        eventually(lambda: changes(server, "exchange")[-1:] == ["over"])
        assert changes(server, "exchange") == ["gather", "connect", "send", "answer", "rest", "over"]
        assert changes(server, "records") == ["none", "all"]
        assert changes(server, "request") == ["ready", "part", "whole"]


def test_a_request_with_a_body(start):
    def answer(call):
        assert call.body() == b"hello"
        call.answer(b"ok")

    with fastcgi.Application(answer) as application:
        server = serve(start, application)
        assert server.request(method="POST", body=b"hello").body == b"ok"
        eventually(lambda: changes(server, "exchange")[-1:] == ["over"])
        assert changes(server, "records") == ["none", "head", "piece", "all"]
        assert changes(server, "request") == ["ready", "part", "whole"]


def test_a_server_that_fails_before_another_answers(start):
    def fail(call):
        call.close()

    with fastcgi.Application(fail) as bad, fastcgi.Application(hello) as good:
        server = serve(start, bad, good)
        assert server.get("/").body == b"hello"
        assert bad.requests == 1
        eventually(lambda: changes(server, "exchange")[-1:] == ["over"])
        log = server.log()
        assert "fastcgi state of=exchange was=send is=connect server=app1" in log
        assert 'fastcgi repeat rule="another backend may answer"' in log


def test_an_application_that_is_silent_for_too_long(start):
    done = threading.Event()
    with fastcgi.Application(lambda call: fastcgi.sleep_until(done)) as application:
        server = serve(start, application, server="OfflineTimeOut 0\nReadTimeout 1")
        assert server.get("/").status == 504
        done.set()
        eventually(lambda: changes(server, "exchange")[-1:] == ["over"])
        assert changes(server, "exchange") == ["gather", "connect", "send", "over"]
        assert changes(server, "time")[-1] == "out"


def test_nothing_is_said_at_other_levels(start):
    with fastcgi.Application(hello) as application:
        server = serve(start, application, level="debug")
        assert server.get("/").status == 200
        assert "fastcgi state" not in server.log()
