# SPDX-License-Identifier: Apache-2.0
"""The plugin trace: ids of requests and traces for logs, backends and clients."""

import json
import re
import time

import pytest

from harness import cgi, fastcgi
from harness.backend import Backend, configured
from harness.client import eventually
from harness.config import Config, section
from harness.executable import plugin
from harness.http2 import Frames
from harness.logs import lines_of, wait_for_lines
from harness.process import run

MADE = r"0[0-7][0-9A-HJKMNP-TV-Z]{24}"
TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
PARENT = f"00-{TRACE}-{SPAN}-01"
TRUSTED = "TrustedProxies 127.0.0.1"


def traced(settings="", extra=None, site="", **config):
    """What start() is to be given for a site with the plugin, and a log of the ids."""
    load = (extra or {}).get("plugins.load", "[PLUGINS]\n")
    return dict(config, site=section("TRACE", settings) + section("LOGGER", "AccessLog access.log\nErrorLog error.log") + site, extra={
        "plugins/logger/logger.conf": section("LOGGER", "FlushTimeout 0\n"
                                              "Format json status request_id trace_id span_id parent_id"),
        **(extra or {}),
        "plugins.load": load + f"    Load logger\n    Load {plugin('trace')}\n"})


def entries(server, count=1):
    return [json.loads(line) for line in wait_for_lines(server.conf / "access.log", count)]


def seen_by_backend(start, headers, settings="", server="", entry=""):
    """The fields of a request that a backend of the proxy got, and the line in the log."""
    with Backend(each=lambda c, q: c.answer(b"")) as backend:
        config = configured(entry, backend)
        running = start(**traced(settings, server=server, extra=config["extra"]))
        assert running.get("/", headers=headers).status == 200
        return backend.requests[0], entries(running)[0]


def test_each_request_has_an_id(start):
    server = start(**traced())
    for _ in range(100):
        server.get("/none", headers={"X-Request-ID": "mine"})
    ids = [entry["request_id"] for entry in entries(server, 100)]
    assert len(set(ids)) == 100 and all(re.fullmatch(MADE, name) for name in ids)
    assert all(f'request_id="{name}"' in line for name, line in zip(ids, sorted(
        lines_of(server.conf / "error.log"), key=lambda line: ids.index(re.search(f"{MADE}", line)[0]))))


def test_ids_sort_by_time(start):
    server = start(**traced(server="Workers 1"))
    with server.connect() as connection:
        for _ in range(50):
            connection.request("/none")
    ids = [entry["request_id"] for entry in entries(server, 50)]
    assert ids == sorted(ids)
    digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
    began = sum(digits.index(digit) << 5 * (9 - at) for at, digit in enumerate(ids[0][:10])) / 1000
    assert abs(began - time.time()) < 600


@pytest.mark.parametrize("server, sent, taken", [
    (TRUSTED, "by-a-proxy/1", True),
    ("", "by-a-client", False),
    (TRUSTED, "no spaces", False),
    (TRUSTED, 'no"quotes', False),
    (TRUSTED, "<b>", False),
    (TRUSTED, "a" * 128, True),
    (TRUSTED, "a" * 129, False),
])
def test_whose_ids_are_taken(start, server, sent, taken):
    request, entry = seen_by_backend(start, {"X-Request-ID": sent}, server=server)
    assert request.header("X-Request-ID") == entry["request_id"]
    assert (entry["request_id"] == sent) == taken
    assert taken or re.fullmatch(MADE, entry["request_id"])


def test_two_ids_are_none(start):
    server = start(**traced(server=TRUSTED))
    server.raw_until_cut(b"GET / HTTP/1.1\r\nHost: a\r\nX-Request-ID: a\r\nX-Request-ID: b\r\nConnection: close\r\n\r\n")
    assert re.fullmatch(MADE, entries(server)[0]["request_id"])


def test_fields_that_programs_take_for_it_do_not_pass(start):
    request, entry = seen_by_backend(start, {"X_Request_ID": "evil", "Connection": "X-Request-ID"})
    assert request.all("X_Request_ID") == []
    assert request.header("X-Request-ID") == entry["request_id"]


def test_setheader_of_the_proxy_has_the_last_word(start):
    request, _ = seen_by_backend(start, {}, entry="SetHeader X-Request-ID other")
    assert request.header("X-Request-ID") == "other"


def test_another_field(start):
    request, entry = seen_by_backend(start, {"Correlation-Id": "c1"}, "IdField Correlation-Id", TRUSTED)
    assert request.header("Correlation-Id") == entry["request_id"] == "c1"
    assert request.all("X-Request-ID") == []


def test_a_trace_begins_here(start):
    request, entry = seen_by_backend(start, {"traceparent": PARENT, "tracestate": "a=1"})
    assert request.header("traceparent") == f"00-{entry['trace_id']}-{entry['span_id']}-01"
    assert entry["trace_id"] != TRACE and entry["parent_id"] is None
    assert request.all("tracestate") == []


def test_a_trace_begins_unsampled(start):
    request, _ = seen_by_backend(start, {}, "Sampled off")
    assert request.header("traceparent").endswith("-00")


@pytest.mark.parametrize("settings, server", [("", TRUSTED), ("TraceParent any", "")])
def test_a_trace_goes_on(start, settings, server):
    request, entry = seen_by_backend(start, {"traceparent": PARENT, "tracestate": "a=1"}, settings, server)
    assert (entry["trace_id"], entry["parent_id"]) == (TRACE, SPAN)
    assert request.header("traceparent") == f"00-{TRACE}-{entry['span_id']}-01" != PARENT
    assert request.header("tracestate") == "a=1"


def test_a_trace_that_is_none_begins_anew(start):
    request, entry = seen_by_backend(start, {"traceparent": PARENT.upper(), "tracestate": "a=1"}, server=TRUSTED)
    assert entry["trace_id"] not in (TRACE, TRACE.upper()) and request.all("tracestate") == []


def test_what_is_off_is_left_alone(start):
    fields = {"X-Request-ID": "x", "traceparent": "y", "tracestate": "z"}
    request, entry = seen_by_backend(start, fields, "RequestId off\nTraceParent off")
    assert {name: request.header(name) for name in fields} == fields
    assert entry == {"status": 200, "request_id": None, "trace_id": None, "span_id": None, "parent_id": None}


def test_fastcgi_gets_them(start):
    with fastcgi.Application(lambda call: call.answer(json.dumps(call.params).encode())) as application:
        config = fastcgi.config(application)
        server = start(**traced(extra=config["extra"], handlers=config["handlers"]))
        seen = json.loads(server.get("/", headers={"X-Request-ID": "x"}).body)
    entry = entries(server)[0]
    assert seen["HTTP_X_REQUEST_ID"] == entry["request_id"]
    assert seen["HTTP_TRACEPARENT"] == f"00-{entry['trace_id']}-{entry['span_id']}-01"


def test_scripts_get_them(start):
    script = "#!/bin/sh\necho 'Content-Type: text/plain'\necho\nexec env\n"
    config = traced()
    config["extra"]["plugins.load"] += f"    Load {plugin('cgi')}\n"
    server = cgi.start_site(start, {"env": script}, **config)
    seen = dict(line.split("=", 1) for line in server.get("/cgi-bin/env").body.decode().splitlines())
    assert seen["HTTP_X_REQUEST_ID"] == entries(server)[0]["request_id"]


def test_clients_get_it(start):
    server = start(**traced("ReturnId on", files={"a.txt": "hello"}))
    assert server.get("/a.txt").header("X-Request-ID") == entries(server)[0]["request_id"]
    part = server.get("/a.txt", headers={"Range": "bytes=1-2"})
    assert (part.status, part.body) == (206, b"el")
    assert server.raw_until_cut(b"GET /a b HTTP/1.1\r\n\r\n").count(b"X-Request-ID: ") == 1  # refused before it had a path
    assert [entry["request_id"] is None for entry in entries(server, 3)] == [False] * 3


def test_clients_do_not_get_it_unasked(start):
    server = start(**traced(files={"a.txt": "hello"}))
    assert server.get("/a.txt").header("X-Request-ID") is None


def test_error_pages_have_it(start):
    server = start(**traced(error_pages="403 /own.html", files={"own.html": "<b>$request_id</b>", "a.html": "$request_id"}))
    page = server.get("/none")
    assert page.body.endswith(f"<p><code>{entries(server)[0]['request_id']}</code></p>\n".encode())
    assert server.get("/.hidden").body == f"<b>{entries(server, 2)[1]['request_id']}</b>".encode()
    assert server.get("/a.html").body == b"$request_id"


@pytest.mark.parametrize("sent, status", [
    (b"GET /a b HTTP/1.1\r\n\r\n", 400),
    (b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", 414),
    (b"GET / HTTP/9.1\r\n\r\n", 505),
    (b"GET / HTTP/1.1\r\n\r\n", 400),
])
def test_pages_of_heads_that_are_refused_have_it(start, sent, status):
    server = start(**traced())
    answer = server.raw_until_cut(sent)
    entry = entries(server)[0]
    assert entry["status"] == status and answer.startswith(f"HTTP/1.1 {status} ".encode())
    assert f"<p><code>{entry['request_id']}</code></p>\n".encode() in answer


def test_error_pages_over_http2_have_it(start):
    if not plugin("http2"):
        pytest.skip("this build has no such plugin")
    server = start(**traced(server="Listen 127.0.0.1:0 h2", extra={"plugins.load": f"[PLUGINS]\n    Load {plugin('http2')}\n"}))
    with Frames(("127.0.0.1", server.port)) as client:
        answers = []
        for stream, path in ((1, "/none"), (3, "/" + "a" * 9000)):
            client.send(client.head(stream, path))
            answers.append(client.answer(stream))
    ids = {entry["status"]: entry["request_id"] for entry in entries(server, 2)}
    for status, body in answers:
        assert body.endswith(f"<p><code>{ids[status]}</code></p>\n".encode())


def test_error_pages_without_it(start):
    server = start(**traced("ErrorPages off"))
    assert b"<code>" not in server.get("/none").body


def test_on_other_sites_it_does_nothing(start):
    config = traced("ReturnId on")
    config["site"] = config["site"].replace("[TRACE]", "[OTHER]")
    server = start(**{**config, "site": section("LOGGER", "AccessLog access.log")})
    assert server.get("/none").header("X-Request-ID") is None
    assert entries(server)[0]["request_id"] is None


def test_a_file_of_the_plugin_is_for_all_sites(start):
    config = traced()
    config["site"] = ""
    config["extra"]["plugins/trace/trace.conf"] = section("TRACE", "ReturnId on")
    server = start(**config)
    assert re.fullmatch(MADE, server.get("/none").header("X-Request-ID"))


@pytest.mark.parametrize("settings, sentence", [
    ("IdField X Request", "the name of a field such as X-Request-ID"),
    ("IdField Content-Length", "the name of a field such as X-Request-ID"),
    ("IdField Connection", "the name of a field such as X-Request-ID"),
    ("IdField " + "a" * 65, "the name of a field such as X-Request-ID"),
    ("TraceParent trust", "trusted"),
    ("ReturnID perhaps", "ReturnId"),
])
def test_faults(tmp_path, settings, sentence):
    written = Config(tmp_path)
    written.write(**traced(settings))
    done = run("--configdir", written.folder, "--test")
    assert done.returncode == 1
    assert "sites/default:" in done.stdout + done.stderr and sentence in done.stdout + done.stderr


def test_a_reload_keeps_going(start):
    server = start(**traced("ReturnId on"))
    assert server.get("/none").header("X-Request-ID")
    server.reload()
    assert eventually(lambda: re.fullmatch(MADE, server.get("/none").header("X-Request-ID")))


# ---- the variable


@pytest.mark.parametrize("status, target", [(200, "/a.txt"), (404, "/none"), (403, "/.hidden")])
def test_header_lines_have_the_id(start, status, target):
    server = start(**traced(host="Header X-Support id-$request_id", files={"a.txt": "a"}))
    answer = server.get(target)
    assert answer.status == status
    assert answer.header("X-Support") == f"id-{entries(server)[0]['request_id']}"


def test_without_the_plugin_the_id_is_empty(start):
    server = start(host="Header X-A $request_id\nHeader X-B b$request_id", files={"a.txt": "a"})
    answer = server.get("/a.txt")
    assert not answer.all("X-A") and answer.header("X-B") == "b"


def test_fields_for_backends_have_the_id(start):
    request, entry = seen_by_backend(start, [], entry="SetHeader X-Trace <$request_id>")
    assert request.header("X-Trace") == f"<{entry['request_id']}>"


def test_rules_have_the_id(start):
    if not plugin("rewrite"):
        pytest.skip("this build has no such plugin")
    config = traced(files={"a.txt": "a"}, site=section("REWRITE", "Redirect /old /a.txt?id=$request_id 302"))
    config["extra"]["plugins.load"] += f"    Load {plugin('rewrite')}\n"
    server = start(**config)
    location = server.get("/old").header("Location")
    assert location.endswith(f"/a.txt?id={entries(server)[0]['request_id']}")
