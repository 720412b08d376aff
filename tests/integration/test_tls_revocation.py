# SPDX-License-Identifier: Apache-2.0
"""CRLFile: certificates of clients that their authority took back."""

import ssl

import pytest

from harness import certificates, process, secured
from harness.config import Config

plugin = secured.each_plugin()

REFUSED = (ssl.SSLError, ConnectionResetError)
AUTHORITY = certificates.authority


def good():
    return certificates.client("/O=Tests/CN=client")


def revoked():
    return certificates.client("/O=Tests/CN=revoked")


@pytest.fixture
def lists(tmp_path):
    """The file that the server is told of; what it holds changes."""
    path = tmp_path / "revoked.crl"
    path.write_bytes(certificates.crl().read_bytes())
    return path


def lines(*crls, mode="on", ca=None):
    return certificates.issue().lines(f"CheckClientCert {mode}", f"CAFile {ca or AUTHORITY().certificate}",
                                      *(f"CRLFile {path}" for path in crls))


def context(version=secured.TLS12, as_client=None):
    found = certificates.trusting(version=version, as_client=as_client)
    found.check_hostname = False
    return found


def ask(server, version, as_client):
    return secured.ask(server, context=context(version, as_client))


@pytest.mark.parametrize("mode", ["on", "optional"])
@pytest.mark.parametrize("version", secured.BOTH)
def test_revoked_certificate_is_refused(start, version, mode):
    server = start(**secured.config(lines(certificates.crl(revoked=[revoked()]), mode=mode)))
    assert ask(server, version, good()).body == b"text"
    with pytest.raises(REFUSED):
        ask(server, version, revoked())


@pytest.mark.parametrize("version", secured.BOTH)
def test_lists_of_several_authorities(start, version, tmp_path):
    other = certificates.client("/O=Tests/CN=other", by="Another CA")
    both = tmp_path / "both.pem"
    both.write_bytes(AUTHORITY().certificate.read_bytes() + AUTHORITY("Another CA").certificate.read_bytes())
    crls = [certificates.crl(revoked=[revoked()]), certificates.crl("Another CA", revoked=[other])]
    server = start(**secured.config(lines(*crls, ca=both)))
    assert ask(server, version, good()).body == b"text"
    for client in (revoked(), other):
        with pytest.raises(REFUSED):
            ask(server, version, client)


@pytest.mark.parametrize("version", secured.BOTH)
def test_reload_with_a_new_list(start, lists, version):
    server = start(**secured.config(lines(lists)))
    assert ask(server, version, revoked()).body == b"text"
    lists.write_bytes(certificates.crl(revoked=[revoked()]).read_bytes())
    server.reload("reloaded")
    with pytest.raises(REFUSED):
        ask(server, version, revoked())
    assert ask(server, version, good()).body == b"text"


@pytest.mark.parametrize("version", secured.BOTH)
def test_no_way_around_by_what_began_before(start, lists, version):
    """Neither a session nor a connection that was kept goes on behind a list that is new."""
    server = start(**secured.config(lines(lists)))
    client = context(version, revoked())
    with certificates.connected(("127.0.0.1", server.port), client) as kept:
        assert secured.get(kept).body == b"text"
        session = kept.session
        lists.write_bytes(certificates.crl(revoked=[revoked()]).read_bytes())
        server.reload("reloaded")
        assert secured.get(kept).status == 421
    with pytest.raises(REFUSED):
        with certificates.connected(("127.0.0.1", server.port), client, session=session) as raw:
            secured.get(raw)


def test_list_that_is_out_of_date_is_told_and_refuses(start):
    server = start(**secured.config(lines(certificates.crl(days=("-crl_lastupdate", "20240101000000Z",
                                                                   "-crl_nextupdate", "20240201000000Z")))))
    assert "CRLFile: " in server.log() and "expired on Feb  1 00:00:00 2024 GMT" in server.log()
    with pytest.raises(REFUSED):
        ask(server, secured.TLS12, good())


def check(tmp_path, *crls, ca=None):
    config = Config(tmp_path)
    config.write(**secured.config(lines(*crls, ca=ca)))
    return process.run("--configdir", config.folder, "--test")


def test_authority_without_a_list_is_a_warning(tmp_path):
    both = tmp_path / "both.pem"
    both.write_bytes(AUTHORITY().certificate.read_bytes() + AUTHORITY("Another CA").certificate.read_bytes())
    checked = check(tmp_path, certificates.crl(), ca=both)
    assert checked.returncode == 0
    assert 'no CRLFile has a list of the authority "CN=Another CA"' in checked.stderr.replace("CN = ", "CN=")
    assert "Test CA" not in checked.stderr


@pytest.mark.parametrize("text, said", [("nothing", "is not a list of revoked certificates in PEM"),
                                        (None, "not found")])
def test_what_is_no_list_is_a_fault(tmp_path, text, said):
    path = tmp_path / "a.crl"
    if text:
        path.write_text(text)
    checked = check(tmp_path, path)
    assert checked.returncode == 1 and f"CRLFile: {path}: {said}" in checked.stderr, checked.stderr


def test_reload_with_a_spoilt_list_keeps_the_old_one(start, lists):
    lists.write_bytes(certificates.crl(revoked=[revoked()]).read_bytes())
    server = start(**secured.config(lines(lists)))
    lists.write_text("nothing")
    server.reload("stays in force")
    assert ask(server, secured.TLS12, good()).body == b"text"
    with pytest.raises(REFUSED):
        ask(server, secured.TLS12, revoked())
