# SPDX-License-Identifier: Apache-2.0
"""The services of examples/duda/2014, each as dudac builds and runs it."""

import pytest

from harness import dudac
from harness.executable import TREE

pytestmark = [pytest.mark.plain, pytest.mark.once("services that dudac builds; with a server that watches its memory", and_in=["asan"])]


@pytest.fixture
def service(tmp_path, request):
    name = request.node.name.removeprefix("test_")
    with dudac.running(tmp_path, "-p", "0", "-w", TREE / "examples" / "duda" / "2014" / name) as run:
        assert "warning" not in run.errors()

        def ask(target, **kwargs):
            return run.request(f"/{name}{target}", **kwargs)

        yield ask
        assert run.interrupt() == 0


def cookie_of(answer):
    return {"Cookie": answer.header("set-cookie").partition(";")[0]}


def test_hello(service):
    assert service("/").body == service("").body == b"Hello\n"


def test_parameters(service):
    assert service("/sum/of/2/-3").body == b"-1\n" and service("/sum/of/2/x").status == 400
    assert service("/sum/of/2").status == 404
    assert service("/query?name=ann&x=1").body == b"2 ann\n" and service("/query").body == b"0 nobody\n"


def test_post(service):
    assert b"<form" in service("/index.html").body and service("/send").status == 405
    assert service("/send", method="POST", headers={"Content-Length": "6"}, body=b"text=a").body == b"6: text=a\n"


def test_cookies(service):
    sent = cookie_of(service("/set"))
    assert sent == {"Cookie": "colour=green"}
    assert service("/get", headers=sent).body == b"green\n" and service("/get").body == b"none\n"
    assert cookie_of(service("/drop", headers=sent)) == {"Cookie": "colour=deleted"}


def test_files(service):
    assert service("/whole").body == b"a text of the data directory\n"
    assert service("/part").body == b"part: text" and service("/missing").status == 404


def test_visits(service):
    sent = cookie_of(service("/enter"))
    assert sent["Cookie"].startswith("DUDA_SESSION=")
    assert service("/who", headers=sent).body == b"ann\n" and service("/who").body == b"nobody\n"
    assert service("/leave", headers=sent).status == 200
    assert service("/who", headers=sent).body == b"nobody\n"


def test_notes(service):
    assert service("/last").body == b"0 \n" and service("/add").status == 400
    assert service("/add?text=first").status == 201
    assert service("/last").body == b"1 first\n"


def test_routes(service):
    assert service("/").body == b"start\n" and service("").status == 301
    assert service("/user/5/profile").body == b"user 5, profile\n" and service("/user/x/y").status == 400
