# SPDX-License-Identifier: Apache-2.0
"""Versions, ciphers, ALPN, and clients that speak no TLS at all."""

import re
import ssl

import pytest

from harness import certificates, http, secured, tools
from harness.content import noise

plugin = secured.each_plugin()


@pytest.fixture(scope="module")
def server(start_shared):
    return start_shared(**secured.config(certificates.issue(kind="rsa").lines(), server="Timeout 4"))


def connect(server, context, **kwargs):
    return certificates.connected(("127.0.0.1", server.port), context, **kwargs)


# ---- versions and ciphers

@pytest.mark.parametrize("version, text", [(secured.TLS12, "TLSv1.2"), (secured.TLS13, "TLSv1.3")])
def test_both_versions(server, version, text):
    with connect(server, certificates.trusting(version=version)) as raw:
        assert raw.version() == text
        assert secured.get(raw).body == b"text"


def test_older_versions_are_refused(server):
    done = tools.run("openssl", "s_client", "-connect", f"127.0.0.1:{server.port}", "-tls1_1", "-cipher", "ALL:@SECLEVEL=0")
    assert b"protocol version" in done.stderr


INTERMEDIATE = ["ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-RSA-CHACHA20-POLY1305"]


@pytest.mark.parametrize("cipher", INTERMEDIATE)
def test_ciphers_of_the_intermediate_profile(server, cipher):
    context = certificates.trusting(version=secured.TLS12)
    context.set_ciphers(cipher)
    with connect(server, context) as raw:
        assert raw.cipher()[0] == cipher


@pytest.mark.parametrize("cipher", ["AES128-GCM-SHA256", "ECDHE-RSA-AES128-SHA", "AES256-SHA",
                                    "DHE-RSA-AES128-GCM-SHA256"])
def test_others_are_refused(server, cipher):
    """No forward secrecy, no authenticated encryption; and DHE without parameters."""
    context = certificates.trusting(version=secured.TLS12)
    context.set_ciphers(cipher)
    with pytest.raises(ssl.SSLError, match="HANDSHAKE_FAILURE"), connect(server, context):
        pass


def test_dhe_with_parameters(start):
    server = start(**secured.config(certificates.issue(kind="rsa").lines(f"DHParameterFile {certificates.dh_parameters()}")))
    context = certificates.trusting(version=secured.TLS12)
    context.set_ciphers("DHE-RSA-AES128-GCM-SHA256")
    with connect(server, context) as raw:
        assert raw.cipher()[0] == "DHE-RSA-AES128-GCM-SHA256"


@pytest.mark.openssl
def test_the_client_prefers(server):
    for order in (INTERMEDIATE, INTERMEDIATE[::-1]):
        context = certificates.trusting(version=secured.TLS12)
        context.set_ciphers(":".join(order))
        with connect(server, context) as raw:
            assert raw.cipher()[0] == order[0]


@pytest.mark.openssl
def test_chosen_ciphers(start):
    server = start(**secured.config(certificates.issue().lines(
        "Ciphers ECDHE-ECDSA-AES256-GCM-SHA384", "Ciphersuites TLS_CHACHA20_POLY1305_SHA256")))
    with connect(server, certificates.trusting(version=secured.TLS12)) as raw:
        assert raw.cipher()[0] == "ECDHE-ECDSA-AES256-GCM-SHA384"
    with connect(server, certificates.trusting(version=secured.TLS13)) as raw:
        assert raw.cipher()[0] == "TLS_CHACHA20_POLY1305_SHA256"


@pytest.mark.openssl
def test_the_first_suite_is_the_cheap_one(server):
    """Python's own list begins with AES-256."""
    context = certificates.trusting(version=secured.TLS13)
    assert context.get_ciphers()[0]["name"] == "TLS_AES_256_GCM_SHA384"
    with connect(server, context) as raw:
        assert raw.cipher()[0] == "TLS_AES_128_GCM_SHA256"


@pytest.mark.openssl
def test_suites_of_a_site(start, tmp_path):
    sites = {"a": secured.site("a.test", certificates.issue("a.test").lines("Ciphersuites TLS_AES_128_GCM_SHA256"), tmp_path)}
    server = start(**secured.config(certificates.issue().lines("Ciphersuites TLS_CHACHA20_POLY1305_SHA256"), sites=sites))
    for name, suite in (("a.test", "TLS_AES_128_GCM_SHA256"), ("localhost", "TLS_CHACHA20_POLY1305_SHA256")):
        with connect(server, certificates.trusting(version=secured.TLS13), name=name) as raw:
            assert raw.cipher()[0] == suite


# ---- ALPN, RFC 7301

@pytest.mark.parametrize("version", secured.BOTH)
@pytest.mark.parametrize("offered", [["http/1.1"], ["h3", "http/1.1"], ["http/1.1", "h3"]])
def test_http_is_chosen(server, offered, version):
    context = certificates.trusting(version=version)
    context.set_alpn_protocols(offered)
    with connect(server, context) as raw:
        assert raw.selected_alpn_protocol() == "http/1.1"
        assert secured.get(raw).status == 200


@pytest.mark.parametrize("version", secured.BOTH)
def test_client_that_offers_the_old_version_only(server, version):
    """curl -0 does; where both are offered the newer one is chosen."""
    context = certificates.trusting(version=version)
    for offered, chosen in ((["http/1.0"], "http/1.0"), (["http/1.0", "http/1.1"], "http/1.1")):
        context.set_alpn_protocols(offered)
        with connect(server, context) as raw:
            assert raw.selected_alpn_protocol() == chosen
            assert secured.get(raw).status == 200


def test_without_alpn(server):
    with connect(server, certificates.trusting()) as raw:
        assert raw.selected_alpn_protocol() is None
        assert secured.get(raw).status == 200


@pytest.mark.parametrize("version", secured.BOTH)
@pytest.mark.parametrize("offered", [["h3"], ["http/0.9", "http/1.12", "HTTP/1.1"]])
def test_only_unknown_protocols(server, offered, version):
    """Section 3.2: no_application_protocol."""
    context = certificates.trusting(version=version)
    context.set_alpn_protocols(offered)
    with pytest.raises(ssl.SSLError, match="NO_APPLICATION_PROTOCOL|no application protocol"), connect(server, context):
        pass


# ---- no TLS

@pytest.mark.parametrize("request_line", ["GET / HTTP/1.1", "POST /x HTTP/1.0", "get"])
def test_request_in_the_clear(server, request_line):
    answer = secured.plainly(server, f"{request_line}\r\nHost: localhost\r\n\r\n".encode())
    response = http.parse_one(answer, "GET")
    assert response.status == 400
    assert response.header("Content-Type") == "text/plain"
    assert response.header("Connection") == "close"
    assert b"https://" in response.body


def test_long_request_in_the_clear_is_answered_too(server):
    """What is unread would reset the connection, and the answer with it."""
    data = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n" + b"x" * 100000
    assert secured.plainly(server, data).startswith(b"HTTP/1.1 400 ")


def test_scheme_and_addresses_of_redirects(start):
    """A folder without its slash: the client goes on where it is."""
    server = start(**secured.config(certificates.issue().lines(), files={"folder/a.txt": "text"}))
    location = secured.ask(server, "/folder").header("Location")
    assert not re.match(r"http:", location)


def test_other_addresses_stay_plain(start):
    """The flag `tls` is one address's."""
    server = start(**secured.config(certificates.issue().lines(), server="Listen 127.0.0.2:0"))
    plain = next(address for address in server.addresses if address.startswith("127.0.0.2"))
    with server.connect(("127.0.0.2", int(plain.rpartition(":")[2]))) as connection:
        assert connection.request("/a.txt").text == "text"
    assert secured.ask(server).body == b"text"


def test_transport_layer(start, plugin):
    config = secured.config(certificates.issue().lines())
    config["server"] = f"TransportLayer {plugin}\nListen 127.0.0.1:0"
    assert secured.ask(start(**config)).body == b"text"


@pytest.mark.parametrize("version", secured.BOTH)
def test_kernel_that_has_no_tls(start, version, plugin):
    """It is asked for each connection until it says so; what it cannot do is done here."""
    if plugin != "tls":
        pytest.skip("refuses the key")
    big = noise(1 << 20)
    server = start(**secured.config(certificates.issue().lines("KernelTLS on"), files={"big.bin": big}))
    for _ in range(3):
        assert secured.ask(server, "/big.bin", certificates.trusting(version=version)).body == big
