# SPDX-License-Identifier: Apache-2.0
"""Session tickets: on any worker, over a reload, and nowhere else."""

import ssl
import time

import pytest

from harness import certificates, secured

plugin = secured.each_plugin()

LIFE_S = 4
ATTEMPTS = 12  # connections of which each worker gets some


def context(version, as_client=None):
    context = certificates.trusting(version=version, as_client=as_client)
    context.check_hostname = False
    return context


def visit(server, client, session=None, name="localhost", host="localhost"):
    """One request. @return whether the session went on, and the newest one."""
    with certificates.connected(("127.0.0.1", server.port), client, name=name, session=session) as raw:
        answer = secured.get(raw, host=host)  # tickets of TLS 1.3 come behind the handshake
        return raw.session_reused, raw.session, answer.status


@pytest.fixture(scope="module")
def server(start_shared):
    return start_shared(**secured.config(certificates.issue().lines(), server="Workers 4\nScheduler Fair"))


@pytest.mark.parametrize("version", secured.BOTH)
def test_a_session_goes_on_with_any_worker(server, version):
    client = context(version)
    reused, session, _ = visit(server, client)
    assert not reused
    for _ in range(ATTEMPTS):
        reused, session, status = visit(server, client, session)
        assert reused and status == 200


@pytest.mark.openssl
def test_each_resumption_brings_the_next_ticket(server):
    """A ticket of TLS 1.3 is for one use."""
    client = context(secured.TLS13)
    sessions = [visit(server, client)[1]]
    for _ in range(4):
        reused, session, _ = visit(server, client, sessions[-1])
        assert reused
        sessions.append(session)
    assert len({session.id for session in sessions}) == len(sessions)


@pytest.mark.parametrize("version", secured.BOTH)
def test_a_session_goes_on_behind_a_reload(start, version):
    config = secured.config(certificates.issue().lines())
    server, client = start(**config), context(version)
    _, session, _ = visit(server, client)
    for _ in range(3):
        server.reload("reloaded")
    assert visit(server, client, session)[0]


@pytest.mark.parametrize("version", secured.BOTH)
def test_no_tickets(start, version):
    server, client = start(**secured.config(certificates.issue().lines("SessionTickets off"))), context(version)
    _, session, _ = visit(server, client)
    assert not session or not session.has_ticket
    assert not visit(server, client, session)[0]


@pytest.mark.parametrize("version", secured.BOTH)
def test_another_servers_ticket_is_none(server, start, version):
    other, client = start(**secured.config(certificates.issue().lines())), context(version)
    _, session, _ = visit(server, client)
    reused, _, status = visit(other, client, session)
    assert not reused and status == 200


@pytest.mark.parametrize("version", secured.BOTH)
def test_a_session_stays_on_its_site(start, tmp_path, version):
    """Who shook hands with one site shall not be known to another for it."""
    (tmp_path / "a.txt").write_text("text")
    sites = {name: secured.site(f"{name}.test", certificates.issue(f"{name}.test").lines(), tmp_path) for name in "ab"}
    server, client = start(**secured.config(certificates.issue().lines(), sites=sites)), context(version)
    _, session, _ = visit(server, client, name="a.test", host="a.test")
    for name in ("b.test", "localhost"):
        try:
            reused, _, _ = visit(server, client, session, name=name, host=name)
        except ssl.SSLError:  # TLS 1.2: the handshake ends with an alert
            reused = False
        assert not reused
    assert visit(server, client, session, name="a.test", host="a.test")[0]


def test_a_certificate_of_the_client_is_known_to_a_resumed_session(start):
    lines = certificates.issue().lines("CheckClientCert on", f"CAFile {certificates.authority().certificate}")
    server = start(**secured.config(lines))
    client = context(secured.TLS12, as_client=certificates.client())
    _, session, _ = visit(server, client)
    reused, _, status = visit(server, client, session)
    assert reused and status == 200


@pytest.mark.parametrize("version", secured.BOTH)
def test_a_session_ends_with_the_clients_certificate(start, version):
    """Tickets are renewed each time, so that it could go on for ever."""
    lines = certificates.issue().lines("CheckClientCert on", f"CAFile {certificates.authority().certificate}")
    server = start(**secured.config(lines))
    client = context(version, as_client=certificates.short_lived_client(LIFE_S))
    until = time.monotonic() + LIFE_S + 1
    _, session, status = visit(server, client)
    assert status == 200
    assert visit(server, client, session)[0]
    time.sleep(until - time.monotonic())
    with pytest.raises((ssl.SSLError, ConnectionResetError)):
        visit(server, client, session)
