# SPDX-License-Identifier: Apache-2.0
"""Clients of Redis in clusters and over TLS: redirects from server to server, and certificates that are verified."""

import contextlib

import pytest

from harness import duda, redis_server, secured
from harness.client import eventually
from harness.liar import Liar
from test_duda_redis_client import PATIENT, all_count_over_one_connection, all_were_answered, ask, config

WITHIN = 50.0
SLOTS = 16384


@pytest.fixture(autouse=True)
def _has_package():
    duda.require_package("redis")


@pytest.fixture
def serve(start, tmp_path):
    def run(url, options=PATIENT, plugin=None, authority=None):
        duda.build(tmp_path / "services", "packaged_redis3", name="db", level=3,
                   flags=("-fcommon", f'-DSERVER="{url}"', f"-DOPTIONS={options}"))
        files = config(tmp_path / "services", "db")
        return start(**secured.reaching(files, plugin, authority) if plugin else files)

    return run


# ---- clusters


@pytest.fixture
def cluster(tmp_path):
    """Three servers, each with a third of the slots."""
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(redis_server.Member(tmp_path, name=f"redis{number}")) for number in range(3)]
        for number, server in enumerate(servers):
            first, end = number * SLOTS // 3, (number + 1) * SLOTS // 3
            assert server.ask("CLUSTER", "ADDSLOTSRANGE", first, end - 1) == b"+OK\r\n"
            assert server.ask("CLUSTER", "MEET", "127.0.0.1", servers[0].port, servers[0].bus) == b"+OK\r\n"
        assert eventually(lambda: all("cluster_state:ok" in one.text("CLUSTER", "INFO") for one in servers), within=WITHIN)
        yield servers


def names(servers):
    """The ids of the servers in the cluster."""
    return [server.text("CLUSTER", "MYID") for server in servers]


def slot_of(server, key):
    return int(server.ask("CLUSTER", "KEYSLOT", key)[1:])


def test_keys_of_all_servers(serve, cluster):
    server = serve(cluster[0].address)
    for number in range(30):
        assert ask(server, "SET", f"key{number}", str(number)) == "0 OK"
    for number in range(30):
        assert ask(server, "GET", f"key{number}") == f"0 {number}"
    assert all(int(one.ask("DBSIZE")[1:]) > 0 for one in cluster)
    assert all_were_answered(server)


def test_servers_that_have_names(serve, cluster):
    for one in cluster:
        one.ask("CONFIG", "SET", "cluster-announce-hostname", "localhost")
        one.ask("CONFIG", "SET", "cluster-preferred-endpoint-type", "hostname")
    key = next(f"key{n}" for n in range(100) if slot_of(cluster[0], f"key{n}") > SLOTS * 2 // 3)
    moved = f"-MOVED {slot_of(cluster[0], key)} localhost:{cluster[2].port}\r\n".encode()
    assert eventually(lambda: cluster[0].ask("GET", key) == moved, within=WITHIN)
    server = serve(cluster[0].address)
    for _ in range(3):
        assert ask(server, "SET", key, "1") == "0 OK"
    assert all_were_answered(server)


def test_what_was_learnt_saves_a_redirect(serve, cluster):
    server = serve(cluster[0].address)
    key = next(f"key{n}" for n in range(100) if slot_of(cluster[0], f"key{n}") > SLOTS * 2 // 3)
    for _ in range(5):
        assert ask(server, "INCR", key).startswith("0 ")
    stats = cluster[0].text("INFO", "errorstats")
    assert "errorstat_MOVED:count=1\r\n" in stats + "\r\n"


def test_the_bound_is_that_of_each_server(start, tmp_path, cluster):
    key = next(f"key{n}" for n in range(100) if slot_of(cluster[0], f"key{n}") > SLOTS * 2 // 3)
    duda.build(tmp_path / "services", "packaged_redis3", name="db", level=3,
               flags=("-fcommon", f'-DSERVER="redis://{cluster[0].address}?connections=1"', f"-DOPTIONS={PATIENT},.connections=2"))
    server = start(**duda.config(tmp_path / "services", "db", duda={"PackagesRoot": duda.packages()}, server="Workers 4\nScheduler Fair\n"))
    all_count_over_one_connection(server, key, cluster[2], turns=10)
    assert all_were_answered(server)


def test_a_key_on_its_way(serve, cluster):
    """The old server says ASK for what it has not any more."""
    server = serve(cluster[0].address)
    key = next(f"key{n}" for n in range(100) if slot_of(cluster[0], f"key{n}") < SLOTS // 3)
    slot, (source, target, _) = slot_of(cluster[0], key), names(cluster)
    assert cluster[1].ask("CLUSTER", "SETSLOT", slot, "IMPORTING", source) == b"+OK\r\n"
    assert cluster[0].ask("CLUSTER", "SETSLOT", slot, "MIGRATING", target) == b"+OK\r\n"
    for _ in range(3):
        assert ask(server, "SET", key, "moved") == "0 OK"
        assert ask(server, "GET", key) == "0 moved"
    assert all_were_answered(server)


def test_a_server_of_a_cluster_that_is_down(serve, cluster):
    server = serve(cluster[0].address)
    key = next(f"key{n}" for n in range(100) if slot_of(cluster[0], f"key{n}") > SLOTS * 2 // 3)
    assert ask(server, "SET", key, "1") == "0 OK"
    cluster[2].kill()
    assert eventually(lambda: int(ask(server, "GET", key).split()[0]) < 0, within=WITHIN)
    cluster[2].start()
    assert eventually(lambda: ask(server, "GET", key) == "0 nil", within=WITHIN)
    assert all_were_answered(server)


REDIRECTS = [b"-MOVED\r\n", b"-MOVED 1\r\n", b"-MOVED 16384 127.0.0.1:1\r\n", b"-MOVED x 127.0.0.1:1\r\n", b"-MOVED 1 a.name.invalid:1\r\n",
             b"-MOVED 1 127.0.0.1:0\r\n", b"-ASK 1 \r\n", b"-ASK 99999 127.0.0.1:1\r\n", b"-MOVED 1 127.0.0.1:1\r\n",
             b"-MOVED 1 " + b"1" * 100 + b":1\r\n"]


@pytest.mark.parametrize("answer", REDIRECTS)
def test_redirects_that_lead_nowhere(serve, answer):
    with Liar(answer) as liar:
        server = serve(liar.address)
        assert int(ask(server, "GET", "key").split()[0]) < 0
        assert all_were_answered(server)


def test_a_redirect_in_circles(serve):
    with Liar(b"") as liar:
        liar._answer = f"-MOVED 1 :{liar.port}\r\n".encode() * 20
        server = serve(liar.address)
        assert int(ask(server, "GET", "key").split()[0]) < 0
        assert all_were_answered(server)


# ---- TLS


@pytest.fixture(params=["tls", "mbedtls"])
def plugin(request):
    if not secured.executable.plugin(request.param):
        pytest.skip("this build has no such plugin")
    return request.param


@pytest.fixture
def secure(tmp_path):
    """A server of Redis that speaks TLS alone."""
    with redis_server.Secure(tmp_path) as server:
        yield server


def test_over_tls(serve, secure, plugin):
    server = serve(f"rediss://localhost:{secure.port}/0", plugin=plugin)
    assert ask(server, "SET", "a", "secret") == "0 OK"
    assert ask(server, "GET", "a") == "0 secret"
    body = bytes(range(1, 128)) * 8000
    assert server.request("/db/set?key=b", "POST", body=body, timeout=WITHIN).text == "0 OK"
    assert server.get("/db/get?key=b", timeout=WITHIN).body == b"0 " + body
    assert server.get("/db/many?n=500", timeout=WITHIN).text == "500"
    assert all_were_answered(server)


def test_channels_over_tls(serve, secure, plugin):
    server = serve(f"rediss://localhost:{secure.port}", plugin=plugin)
    assert server.get("/db/listen?channel=news").text == "0"
    assert eventually(lambda: server.get("/db/heard").text == "it news/0 from now on;", within=WITHIN)
    assert ask(server, "PUBLISH", "news", "one") == "0 1"
    assert eventually(lambda: server.get("/db/heard").text == "it news/0 from now on;it news/3 one;", within=WITHIN)


def test_it_comes_back_over_tls(serve, secure, plugin):
    server = serve(f"rediss://localhost:{secure.port}", plugin=plugin)
    assert ask(server, "SET", "a", "1") == "0 OK"
    secure.kill()
    assert int(ask(server, "GET", "a").split()[0]) < 0
    secure.start()
    assert eventually(lambda: ask(server, "GET", "a") == "0 nil", within=WITHIN)


@pytest.mark.parametrize("host, authority", [("localhost", "Another CA"), ("127.0.0.2", None)])
def test_certificates_that_are_not_believed(serve, secure, plugin, host, authority):
    server = serve(f"rediss://{host}:{secure.port}", plugin=plugin, authority=authority)
    assert ask(server, "GET", "a") == f"-3 {host}:{secure.port}{' (127.0.0.1)' if host == 'localhost' else ''}: the TLS handshake failed"
    assert all_were_answered(server)


def test_tls_without_a_plugin(serve, secure):
    server = serve(f"rediss://localhost:{secure.port}")
    assert server.get("/db/counts").status == 404
    assert "TLS needs the plugin tls or mbedtls" in server.log()


def test_a_server_without_tls(serve, plugin, tmp_path):
    with redis_server.Server(tmp_path, name="plain") as plain:
        server = serve(f"rediss://{plain.address}", ".timeout_ms=1000", plugin=plugin)
        assert int(ask(server, "GET", "a").split()[0]) < 0


@pytest.mark.parametrize("answer", [b"", b"+OK\r\n", b"\x16\x03\x03\x00\x02\x00\x00", b"\x15\x03\x03\x00\x02\x02\x28", b"\0" * 1000])
def test_a_server_that_has_no_handshake(serve, plugin, answer):
    with Liar(answer, closes=answer == b"") as liar:
        server = serve(f"rediss://{liar.address}", ".timeout_ms=1000", plugin=plugin)
        assert int(ask(server, "GET", "a").split()[0]) < 0
        assert all_were_answered(server)
