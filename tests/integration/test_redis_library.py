# SPDX-License-Identifier: Apache-2.0
"""<monkey/redis.h>: handlers of programs that ask Redis, what they get when it fails, and how they end."""

import concurrent.futures
import contextlib
import subprocess

import pytest

from harness import askers, installed, pretended_cluster, process, redis_server
from harness.client import eventually
from harness.liar import Liar

PROGRAMS = process.TREE / "tests" / "integration" / "programs"
PATIENCE = 60.0
pytestmark = [pytest.mark.limit(180), pytest.mark.once("a program of its own, without a carrier", and_in=["asan"])]


@pytest.fixture(scope="module")
def installation(tmp_path_factory):
    made = installed.Installation(tmp_path_factory.mktemp("image"))
    if not list(made.image.rglob("libmonkey-redis.so")):
        pytest.skip("hiredis is not installed")
    return made


@pytest.fixture(scope="module")
def program(installation):
    return installation.build(PROGRAMS / "redis_asker.c", "monkey-redis")


@pytest.fixture
def redis(tmp_path):
    with redis_server.Server(tmp_path) as server:
        yield server


@pytest.fixture
def asking(installation, program, tmp_path):
    with contextlib.ExitStack() as stack:
        def start(url, workers=1, timeout_ms=1000, commands=64, transport="tls", settings=()):
            return stack.enter_context(askers.Asker(installation, program, tmp_path, url, workers, timeout_ms, commands, transport,
                                                    *settings))
        yield start


def url_of(server):
    return f"redis://{server.address}"


def test_an_answer_comes_later(redis, asking):
    asker = asking(url_of(redis))
    assert asker.get("/ask?SET+key+value") == (200, "0 5 0 OK")
    assert asker.get("/ask?GET+key") == (200, "0 1 0 value")
    assert asker.get("/ask?GET+nothing") == (200, "0 4 0 done")
    assert asker.get("/ask?INCR+n") == (200, "0 3 1 done")
    assert asker.get("/chain?INCR+n") == (200, "0 3 3 done")


def test_an_error_of_the_server_is_a_value(redis, asking):
    status, text = asking(url_of(redis)).get("/ask?INCR")
    assert status == 200 and text.startswith("-13 6 0 ERR wrong number"), text


@pytest.mark.parametrize("target", ["/ask?MULTI", "/ask?SUBSCRIBE+a", "/ask?", "/ask?select+1"])
def test_a_command_that_changes_the_connection_is_refused(redis, asking, target):
    asker = asking(url_of(redis))
    assert asker.get(target)[0] == 500
    assert asker.get("/alive") == (200, "alive")


def test_two_commands_at_once(redis, asking):
    asker = asking(url_of(redis))
    for number in range(1, 9):
        assert asker.get("/both?INCR+n&INCR+n") == (200, f"0 3 {2 * number - 1} done")
    with asker.connect() as connection:  # what comes behind an answer disturbs no later request
        for number in range(9, 17):
            connection.request("GET", "/both?INCR+n&INCR+n")
            assert connection.getresponse().read() == f"0 3 {2 * number - 1} done".encode()


def test_a_handler_that_answers_all_the_same(redis, asking):
    asker = asking(url_of(redis))
    with asker.connect() as connection:
        for _ in range(8):
            connection.request("GET", "/late?INCR+n")
            assert connection.getresponse().read() == b"not waiting"
    assert eventually(lambda: redis.text("GET", "n") == "8", within=PATIENCE)
    assert asker.get("/forget?INCR+n") == (200, "forgotten")
    assert eventually(lambda: redis.text("GET", "n") == "9", within=PATIENCE)


def test_a_worker_never_blocks(redis, asking):
    asker = asking(url_of(redis), timeout_ms=60_000)
    assert asker.get("/ask?PING")[0] == 200
    redis.pause()
    waiting = [asker.send("/ask?INCR+n") for _ in range(20)]
    assert asker.get("/alive") == (200, "alive")
    redis.go_on()
    for sock in waiting:
        with sock:
            assert sock.recv(65536).startswith(b"HTTP/1.1 200 ")


def test_a_silent_server_costs_its_time_limit(redis, asking):
    asker = asking(url_of(redis), timeout_ms=300)
    assert asker.get("/ask?PING")[0] == 200
    redis.pause()
    assert asker.get("/ask?PING")[0] == 504
    redis.go_on()
    assert eventually(lambda: asker.get("/ask?PING")[0] == 200, within=PATIENCE)


def test_a_server_that_was_killed_is_asked_again(redis, asking):
    asker = asking(url_of(redis), timeout_ms=500)
    assert asker.get("/ask?PING")[0] == 200
    redis.kill()
    status, fields = asker.fields("/ask?PING")
    assert status in (502, 503)
    assert eventually(lambda: asker.fields("/ask?PING")[0] == 503, within=PATIENCE)
    status, fields = asker.fields("/ask?PING")
    assert (status, fields["Retry-After"]) == (503, "1")
    redis.start()
    assert eventually(lambda: asker.get("/ask?PING")[0] == 200, within=PATIENCE)
    log = asker.log.read_text()
    assert log.count("is left out") == log.count("is back") == 1, log


def test_there_is_no_server(asking):
    asker = asking("redis://127.0.0.1:1")
    assert asker.get("/ask?PING")[0] == 503
    assert asker.get("/alive") == (200, "alive")


@pytest.mark.parametrize("bytes", [b"GET / HTTP/1.1\r\n\r\n", b"$-7\r\n", b"*1\r\n" * 100, b"$99999999\r\nx", b":1\r\n:2\r\n", b"\0" * 5000])
def test_a_server_that_lies(asking, bytes):
    with Liar(bytes, closes=True) as liar:
        asker = asking(f"redis://{liar.address}", timeout_ms=500)
        assert asker.get("/ask?PING")[0] in (200, 502, 503, 504)
        assert asker.get("/alive") == (200, "alive")


def test_a_server_that_is_full(tmp_path, asking):
    with redis_server.Server(tmp_path, "--maxclients", "1") as server:
        asker = asking(url_of(server), workers=3)
        assert eventually(lambda: 200 in {asker.get("/ask?PING")[0] for _ in range(8)}, within=PATIENCE)
        assert asker.get("/alive") == (200, "alive")


def test_a_full_queue_is_refused(redis, asking):
    asker = asking(url_of(redis), timeout_ms=60_000, commands=4)
    assert asker.get("/ask?PING")[0] == 200
    redis.pause()
    waiting = [asker.send("/ask?INCR+n") for _ in range(4)]
    assert eventually(lambda: asker.fields("/late?PING")[0] == 503, within=PATIENCE)
    status, fields = asker.fields("/both?PING&PING")
    assert (status, fields["Retry-After"]) == (503, "1")
    redis.go_on()
    for sock in waiting:
        with sock:
            sock.recv(65536)
    assert asker.get("/ask?PING")[0] == 200


def test_a_client_goes_while_its_command_runs(redis, asking):
    asker = asking(url_of(redis), timeout_ms=60_000)
    assert asker.get("/ask?PING")[0] == 200
    redis.pause()
    for _ in range(16):
        asker.send("/both?INCR+n&INCR+n").close()
    assert asker.get("/alive") == (200, "alive")
    redis.go_on()
    assert eventually(lambda: asker.get("/ask?GET+m")[0] == 200, within=PATIENCE)
    assert asker.get("/ask?PING") == (200, "0 5 0 PONG")


def test_the_program_ends_while_commands_run(redis, asking):
    asker = asking(url_of(redis), workers=2, timeout_ms=60_000)
    assert asker.get("/ask?PING")[0] == 200
    redis.pause()
    for sock in [asker.send("/both?INCR+n&INCR+n") for _ in range(16)]:
        assert sock.fileno() >= 0
    assert asker.get("/alive") == (200, "alive")


def test_workers_share_their_bound_of_connections(redis, asking):
    asker = asking(f"{url_of(redis)}?connections=2", workers=4, timeout_ms=10_000)
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda number: asker.get("/ask?INCR+n")[0], range(400)))
    assert answers == [200] * 400
    assert redis.clients() <= 2
    assert redis.text("GET", "n") == "400"


@pytest.mark.parametrize("workers", [1, 2])
def test_a_cluster_whose_servers_move_again_and_again(asking, workers):
    """A worker knows 16 servers at a time: those that it has asked the longest ago make room for others."""
    with pretended_cluster.Cluster(40) as cluster:
        asker = asking(f"redis://{cluster.address}", workers=workers)
        for _ in range(2):
            for number in range(1, 41):
                assert asker.get(f"/ask?GET+{number}") == (200, f"0 1 0 {number}")


def test_servers_of_a_cluster_with_commands_under_way_are_not_forgotten(asking):
    with pretended_cluster.Cluster(40, silent=range(1, 16)) as cluster:
        asker = asking(f"redis://{cluster.address}", timeout_ms=60_000)
        waiting = [asker.send(f"/ask?GET+{number}") for number in range(1, 16)]
        moved = f"-13 6 0 MOVED 0 127.0.0.1:{cluster.ports[16]}"
        assert eventually(lambda: asker.get("/ask?GET+16") == (200, moved), within=PATIENCE)
        for sock in waiting:
            sock.close()


def test_a_password_and_a_database(tmp_path, asking):
    with redis_server.Server(tmp_path, "--requirepass", "p@ss") as server:
        asker = asking(f"redis://:p%40ss@{server.address}/3")
        assert asker.get("/ask?SET+key+value") == (200, "0 5 0 OK")
        assert server.text("GET", "key") is None


def test_a_wrong_password(tmp_path, asking):
    with redis_server.Server(tmp_path, "--requirepass", "right") as server:
        asker = asking(f"redis://:wrong@{server.address}")
        assert asker.get("/ask?PING")[0] == 503
        assert ":wrong" not in asker.log.read_text()


@pytest.mark.parametrize("url", ["", "redis://", "http://a", "redis://a:0", "redis://a:99999", "redis://:@a", "redis://a/x",
                                 "redis://a?connections=0", "redis://%zz:p@a"])
def test_invalid_urls(installation, program, tmp_path, url):
    done = subprocess.run([program, f"unix:{tmp_path}/socket", url, "1", "0", "0", "tls"], env=installation.env, stderr=subprocess.PIPE,
                          timeout=PATIENCE)
    assert done.returncode == 1 and done.stderr.startswith(b"asker: ") and len(done.stderr) > 12


def test_the_example(installation, redis, tmp_path):
    program = installation.build("embed/visits.c", "monkey-redis")
    redis.ask("HSET", "titles", "home", "Welcome")
    with askers.Asker(installation, program, tmp_path, url_of(redis)) as asker:
        assert asker.get("/home") == (200, "Welcome, visit 1\n")
        assert asker.get("/home") == (200, "Welcome, visit 2\n")
        assert asker.get("/other") == (200, "A page, visit 1\n")
        redis.kill()
        assert asker.get("/home")[0] in (502, 503)
