# SPDX-License-Identifier: Apache-2.0
"""CheckClientCert: who must show a certificate, and what is known of him then."""

import ssl

import pytest

from harness import certificates, secured
from harness.client import eventually
from harness.config import section

plugin = secured.each_plugin()

CLIENT, STRANGER = "/O=Tests/CN=client", "/O=Tests/CN=stranger"


def lines(mode, pair=None, by="Test CA"):
    return (pair or certificates.issue()).lines(f"CheckClientCert {mode}", f"CAFile {certificates.authority(by).certificate}")


def known():
    return certificates.client(CLIENT)


def stranger():
    return certificates.client(STRANGER, by="Another CA")


def context(version, as_client=None):
    context = certificates.trusting(version=version, as_client=as_client)
    context.check_hostname = False
    return context


def ask(server, version, as_client=None, name="localhost", host="localhost"):
    return secured.ask(server, context=context(version, as_client), name=name, host=host)


REFUSED = (ssl.SSLError, ConnectionResetError)


@pytest.fixture(scope="module")
def strict(start_shared):
    return start_shared(**secured.config(lines("on")))


@pytest.mark.parametrize("version", secured.BOTH)
def test_on(strict, version):
    assert ask(strict, version, known()).body == b"text"
    with pytest.raises(REFUSED):
        ask(strict, version)
    with pytest.raises(REFUSED):
        ask(strict, version, stranger())


@pytest.mark.parametrize("version", secured.BOTH)
def test_the_alert_says_why(strict, version):
    """A reset would overtake it, were the rest of what the client sent not read."""
    with pytest.raises(ssl.SSLError, match="CERTIFICATE_REQUIRED|HANDSHAKE_FAILURE"):
        ask(strict, version)
    with pytest.raises(ssl.SSLError, match="UNKNOWN_CA"):
        ask(strict, version, stranger())


@pytest.mark.parametrize("version", secured.BOTH)
def test_optional(start, version):
    server = start(**secured.config(lines("optional")))
    assert ask(server, version).body == b"text"
    assert ask(server, version, known()).body == b"text"
    with pytest.raises(REFUSED):
        ask(server, version, stranger())


@pytest.mark.parametrize("version", secured.BOTH)
def test_off_asks_nobody(start, version):
    server = start(**secured.config(certificates.issue().lines()))
    assert ask(server, version, stranger()).body == b"text"


@pytest.fixture(scope="module")
def sites(start_shared, tmp_path_factory):
    """a.test demands certificates, b.test those of another authority, the rest nothing."""
    root = tmp_path_factory.mktemp("root")
    (root / "a.txt").write_text("text")
    return start_shared(**secured.config(
        certificates.issue().lines(), server="Listen 127.0.0.2:0",
        sites={"a": secured.site("a.test", lines("on", certificates.issue("a.test")), root),
               "b": secured.site("b.test", lines("on", certificates.issue("b.test"), "Another CA"), root),
               "c": secured.site("c.test", lines("optional", certificates.issue("c.test")), root),
               "d": secured.site("d.test", certificates.issue("d.test").lines(), root)}))


@pytest.mark.parametrize("version", secured.BOTH)
def test_one_site_demands_it(sites, version):
    assert ask(sites, version).body == b"text"
    assert ask(sites, version, known(), "a.test", "a.test").body == b"text"
    assert ask(sites, version, stranger(), "b.test", "b.test").body == b"text"
    assert ask(sites, version, name="c.test", host="c.test").body == b"text"
    with pytest.raises(REFUSED):
        ask(sites, version, name="a.test", host="a.test")
    with pytest.raises(REFUSED):
        ask(sites, version, known(), "b.test", "b.test")


@pytest.mark.parametrize("name, host", [("localhost", "a.test"), ("d.test", "a.test"), ("c.test", "a.test"),
                                        ("a.test", "b.test"), ("nobody.test", "a.test"), (None, "a.test"),
                                        ("d.test", "c.test")])
@pytest.mark.parametrize("version", secured.BOTH)
def test_no_way_around_by_another_name(sites, name, host, version):
    """The handshake named a site that asks for less; RFC 9110 section 15.5.20."""
    assert ask(sites, version, known(), name, host).status == 421


@pytest.mark.openssl
def test_more_than_is_asked_for_is_no_harm(sites):
    assert ask(sites, secured.TLS13, known(), "a.test", "d.test").body == b"text"


def test_no_way_around_in_the_clear(sites):
    plain = next(address for address in sites.addresses if address.startswith("127.0.0.2"))
    with sites.connect(("127.0.0.2", int(plain.rpartition(":")[2]))) as connection:
        assert connection.request("/a.txt", headers={"Host": "a.test"}).status == 403
        assert connection.request("/a.txt", headers={"Host": "c.test"}).status == 200
        assert connection.request("/a.txt", headers={"Host": "d.test"}).status == 200


@pytest.mark.parametrize("version", secured.BOTH)
def test_no_way_around_by_a_session(sites, version):
    client = context(version)
    with certificates.connected(("127.0.0.1", sites.port), client, name="d.test") as raw:
        assert secured.get(raw, host="d.test").status == 200
        session = raw.session
    with pytest.raises(REFUSED):
        with certificates.connected(("127.0.0.1", sites.port), client, name="a.test", session=session) as raw:
            secured.get(raw, host="a.test")


def test_the_subject_is_in_the_log(start, tmp_path, plugin):
    log = tmp_path / "access.log"
    config = secured.config(lines("optional"))
    config["extra"]["plugins.load"] = section("PLUGINS", f"Load {plugin}\nLoad logger")
    config["extra"]["plugins/logger/logger.conf"] = section(
        "LOGGER", f"MasterLog {log}\nFlushTimeout 0\nFormat '%{{SSL_PROTOCOL}}x %{{SSL_CIPHER}}x %{{SSL_CLIENT_S_DN}}x'")
    server = start(**config)
    version, cipher = (secured.TLS13, "TLSv1.3 TLS_") if plugin == "tls" else (secured.TLS12, "TLSv1.2 ECDHE-")
    assert ask(server, version, known()).status == 200
    assert ask(server, secured.TLS12).status == 200
    assert eventually(lambda: log.exists() and len(log.read_text().splitlines()) == 2)
    first, second = sorted(log.read_text().splitlines(), key=lambda line: line.endswith(" -"))
    assert first.startswith(cipher) and first.endswith(" O=Tests,CN=client")
    assert second.startswith("TLSv1.2 ECDHE-") and second.endswith(" -")
