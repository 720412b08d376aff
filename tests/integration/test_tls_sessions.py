# SPDX-License-Identifier: Apache-2.0
"""Session tickets: on any worker, over a reload, and nowhere else."""

import socket
import ssl
import time

import pytest

from harness import certificates, secured, tls_connection

plugin = secured.each_plugin()

LIFE_S = 4
ATTEMPTS = 12  # connections of which each worker gets some
MANY = 200
CHANGE_CIPHER_SPEC, ALERT, HANDSHAKE = 20, 21, 22  # records, RFC 5246 section 6.2.1
SERVER_HELLO, CERTIFICATE, CERTIFICATE_REQUEST = 2, 11, 13  # RFC 5246 section 7.4


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


@pytest.mark.parametrize("version", secured.BOTH)
def test_no_resumption_of_many_fails_on_any_worker_or_behind_a_reload(start, version):
    config = secured.config(certificates.issue().lines(), server="Workers 3\nScheduler Fair")
    server, client = start(**config), context(version)
    _, session, _ = visit(server, client)
    for number in range(MANY):
        if number % (MANY // 5) == 0:
            server.reload("reloaded")
        reused, session, status = visit(server, client, session)
        assert (reused, status) == (True, 200), number


@pytest.mark.parametrize("version", secured.BOTH)
@pytest.mark.parametrize("asked", ["on", "optional"])
@pytest.mark.parametrize("default", [False, True], ids=["from-a-site", "from-the-default"])
def test_a_session_without_a_certificate_ends_where_one_is_asked_for(start, tmp_path, version, asked, default):
    (tmp_path / "a.txt").write_text("text")
    rule = [f"CheckClientCert {asked}", f"CAFile {certificates.authority().certificate}"]
    sites = {"open": secured.site("open.test", certificates.issue("open.test").lines(), tmp_path),
             "closed": secured.site("closed.test", certificates.issue("closed.test").lines(*rule), tmp_path)}
    server, client = start(**secured.config(certificates.issue().lines(), sites=sites)), context(version)
    name = "localhost" if default else "open.test"
    _, session, _ = visit(server, client, name=name, host=name)
    assert visit(server, client, session, name=name, host=name)[0]
    if asked == "on":
        with pytest.raises((ssl.SSLError, ConnectionResetError)):
            visit(server, client, session, name="closed.test", host="closed.test")
    else:
        reused, _, status = visit(server, client, session, name="closed.test", host="closed.test")
        assert (reused, status) == (False, 200)


def name_last(hello):
    """The same client hello (RFC 5246 section 7.4.1.2) with its name behind all other extensions, the ticket among them."""
    at = 5 + 4 + 2 + 32
    at += 1 + hello[at]                                    # session
    at += 2 + int.from_bytes(hello[at:at + 2], "big")      # ciphers
    at += 1 + hello[at] + 2                                # compression; length of the extensions
    found = []
    rest = hello[at:]
    while rest:
        end = 4 + int.from_bytes(rest[2:4], "big")
        found.append(rest[:end])
        rest = rest[end:]
    return hello[:at] + b"".join(sorted(found, key=lambda extension: extension[:2] == b"\0\0"))


def records(data):
    while len(data) >= 5:
        end = 5 + int.from_bytes(data[3:5], "big")
        yield data[0], data[5:end]
        data = data[end:]


def said(server, hello):
    """What answers a hello: the kinds of the handshake messages in the clear, and is there an alert, which may be encrypted?"""
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as raw:
        raw.sendall(hello)
        raw.shutdown(socket.SHUT_WR)
        told = list(records(b"".join(iter(lambda: raw.recv(65536), b""))))
    kinds = [kind for kind, _ in told]
    clear = told[:kinds.index(CHANGE_CIPHER_SPEC)] if CHANGE_CIPHER_SPEC in kinds else told
    messages, found = b"".join(content for kind, content in clear if kind == HANDSHAKE), []
    while messages:
        found.append(messages[0])
        messages = messages[4 + int.from_bytes(messages[1:4], "big"):]
    return found, ALERT in kinds


def test_a_ticket_before_the_name_does_not_pass_over_what_the_site_asks(start, tmp_path):
    (tmp_path / "a.txt").write_text("text")
    rule = ["CheckClientCert on", f"CAFile {certificates.authority().certificate}"]
    sites = {"closed": secured.site("closed.test", certificates.issue("closed.test").lines(*rule), tmp_path)}
    server, client = start(**secured.config(certificates.issue().lines(), sites=sites)), context(secured.TLS12)
    _, session, _ = visit(server, client)
    resumed, is_refused = said(server, name_last(tls_connection.client_hello(client, "localhost", session)))
    assert SERVER_HELLO in resumed and CERTIFICATE not in resumed and not is_refused
    asked, is_refused = said(server, name_last(tls_connection.client_hello(client, "closed.test", session)))
    assert CERTIFICATE_REQUEST in asked or is_refused
