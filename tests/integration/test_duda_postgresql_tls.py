# SPDX-License-Identifier: Apache-2.0
"""The package postgresql over TLS: `sslmode` of the connection, with a real server and certificates of our own."""

import signal

import pytest

from harness import certificates, postgres_server
from harness.databases import wait_until

ON_TLS = "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE ssl AND pid <> pg_backend_pid()"


@pytest.fixture
def database():
    with postgres_server.start(certificates.issue("127.0.0.1", kind="rsa")) as server:
        yield server


@pytest.fixture
def ask(start, tmp_path, database):
    """What a query comes to over a connection with these keywords."""

    def run(**keys):
        server = postgres_server.serve(start, tmp_path / "services", database, "packaged_orders", 3, "-DLIMIT_MS=20000",
                                       uri=database.uri(**keys))
        return server.get("/db/one?name=well", timeout=50).text

    return run


def test_a_certificate_that_is_trusted(ask, database):
    assert ask(sslmode="verify-full", sslrootcert=certificates.authority().certificate) == "one=well/4 1 rows"
    assert database.sql(ON_TLS) == "1"


def test_without_a_check(ask, database):
    assert ask(sslmode="require") == "one=well/4 1 rows"
    assert database.sql(ON_TLS) == "1"


def test_an_authority_that_is_not_trusted(ask):
    text = ask(sslmode="verify-full", sslrootcert=certificates.authority("Other CA").certificate)
    assert text.startswith("error ") and "certificate verify failed" in text


def test_a_certificate_of_another_host(ask):
    text = ask(sslmode="verify-full", sslrootcert=certificates.authority().certificate, host="db.example", hostaddr="127.0.0.1")
    assert text.startswith("error ") and 'does not match host name "db.example"' in text


@pytest.fixture
def plain():
    with postgres_server.start() as server:
        yield server


def test_a_server_without_tls_is_refused(start, tmp_path, plain):
    server = postgres_server.serve(start, tmp_path / "services", plain, "packaged_orders", 3, uri=plain.uri(sslmode="require"))
    assert "server does not support SSL" in server.get("/db/one?name=well", timeout=50).text


def test_a_server_that_stops_within_the_handshake(start, tmp_path, database):
    """The worker serves others meanwhile, and the time limit counts."""
    server = postgres_server.serve(start, tmp_path / "services", database, "packaged_orders", 3, "-DLIMIT_MS=500",
                                   uri=database.uri(sslmode="require"))
    wait_until(lambda: server.get("/db/one?name=well", timeout=50).text == "one=well/4 1 rows")
    database.signal(signal.SIGSTOP)
    text = server.get("/db/one?name=well", timeout=50).text
    assert "time limit" in text or "no connection is free" in text
    assert server.get("/db/count").status == 200
    database.signal(signal.SIGCONT)
    wait_until(lambda: server.get("/db/one?name=well", timeout=50).text == "one=well/4 1 rows")
