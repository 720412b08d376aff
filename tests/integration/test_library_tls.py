# SPDX-License-Identifier: Apache-2.0
"""Programs that ask Redis and PostgreSQL over TLS, and by name: certificates that are verified, and those that are not believed."""

import contextlib
import socket
from urllib.parse import quote_plus

import pytest

from harness import askers, certificates, installed, postgres_server, process, redis_server
from harness.client import eventually

PROGRAMS = process.TREE / "tests" / "integration" / "programs"
PATIENCE = 60.0
PEER = -9  # MK_E_PEER
NAME = "db.example"
pytestmark = [pytest.mark.limit(180), pytest.mark.once("a program of its own, without a carrier", and_in=["asan"])]


@pytest.fixture(scope="module")
def installation(tmp_path_factory):
    return installed.Installation(tmp_path_factory.mktemp("image"))


def program(installation, name):
    if not list(installation.image.rglob(f"libmonkey-{name}.so")):
        pytest.skip(f"this build has no libmonkey-{name}")
    return installation.build(PROGRAMS / f"{name}_asker.c", f"monkey-{name}")


@pytest.fixture(scope="module")
def redis_program(installation):
    return program(installation, "redis")


@pytest.fixture(scope="module")
def postgresql_program(installation):
    return program(installation, "postgresql")


@pytest.fixture
def running():
    with contextlib.ExitStack() as stack:
        yield stack


# ---- Redis


@pytest.fixture(params=["tls", "mbedtls"])
def settings(request, installation):
    """Of a program that has a plugin for TLS: its name, and what it believes."""
    plugins = list(installation.image.rglob(f"monkey-{request.param}.so"))
    if not plugins:
        pytest.skip("this build has no such plugin")
    return lambda authority="Test CA": (request.param, [
        f"PLUGINS:Load:{plugins[0]}", f"TLS_BACKEND:CAFile:{certificates.authority(authority).certificate}"])


@pytest.fixture
def asking(running, installation, redis_program, settings, tmp_path):
    def start(url, **trust):
        transport, lines = settings(**trust)
        return running.enter_context(askers.Asker(installation, redis_program, tmp_path, url, 1, 2000, 64, transport, *lines))
    return start


def test_redis_with_a_certificate_that_is_verified(asking, tmp_path):
    with redis_server.Secure(tmp_path) as server:
        asker = asking(f"rediss://localhost:{server.port}")
        assert asker.get("/ask?SET+key+value") == (200, "0 5 0 OK")
        assert asker.get("/ask?GET+key") == (200, "0 1 0 value")
        server.kill()
        assert asker.get("/ask?GET+key")[0] in (502, 503)
        server.start()
        assert eventually(lambda: asker.get("/ask?GET+key") == (200, "0 4 0 done"), within=PATIENCE)


def refusal(asker):
    """Why the first command has failed, and others do."""
    status, text = asker.get("/why?PING")
    assert status == 200 and text.startswith(f"{PEER} "), text
    assert asker.get("/ask?PING")[0] == 503
    assert asker.get("/alive") == (200, "alive")
    return text


@pytest.mark.parametrize("pair, authority", [(lambda: certificates.issue("other.example"), "Test CA"), (certificates.expired, "Test CA"),
                                             (certificates.future, "Test CA"), (certificates.issue, "Another CA")],
                         ids=["of another name", "expired", "not valid yet", "of an authority that is not believed"])
def test_redis_with_a_certificate_that_is_not_believed(asking, tmp_path, pair, authority):
    with redis_server.Secure(tmp_path, pair()) as server:
        assert "the TLS handshake failed" in refusal(asking(f"rediss://localhost:{server.port}", authority=authority))


def test_redis_that_speaks_no_tls(asking, tmp_path):
    with redis_server.Server(tmp_path) as server:
        asker = asking(f"rediss://localhost:{server.port}")  # it may wait for the rest of what it takes for a command
        assert asker.get("/ask?PING")[0] in (503, 504)
        assert asker.get("/alive") == (200, "alive")


def test_redis_that_speaks_tls_alone(asking, tmp_path):
    with redis_server.Secure(tmp_path) as server:
        asker = asking(f"redis://localhost:{server.port}")
        assert asker.get("/ask?PING")[0] in (502, 503, 504)
        assert asker.get("/alive") == (200, "alive")


def test_redis_over_tls_without_a_plugin(running, installation, redis_program, tmp_path):
    with redis_server.Secure(tmp_path) as server:
        refusal(running.enter_context(askers.Asker(installation, redis_program, tmp_path, f"rediss://localhost:{server.port}",
                                                   1, 2000, 64, "tls")))


# ---- PostgreSQL

ON_TLS = "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE ssl AND pid <> pg_backend_pid()"
ONE = f"q={quote_plus('SELECT 1 AS a')}"


@pytest.fixture
def database(running):
    """A server with a certificate; None: without TLS."""
    return lambda pair: running.enter_context(postgres_server.start(pair))


@pytest.fixture
def querying(running, installation, postgresql_program, tmp_path):
    def start(url, hosts=None, timeout_ms=20_000, within=()):
        within = askers.naming(tmp_path, hosts) if hosts else within
        return running.enter_context(askers.Asker(installation, postgresql_program, tmp_path, url, 1, timeout_ms, 4, 64, within=within))
    return start


def url_of(database, host, authority="Test CA", mode="verify-full"):
    return (f"postgresql://{postgres_server.USER}@{host}:{database.port}/postgres?sslmode={mode}"
            f"&sslrootcert={certificates.authority(authority).certificate}")


@pytest.mark.parametrize("host, hosts", [("127.0.0.1", None), ("localhost", None), (NAME, f"127.0.0.1 {NAME}\n")])
def test_postgresql_with_a_certificate_that_is_verified(database, querying, host, hosts):
    server = database(certificates.issue(host, kind="rsa"))
    asker = querying(url_of(server, host), hosts)
    assert asker.get(f"/ask?{ONE}") == (200, "0  1 1 1 a=1")
    assert server.sql(ON_TLS) == "1"


@pytest.mark.parametrize("pair, authority, why", [
    (lambda: certificates.issue("other.example", kind="rsa"), "Test CA", f'does not match host name "{NAME}"'),
    (lambda: certificates.issue("127.0.0.1", kind="rsa"), "Test CA", f'does not match host name "{NAME}"'),
    (lambda: certificates.expired(NAME), "Test CA", "certificate verify failed"),
    (lambda: certificates.future(NAME), "Test CA", "certificate verify failed"),
    (lambda: certificates.issue(NAME, kind="rsa"), "Another CA", "certificate verify failed"),
], ids=["of another name", "of the address", "expired", "not valid yet", "of an authority that is not believed"])
def test_postgresql_with_a_certificate_that_is_not_believed(database, querying, pair, authority, why):
    server = database(pair())
    asker = querying(url_of(server, NAME, authority), f"127.0.0.1 {NAME}\n")
    status, text = asker.get(f"/why?{ONE}")
    assert status == 200 and text.startswith(f"{PEER} ") and why in text, text
    assert asker.get(f"/ask?{ONE}")[0] == 503
    assert asker.get("/alive") == (200, "alive")


def test_postgresql_that_speaks_no_tls(database, querying):
    status, text = querying(url_of(database(None), "127.0.0.1")).get(f"/why?{ONE}")
    assert status == 200 and text.startswith(f"{PEER} ") and "server does not support SSL" in text, text


def test_postgresql_by_a_name_with_several_addresses(database, querying):
    """The server listens at the last of them; it ends, and comes back."""
    server = database(None)
    asker = querying(f"postgresql://{postgres_server.USER}@{NAME}:{server.port}/postgres",
                     f"::1 {NAME}\n127.0.0.2 {NAME}\n127.0.0.1 {NAME}\n")
    assert asker.get(f"/ask?{ONE}") == (200, "0  1 1 1 a=1")
    server.kill()
    assert asker.get(f"/ask?{ONE}")[0] in (502, 503)
    server.start()
    assert eventually(lambda: asker.get(f"/ask?{ONE}")[0] == 200, within=PATIENCE)


def test_postgresql_by_a_name_whose_first_address_is_silent(running, querying):
    """An attempt that has come to nothing is followed by one that begins with the next address."""
    server = running.enter_context(postgres_server.start(listen_addresses="127.0.0.2"))
    running.enter_context(socket.create_server(("127.0.0.1", server.port)))  # takes connections, and says nothing
    asker = querying(f"postgresql://{postgres_server.USER}@{NAME}:{server.port}/postgres", f"127.0.0.1 {NAME}\n127.0.0.2 {NAME}\n",
                     timeout_ms=1000)
    assert eventually(lambda: asker.get(f"/ask?{ONE}") == (200, "0  1 1 1 a=1"), within=PATIENCE)


def test_postgresql_by_a_name_that_nobody_has(querying):
    asker = querying("postgresql://x@nobody.invalid/x", "127.0.0.1 localhost\n")
    status, text = asker.get(f"/why?{ONE}")
    assert (status, text) == (200, f"{PEER} the name of the host has no address")
    assert asker.get("/alive") == (200, "alive")


def test_a_worker_never_blocks_while_a_name_is_looked_up(running, querying, tmp_path):
    """Its time limit comes first; the program ends while another look-up is under way."""
    within = running.enter_context(askers.waiting_for_names(tmp_path))
    asker = querying("postgresql://x@slow.example/x", within=within, timeout_ms=300)
    with asker.send(f"/why?{ONE}") as waiting:
        assert asker.get("/alive") == (200, "alive")
        assert waiting.recv(65536).endswith(f"{PEER} the time limit for connecting is over".encode())
    with asker.send(f"/why?{ONE}"):
        assert asker.get("/alive") == (200, "alive")
