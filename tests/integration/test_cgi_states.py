# SPDX-License-Identifier: Apache-2.0
"""What LogLevel trace says of a request that a script answers."""

from harness import states
from harness.cgi import start_site
from harness.client import eventually

HEAD = "#!/bin/sh\necho 'Content-Type: text/plain'\necho\n"
SCRIPTS = {
    "hello": HEAD + "echo hello\n",
    "killed": HEAD + "echo half\nkill -9 $$\n",
    "silent": HEAD + "echo all\nexec 1>&- 2>&-\nexec sleep 60\n",
    "stuck": "#!/bin/sh\nexec sleep 60\n",
}


def serve(start, settings="", level="trace:plugin"):
    return start_site(start, SCRIPTS, settings, server=f"LogLevel {level}\nWorkers 1")


def changes(server, of):
    return states.changes(server, "cgi", of)


def test_a_script_that_ends(start):
    server = serve(start)
    assert server.get("/cgi-bin/hello").text == "hello\n"
    eventually(lambda: changes(server, "run")[-1:] == ["over"])
    run = changes(server, "run")
    assert run in (["gathers", "waits", "goes", "over"], ["gathers", "waits", "goes", "ends", "over"])
    assert changes(server, "output")[:2] == ["taken", "awaited"]
    assert changes(server, "output")[-1] == "ended"
    assert changes(server, "script") == ["lives", "ended"]


def test_a_script_that_is_killed(start):
    server = serve(start)
    with server.connect() as client:
        client.send("GET /cgi-bin/killed HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        client.stream.rest()
    eventually(lambda: changes(server, "script")[-1:] == ["lost"])
    assert changes(server, "script") == ["lives", "lost"]


def test_a_script_that_closes_its_output_and_lives_on(start):
    server = serve(start)
    assert server.get("/cgi-bin/silent").text == "all\n"
    assert changes(server, "output")[-2:] == ["ended", "silent"]
    assert changes(server, "script") == []


def test_a_script_that_says_nothing_for_too_long(start):
    server = serve(start, "Timeout 1")
    assert server.get("/cgi-bin/stuck").status == 504
    eventually(lambda: changes(server, "run")[-1:] == ["over"])
    assert changes(server, "run") == ["gathers", "waits", "goes", "ends", "over"]
    assert changes(server, "script") == ["lives", "spoilt", "lost"]


def test_nothing_is_said_at_other_levels(start):
    server = serve(start, level="debug")
    assert server.get("/cgi-bin/hello").status == 200
    assert "cgi state" not in server.log()
