# SPDX-License-Identifier: Apache-2.0
"""Error pages of a site that is proxied whole: they are files here, and scripts are still no pages."""

import pytest

from harness import config, executable
from harness.backend import Backend, proxy
from harness.client import free_port

PAGE = "<p>we are back soon"
SOURCE = "#!/bin/sh\necho secret\n"


def nowhere(more=""):
    return proxy(f"Name app\nMatch ^/\nServerList 127.0.0.1:{free_port()}\n{more}")


def test_a_maintenance_page(start):
    server = start(extra=nowhere(), files={"502.html": PAGE}, error_pages="502 /502.html")
    for method in ("GET", "POST"):
        answer = server.request("/any/thing", method)
        assert (answer.status, answer.text) == (502, PAGE)
        assert answer.header("Content-Type") == "text/html; charset=utf-8"
    answer = server.request("/", "HEAD")
    assert (answer.status, answer.header("Content-Length")) == (502, str(len(PAGE)))


def test_it_works_with_a_line_of_handlers(start):
    extra = proxy(f"Name app\nServerList 127.0.0.1:{free_port()}")
    server = start(extra=extra, handlers="Match ^/ proxy_reverse app", files={"502.html": PAGE}, error_pages="502 /502.html")
    assert server.get("/").text == PAGE


def test_answers_of_servers_stay_theirs(start):
    with Backend(each=lambda c, q: c.answer(b"mine", status="502 Bad Gateway")) as backend:
        server = start(extra=proxy(f"Match ^/\nServerList {backend.address}"), files={"502.html": PAGE},
                       error_pages="502 /502.html")
        answer = server.get("/502.html")
        assert (answer.status, answer.text) == (502, "mine")


def test_a_page_that_is_not_there(start):
    server = start(extra=nowhere(), error_pages="502 /502.html")
    assert "<h1>502" in server.get("/").text


@pytest.mark.parametrize("first", ["proxy", "script"])
@pytest.mark.parametrize("plugin", ["cgi", "fastcgi"])
def test_a_script_is_no_page(start, plugin, first):
    extra = nowhere()
    extra["plugins.load"] += f"    Load {executable.plugin(plugin)}\n"
    if plugin == "fastcgi":
        extra["plugins/fastcgi/fastcgi.conf"] = config.section("FASTCGI_SERVER", "ServerName a\nServerAddr 127.0.0.1:1")
    lines = ["Match ^/ proxy_reverse app", rf"Match \.sh$ {plugin}"]
    server = start(extra=extra, handlers="\n".join(lines if first == "proxy" else lines[::-1]),
                   files={"down.sh": SOURCE}, error_pages="502 /down.sh")
    answer = server.get("/any")
    assert answer.status == 502 and "secret" not in answer.text and "<h1>502" in answer.text
