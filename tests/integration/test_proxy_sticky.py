# SPDX-License-Identifier: Apache-2.0
"""Sticky cookie NAME: a client stays with the backend that answered it first, as long as that can be asked."""

import threading

import pytest

from harness import http
from harness.backend import Backend, backends, configured, proxy, servers
from harness.client import eventually
from harness.h2_backend import H2Backend
from harness.h2_front import client, front, protocol  # noqa: F401

BALANCERS = ["Naive", "First-Alive", "RoundRobin", "LockingRoundRobin", "LeastConnections", "SourceHash", "Random2",
             "ConsistentHash"]
KEY = "StickyKey 0123456789abcdef\n"


def cookies(answer):
    return answer.all("Set-Cookie")


def value_of(answer):
    (line,) = cookies(answer)
    pair, *attributes = line.split("; ")
    name, value = pair.split("=")
    assert name == "at" and len(value) == 16 and set(value) <= set("0123456789abcdef")
    assert attributes == ["Path=/", "HttpOnly", "SameSite=Lax"]
    return value


def values_of(server, count):
    """The cookie of each backend, by its name."""
    found = {}

    def look():
        answer = server.get("/")
        found[answer.text] = value_of(answer)
        return len(found) == count
    assert eventually(look)
    return found


@pytest.fixture
def three():
    with backends(3) as made:
        yield made


@pytest.mark.parametrize("balancer", BALANCERS)
def test_who_comes_back_gets_the_same_backend(start, three, balancer):
    server = start(**configured(f"LoadBalancer {balancer}\nSticky cookie at", *three))
    first = server.get("/")
    for _ in range(6):
        again = server.get("/", headers={"Cookie": f"a=b; at={value_of(first)}; c"})
        assert again.text == first.text and not cookies(again)


def test_a_value_names_one_backend_and_tells_no_address(start, three):
    server = start(**configured("Sticky cookie at", *three))
    values = values_of(server, 3)
    assert len(set(values.values())) == 3
    for name, value in values.items():
        assert server.get("/", headers={"Cookie": f"at={value}"}).text == name
        assert not any(str(backend.port) in value for backend in three)


@pytest.mark.parametrize("value", ["0123456789abcdef", "", "127.0.0.1:80", "x" * 4000, "0" * 15, "0" * 17])
def test_what_names_none_is_ignored(start, three, value):
    server = start(**configured("LoadBalancer First-Alive\nSticky cookie at", *three))
    answer = server.get("/", headers={"Cookie": f"at={value}"})
    assert answer.status == 200 and answer.text == "a" and value_of(answer) != value


def test_another_one_when_it_is_gone_and_back_again(start, three):
    server = start(**configured("LoadBalancer First-Alive\nSticky cookie at\nAttemptsCount 1\nOfflineTimeOut 300ms", *three))
    first = value_of(server.get("/"))
    three[0].stop()
    answer = server.get("/", headers={"Cookie": f"at={first}"})
    assert answer.text == "b" and value_of(answer) != first
    three[0].start()
    assert eventually(lambda: server.get("/", headers={"Cookie": f"at={first}"}).text == "a", every=0.1)


def test_one_that_is_killed_in_the_middle(start):
    """The request is repeated, and the cookie is of the one that answered."""
    dying = threading.Event()

    def each(conn, request):
        if dying.is_set():
            conn.reset()
        else:
            conn.answer(b"a")

    with Backend(each=each) as one, Backend(name="b") as two:
        server = start(**configured("LoadBalancer First-Alive\nSticky cookie at", one, two))
        first = value_of(server.get("/"))
        dying.set()
        answer = server.get("/", headers={"Cookie": f"at={first}"})
        assert answer.text == "b" and value_of(answer) != first


def test_a_backup_keeps_its_sessions(start, three):
    entry = f"Match ^/\n{servers(three[:2])}\nServerList {three[2].address} backup\nSticky cookie at\nOfflineTimeOut 300ms\nAttemptsCount 1"
    server = start(extra=proxy(entry))
    three[0].stop()
    three[1].stop()
    value = value_of(server.get("/"))
    three[0].start()
    assert eventually(lambda: server.get("/").text == "a", every=0.1)
    assert server.get("/", headers={"Cookie": f"at={value}"}).text == "c"


def test_a_reload_keeps_sessions_and_a_server_that_goes_loses_them(start, three):
    server = start(**configured("Sticky cookie at", *three))
    values = values_of(server, 3)
    server.reload(**configured("Sticky cookie at", *three[1:]))
    assert server.get("/", headers={"Cookie": f"at={values['b']}"}).text == "b"
    answer = server.get("/", headers={"Cookie": f"at={values['a']}"})
    assert answer.text in "bc" and value_of(answer) == values[answer.text]


def test_a_key_is_the_same_for_several_servers(start, three):
    """And after a restart."""
    one, two = (start(**configured(f"Sticky cookie at\n{key}", *three)) for key in (KEY, KEY))
    values = values_of(one, 3)
    assert values_of(two, 3) == values


def test_without_a_key_every_start_has_its_own(start, three):
    one, two = (start(**configured("Sticky cookie at", *three)) for _ in range(2))
    assert not set(values_of(one, 3).values()) & set(values_of(two, 3).values())


@pytest.mark.connection("HEAD, and two at once")
def test_head_and_two_at_once(start, three):
    server = start(**configured("Sticky cookie at", *three))
    values = values_of(server, 3)
    with server.connect() as one, server.connect() as two:
        one.send(http.request("/", headers={"Cookie": f"at={values['a']}"}))
        two.send(http.request("/", headers={"Cookie": f"at={values['b']}"}))
        assert [one.response().text, two.response().text] == ["a", "b"]
    with Backend(each=lambda conn, q: conn.answer()) as quiet:
        server = start(**configured("Sticky cookie at", quiet))
        assert value_of(server.request("/", "HEAD"))


@pytest.mark.connection("Upgrade")
def test_a_tunnel_gets_its_cookie(start):
    def serve(conn):
        conn.request()
        conn.send(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
        conn.ended()

    with Backend(serve) as backend:
        server = start(**configured("Sticky cookie at", backend))
        with server.connect() as connection:
            connection.send(http.request("/", headers={"Connection": "Upgrade", "Upgrade": "echo"}))
            answer = http.read_head(connection.stream)
            assert answer.status == 101 and value_of(answer)


def test_backends_and_clients_of_http2(start, protocol):  # noqa: F811
    """HTTP/2 may have a line for each cookie (RFC 9113 section 8.2.3)."""
    made = [H2Backend(each=lambda peer, request, name=name: peer.answer(request.stream, name)) for name in (b"a", b"b")]
    with made[0], made[1]:
        server = start(**front("Sticky cookie at", *made))
        with client(server, protocol) as connection:
            first = connection.request("/")
            for _ in range(4):
                again = connection.request("/", headers=[("Cookie", "a=b"), ("Cookie", f"at={value_of(first)}")])
                assert again.body == first.body and not cookies(again)
