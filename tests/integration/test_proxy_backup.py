# SPDX-License-Identifier: Apache-2.0
"""Servers of ServerList that are backups: asked only while no other can be."""

import json

import pytest

from harness import http
from harness.backend import Backend, backends, configured, proxy, servers
from harness.client import eventually
from harness.h2_backend import H2Backend
from harness.h2_front import client, front, protocol  # noqa: F401

BALANCERS = ["Naive", "First-Alive", "RoundRobin", "LockingRoundRobin", "LeastConnections", "SourceHash", "Random2",
             "ConsistentHash"]


def with_backup(start, main, backup, lines=""):
    return start(extra=proxy(f"Match ^/\n{servers(main)}\n{servers([backup])} backup\nStatisticsURL /stats\n{lines}"))


def names(server, count):
    return {server.get("/").text for _ in range(count)}


@pytest.mark.parametrize("balancer", BALANCERS)
def test_it_answers_while_no_other_can(start, balancer):
    with backends(3) as (a, b, c):
        server = with_backup(start, [a, b], c, f"LoadBalancer {balancer}\nOfflineTimeOut 500ms")
        assert names(server, 20) <= {"a", "b"} and not c.requests
        a.stop()
        assert names(server, 20) == {"b"} and not c.requests
        b.stop()
        assert names(server, 20) == {"c"}
        a.start()
        assert eventually(lambda: server.get("/").text == "a", every=0.1)


def test_in_the_middle_of_a_request(start):
    """Both others fail for this request: the backup answers it."""
    broken = [Backend(lambda conn: conn.request()) for _ in range(2)]
    with broken[0], broken[1], Backend() as backup:
        server = with_backup(start, broken, backup, "AttemptsCount 3")
        assert server.request("/").body == b"ok"


def test_with_all_connections_taken(start):
    """A backup is no room for more: requests wait for the others."""
    with Backend() as main, Backend(name="backup") as backup:
        server = with_backup(start, [main], backup, "MaxConnections 1\nQueueTimeout 20")
        connections = [server.connect() for _ in range(4)]
        for connection in connections:
            connection.send(http.request("/"))
        assert [connection.response().body for connection in connections] == [b"ok"] * 4
        assert not backup.requests


def test_two_backups_share(start):
    with backends(4) as (a, b, c, d):
        entry = f"Match ^/\n{servers([a, b])}\nServerList {c.address} backup {d.address} backup\nOfflineTimeOut 60"
        server = start(extra=proxy(entry))
        a.stop()
        b.stop()
        server.get("/")
        assert names(server, 20) == {"c", "d"}


def test_every_server_is_a_backup(start):
    with Backend() as one:
        server = start(extra=proxy(f"Match ^/\n{servers([one])} backup"))
        assert server.get("/").text == "ok"
        assert "ServerList: every server is a backup" in server.log()


def test_retry_on_reaches_a_backup(start):
    with Backend(each=lambda conn, _: conn.answer(b"sick", "503 No")) as main, Backend() as backup:
        server = with_backup(start, [main], backup, "RetryOn 503")
        assert server.get("/").body == b"ok"


def test_a_reload_and_the_page(start):
    with Backend() as main, Backend(name="backup") as backup:
        server = with_backup(start, [main], backup, "AttemptsCount 1")
        main.stop()
        assert server.get("/").text == "backup"
        server.reload(extra=proxy(f"Match ^/\n{servers([backup])}\n{servers([main])} backup\nStatisticsURL /stats"))
        assert server.get("/").text == "backup"  # which is none any more
        first, second = json.loads(server.get("/stats?format=json").text)["entries"][0]["backends"]
        assert (first["name"], first["backup"]) == (backup.address, False)
        assert (second["name"], second["backup"], second["state"]) == (main.address, True, "offline")
        assert "backup</span>" in server.get("/stats").text


def test_backends_and_clients_of_http2(start, protocol):  # noqa: F811
    with H2Backend(each=lambda peer, request: peer.answer(request.stream, b"main")) as main, \
         H2Backend(each=lambda peer, request: peer.answer(request.stream, b"backup")) as backup:
        server = start(**front("AttemptsCount 1", main.address, f"{backup.address} backup"))
        with client(server, protocol) as connection:
            assert connection.request("/").body == b"main"
            main.stop()
            assert connection.request("/").body == b"backup"
