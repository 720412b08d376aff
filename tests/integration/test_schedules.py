# SPDX-License-Identifier: Apache-2.0
"""
Clients of every temper at once (harness/schedules.py), over each transport and through a proxy, with resets beside them
and reloads meanwhile: each gets what it must, in order and in time. No pause of theirs is near a timeout of the server, so
whoever waits longer waits for an event that never comes.

The fast tier has its seeds; the slow one takes fresh ones, which a failure tells: SCHEDULE_SEEDS=1,2,3 runs those.
"""

import concurrent.futures
import contextlib
import functools
import os
import random
import threading
import time

import pytest

from harness import certificates, cgi, fastcgi, schedules, secured, seeded, tls
from harness.backend import Backend
from harness.client import Connection
from harness.config import section
from harness.content import noise
from harness.executable import plugin, serves_in_memory
from harness.process import is_sanitized
from harness.schedules import Ask

AT_ONCE = 12
TUNNEL = "/tunnel"
SIZES = {"0": 0, "10": 10, "4800": 4800, "17000": 17000, "70000": 70_000, "300000": 300_000}
CARRIERS = ["plain", "tls", "mbedtls"]
# A tunnel for one byte, which leaves with the request before it; a chunk that leaves before its connection's turn.
FOUND = [2195902122, 2844948954, 4165911387, 1402039260, *[298, 306, 3245258482] * 4]
PATIENT = "Timeout 10\nKeepAliveTimeout 10\nBodyTimeout 10\nMaxKeepAliveRequest 5000"


# ---- what there is to ask for


def content(size):
    return noise(size, size)


def file(chance, prefix):
    name = chance.choice(list(SIZES))
    if chance.random() < 0.1:
        return Ask("GET", f"{prefix}/missing/{name}", status=404, answer=None, is_fragile=bool(prefix))
    return Ask(chance.choice(["GET", "GET", "GET", "HEAD"]), f"{prefix}/f/{name}.bin", answer=content(SIZES[name]),
               is_fragile=bool(prefix))


def upload(path, ends_with=False):
    def ask(chance, prefix):
        data = schedules.body(chance)
        chunks = schedules.pieces(chance, data) if chance.random() < 0.5 else ()
        return Ask("POST", prefix + path, b"" if chunks else data, chunks, answer=data, ends_with=ends_with,
                   is_fragile=bool(prefix) or path != "/echo")
    return ask


def page(path):
    def ask(chance, prefix):
        size = chance.choice([0, 10, 3000, 30_000, 120_000])
        return Ask("GET", f"{prefix}{path}?{size}&{chance.choice(['once', 'pieces', 'late'])}", answer=content(size), is_fragile=True)
    return ask


FILES, ECHO = file, upload("/echo", ends_with=True)
APP, APP_ECHO = page("/app/page"), upload("/app/echo")
SCRIPT, SCRIPT_ECHO = page("/cgi-bin/page"), upload("/cgi-bin/echo")
KINDS = {FILES: 12, ECHO: 4, APP: 3, APP_ECHO: 3, SCRIPT: 0.4, SCRIPT_ECHO: 0.4}

# The same in the shell and in Python: all of it, in pieces, or after a while.
PAGE = """#!/bin/sh
printf 'Content-Type: text/plain\\r\\n\\r\\n'
size=${QUERY_STRING%%&*}
case $QUERY_STRING in *late) sleep 0.1 ;; esac
exec cat "$DOCUMENT_ROOT/pages/$size"
"""
ECHO_SCRIPT = "#!/bin/sh\nprintf 'Content-Type: text/plain\\r\\n\\r\\n'\nexec cat\n"


def application(call):
    """As a FastCGI application."""
    if "/echo" in call.params["SCRIPT_NAME"] + call.params.get("PATH_INFO", ""):
        call.out(b"Content-Type: text/plain\r\n\r\n")
        for piece in call.pieces():
            call.out(piece)
        call.end()
        return
    size, manner = call.params["QUERY_STRING"].split("&")
    data = content(int(size))
    if manner == "late":
        time.sleep(0.1)
    if manner == "once":
        call.answer(data)
        return
    call.body()
    call.out(b"Content-Type: text/plain\r\n\r\n")
    for at in range(0, len(data), 20_000):
        call.out(data[at:at + 20_000])
        time.sleep(0.002)
    call.end()


def echo(conn):
    """As a server behind a tunnel."""
    if not conn.request():
        return
    conn.send(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
    piece = conn.pending
    while piece or (piece := conn.sock.recv(65536)):
        conn.send(piece)
        piece = b""


# ---- servers


def folder(prefixes):
    files = {f"pages/{size}": content(size) for size in (0, 10, 3000, 30_000, 120_000)}
    for prefix in prefixes:
        files |= {f"{prefix}/f/{name}.bin".lstrip("/"): content(size) for name, size in SIZES.items()}
        files |= {f"{prefix}/cgi-bin/{name}".lstrip("/"): text for name, text in [("page", PAGE), ("echo", ECHO_SCRIPT)]}
    return files


def carried(names):
    """Listen lines for each, and how their plugins are loaded."""
    loaded = [name for name in names if name != "plain"]
    lines = certificates.issue().lines()
    extra = {f"plugins/{name}/{name}.conf": section("TLS", lines) +
             section("TLS_BACKEND", f"CAFile {certificates.authority().certificate}") for name in loaded}
    return "\n".join(f"Listen 127.0.0.1:0 {'' if name == 'plain' else name}" for name in names), loaded, extra


def origin(start, app, names, prefixes, proxied, more):
    """A server with all resources below each prefix, over each carrier."""
    listen, loaded, files = carried(names)
    plugins = [*loaded, "proxy_reverse", "cgi", "fastcgi"]
    files |= {"plugins.load": section("PLUGINS", "\n".join(f"Load {plugin(name)}" for name in plugins)),
              "plugins/fastcgi/fastcgi.conf": fastcgi.settings(app, server="OfflineTimeOut 0"),
              "plugins/proxy_reverse/proxy_reverse.conf": proxied}
    below = "" if prefixes == [""] else "/[a-z]+"
    handlers = f"Match ^{below}/app/ fastcgi\nMatch ^{below}/cgi-bin/ cgi\nMatch ^{below}/echo$ echo"
    texts = folder(prefixes)
    server = start(server=f"{listen}\n{PATIENT}\n{more}", handlers=handlers, files=texts, extra=files)
    server.wait_for_log("started workers=")
    cgi.make_executable(server, [name for name in texts if "cgi-bin" in name])
    return server


def tunnel_config(echoing):
    return section("PROXY_ENTRY", f"Match {TUNNEL}$\nServerList {echoing.address}\nOfflineTimeOut 0")


def proxy_config(back, names):
    """[PROXY_ENTRY] for each carrier to that server, below a prefix of its name."""
    ports = dict(zip(names, tcp_ports(back)))
    return "".join(section("PROXY_ENTRY", f"""
        Match ^/{name}/
        ServerList localhost:{ports[name]}
        {'' if name == 'plain' else f'Transport {name}'}
        OfflineTimeOut 0
        AttemptsCount 1
    """) for name in names)


def tcp_ports(server):
    return [int(address.rpartition(":")[2]) for address in server.addresses]


class Connector:
    """Connections to a server's addresses by the names of their carriers."""

    def __init__(self, server, names):
        self.ports = dict(zip(names, tcp_ports(server)))

    def __call__(self, carrier, receive_buffer, chance):
        connection = Connection(("127.0.0.1", self.ports[carrier]), schedules.DEADLINE, receive_buffer)
        if carrier != "plain":
            version = chance.choice(secured.versions(carrier))
            try:
                connection.sock = tls.TlsSocket(connection.sock, trusting(version))
            except BaseException:
                connection.close()
                raise
        return connection


@functools.cache
def trusting(version):
    return certificates.trusting(version=version)


# ---- running them


@contextlib.contextmanager
def meanwhile(work):
    """Do it again and again in a thread of its own; what goes wrong there counts."""
    over, faults = threading.Event(), []

    def run():
        try:
            while not over.is_set():
                work(over)
        except BaseException as fault:  # noqa: BLE001 - told by the test, not by a thread
            faults.append(fault)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
    assert not faults, faults


def reloading(*servers):
    def work(over):
        for server in servers:
            over.wait(0.4)
            server.reload(expect="configuration reloaded")
    return work


def resetting(connect, names, resources):
    chance = random.Random(0)

    def work(over):
        over.wait(chance.uniform(0, 0.1))
        schedules.disturb(chance, lambda buffer: connect(chance.choice(names), buffer, chance), resources)
    return work


def talk(connect, carrier, resources, seed):
    """@return what went wrong, or None."""
    plan = schedules.Plan(seed, resources)
    try:
        with connect(carrier, plan.receive_buffer, plan.chance) as connection:
            plan.talk(connection)
    except (AssertionError, OSError) as fault:
        return f"seed {seed} over {carrier}: {fault!r}; {plan}"  # A report of many tests shows the beginning alone.
    return None


def seeds(turn, count):
    """Those of SCHEDULE_SEEDS, or so many fresh ones; a second try in the same run of the tests gets the same again."""
    given = os.environ.get("SCHEDULE_SEEDS")
    source = random.Random(f"{seeded.of_this_run()} {turn}")
    return [int(seed) for seed in given.split(",")] if given else [source.randrange(1 << 32) for _ in range(count)]


def run_all(connect, carriers_of, resources, numbers):
    """carriers_of(seed): what carries that conversation."""
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        faults = list(pool.map(lambda seed: talk(connect, carriers_of(seed), resources, seed), numbers))
    found = [fault for fault in faults if fault]
    assert not found, f"{len(found)} of {len(numbers)}: " + " | ".join(found[:5])


@pytest.fixture
def names():
    return [name for name in CARRIERS if name == "plain" or plugin(name)]


@pytest.fixture
def everything(start, names):
    """Two servers with all resources, the first one before the second, and how to connect to the first."""
    prefixes = [f"/{name}" for name in names]
    with fastcgi.Application(application) as app, Backend(serve=echo) as echoing:
        back = origin(start, app, names, prefixes, tunnel_config(echoing), "Scheduler ReusePort")
        front = origin(start, app, names, [""], proxy_config(back, names) + tunnel_config(echoing), "Scheduler Fair")
        yield front, back, Connector(front, names), schedules.Resources(KINDS, ["", "", *prefixes], TUNNEL)


def run_schedules(everything, names, numbers):
    front, back, connect, resources = everything
    with meanwhile(reloading(front, back)), meanwhile(resetting(connect, names, resources)):
        run_all(connect, lambda seed: names[seed % len(names)], resources, numbers)


@pytest.mark.limit(240)
def test_seeds_that_are_always_the_same(everything, names):
    run_schedules(everything, names, [*FOUND, *range(60 if is_sanitized() else 320)])


def test_no_piece_is_empty():
    resources = schedules.Resources(KINDS, ["", "", *(f"/{name}" for name in CARRIERS)], TUNNEL)
    for seed in [*FOUND, *range(300)]:
        assert all(schedules.Plan(seed, resources).segments()), seed


@pytest.mark.slow
@pytest.mark.limit(900)
@pytest.mark.parametrize("turn", range(5))
def test_fresh_seeds(everything, names, turn):
    run_schedules(everything, names, seeds(turn, 150 if is_sanitized() else 600))


# ---- without sockets


@pytest.mark.parametrize("carrier", ["memory", "bytewise"])
def test_in_memory(start, monkeypatch, carrier):
    """Its server starts no plugins."""
    if not serves_in_memory():
        pytest.skip("this build has no executable that serves in memory")
    monkeypatch.setenv("CARRIER", carrier)
    server = start(server=PATIENT, files=folder([""]), handlers="Match ^/echo$ echo")
    resources = schedules.Resources({FILES: 3, ECHO: 1})
    run_all(lambda *_: server.connect(timeout=schedules.DEADLINE), lambda seed: carrier, resources,
            range(20 if is_sanitized() else 60))
    server.stop()
