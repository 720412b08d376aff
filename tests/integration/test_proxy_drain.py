# SPDX-License-Identifier: Apache-2.0
"""The command `proxy drain` of the shell: a backend gets no more requests, and the shell and the log say when it has none left."""

import json
import threading

import pytest

from harness import http
from harness.backend import Backend, backends, proxy, servers
from harness.client import eventually
from harness.config import section
from harness.process import plugin
from harness.shell import Shell, ask

BALANCERS = ["Naive", "First-Alive", "RoundRobin", "LockingRoundRobin", "LeastConnections", "SourceHash", "Random2",
             "ConsistentHash"]


@pytest.fixture
def place(tmp_path):
    return tmp_path / "shell"


def configured(place, entry):
    extra = proxy(f"Name shop\nMatch ^/\nStatisticsURL /stats\n{entry}", plugins=("cheetah",))
    return {"extra": {**extra, "plugins/cheetah/cheetah.conf": section("CHEETAH", f"Socket {place}")}}


@pytest.fixture
def three():
    if not plugin("cheetah"):
        pytest.skip("this build has no such plugin")
    with backends(3) as made:
        yield made


def on_page(server, backend):
    entries = json.loads(server.get("/stats?format=json").text)["entries"]
    return next(b for e in entries for b in e["backends"] if b["name"] == backend.address)


def names(server, count=20, **kwargs):
    return {server.get("/", **kwargs).text for _ in range(count)}


@pytest.mark.parametrize("balancer", BALANCERS)
def test_no_more_requests_until_it_is_undrained(start, place, three, balancer):
    server = start(**configured(place, f"{servers(three)}\nLoadBalancer {balancer}"))
    a, b, c = three
    with Shell(place) as shell:
        answer = shell.ask(f"proxy drain shop {a.address}")
        assert answer == {"entry": "shop", "backend": a.address, "drained": "yes", "requests": "0", "free": "yes"}
        a.requests.clear()
        assert names(server) <= {"b", "c"} and not a.requests
        assert on_page(server, a)["drained"] is True and on_page(server, b)["drained"] is False
        assert "drained</span>" in server.get("/stats").text
        shell.ask(f"proxy drain shop {b.address}")
        assert names(server) == {"c"}
        assert shell.ask(f"proxy undrain shop {a.address}")["drained"] == "no"
        assert shell.ask(f"proxy undrain shop {b.address}")["drained"] == "no"
        if balancer in ("RoundRobin", "LockingRoundRobin", "LeastConnections"):
            assert names(server) == {"a", "b", "c"}


def test_requests_under_way_go_on_and_the_last_one_frees_it(start, place, three):
    release = threading.Event()
    a = three[0]
    a.each = lambda conn, request: (release.wait(30), conn.answer(b"held"))
    server = start(**configured(place, f"{servers(three)}\nLoadBalancer First-Alive"))
    with server.connect() as one, server.connect() as two, Shell(place) as shell:
        one.send(http.request("/"))
        two.send(http.request("/"))
        assert eventually(lambda: a.active == 2)
        answer = shell.ask(f"proxy drain shop {a.address}")
        assert (answer["requests"], answer["free"]) == ("2", "no")
        assert server.get("/").text == "b"
        release.set()
        assert [one.response().text, two.response().text] == ["held", "held"]
        server.wait_for_log(f"proxy: drained backend is free entry=shop backend={a.address}")
        assert shell.ask(f"proxy drain shop {a.address}")["free"] == "yes"


def test_all_drained(start, place, three):
    server = start(**configured(place, servers(three)))
    with Shell(place) as shell:
        for backend in three:
            shell.ask(f"proxy drain shop {backend.address}")
        answer = server.get("/")
        assert answer.status == 503 and answer.header("Retry-After") == "1"
        server.wait_for_log("all backends are drained")
        shell.ask(f"proxy undrain shop {three[2].address}")
        assert server.get("/").text == "c"


def test_a_backup_stands_by(start, place, three):
    server = start(**configured(place, f"{servers(three[:1])}\nServerList {three[1].address} backup"))
    with Shell(place) as shell:
        shell.ask(f"proxy drain shop {three[0].address}")
    assert names(server) == {"b"}


def test_sessions_stay(start, place, three):
    server = start(**configured(place, f"{servers(three)}\nLoadBalancer First-Alive\nSticky cookie at"))
    cookie = server.get("/").header("Set-Cookie").split(";")[0]
    with Shell(place) as shell:
        shell.ask(f"proxy drain shop {three[0].address}")
    assert names(server) == {"b"}
    assert names(server, headers={"Cookie": cookie}) == {"a"}


def test_it_goes_on_over_a_reload_and_ends_with_the_server(start, place, three):
    config = configured(place, f"{servers(three)}\nLoadBalancer First-Alive")
    server = start(**config)
    with Shell(place) as shell:
        shell.ask(f"proxy drain shop {three[0].address}")
    server.reload(**configured(place, f"{servers(three)}\nLoadBalancer First-Alive\nKeepAlive 1"))
    assert names(server) == {"b"}
    server.stop()
    assert start(**config).get("/").text == "a"


def test_a_drained_backend_that_is_stopped(start, place, three):
    """No client sees that."""
    server = start(**configured(place, f"{servers(three)}\nLoadBalancer First-Alive"))
    with Shell(place) as shell:
        assert server.get("/").text == "a"
        shell.ask(f"proxy drain shop {three[0].address}")
        three[0].stop()
        assert names(server) == {"b"}
        assert on_page(server, three[0])["failures"] == 0
        three[0].start()
        shell.ask(f"proxy undrain shop {three[0].address}")
        assert server.get("/").text == "a"


@pytest.mark.parametrize("words, said", [
    ("drain", "error: expected drain or undrain, an entry, and a server"),
    ("halt shop x", "error: expected drain or undrain, an entry, and a server"),
    ("drain shops x", 'error: there is no entry "shops"\n'),
    ("drain shop x", 'error: the entry has no server "x"\n'),
])
def test_what_is_no_order(start, place, three, words, said):
    start(**configured(place, servers(three)))
    assert ask(place, f"proxy {words}").startswith(said)


def test_a_list(start, place, three):
    start(**configured(place, f"{servers(three[:2])}\nServerList {three[2].address} backup"))
    ask(place, f"proxy drain shop {three[1].address}")
    a, b, c = (backend.address for backend in three)
    assert ask(place, "proxy") == (f"1: shop {a} up, 0 requests\n2: shop {b} up, drained, 0 requests\n"
                                   f"3: shop {c} up, backup, 0 requests\n")
