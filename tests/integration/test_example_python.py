# SPDX-License-Identifier: Apache-2.0
"""examples/python, run as they are."""

import json

import pytest

from harness import http, process, python


@pytest.fixture
def notes(tmp_path, python_package):
    program = python.Program(tmp_path, [process.TREE / "examples" / "python" / "notes.py", "127.0.0.1:0"], python_package)
    yield program.wait_until_started()
    program.stop(within=30)


def test_notes(notes):
    answer = notes.request("/notes", "POST", body=b'{"text": "buy <bananas>"}')
    assert (answer.status, json.loads(answer.body)) == (201, {"number": 1})
    assert notes.request("/", "POST", body=b"text=eat+them").status == 303
    assert json.loads(notes.get("/notes").body) == [{"number": 1, "text": "buy <bananas>"}, {"number": 2, "text": "eat them"}]
    assert json.loads(notes.get("/notes/2").body)["text"] == "eat them"
    assert notes.get("/notes/3").status == 404
    page = notes.get("/")
    assert b"buy &lt;bananas&gt;" in page.body and page.header("Content-Type").startswith("text/html")


def test_events_are_sent_as_they_happen(notes):
    with notes.connect() as connection:
        notes.request("/notes", "POST", body=b'{"text": "one"}')
        connection.send(http.request("/events"))
        assert http.read_head(connection.stream).header("Content-Type") == "text/event-stream"
        for word in (b"one", b"two"):
            said = b"data: " + word + b"\n\n"
            assert connection.stream.line() == f"{len(said):x}".encode()
            assert connection.stream.exactly(len(said) + 2) == said + b"\r\n"
            if word == b"one":
                notes.request("/notes", "POST", body=b'{"text": "two"}')
