# SPDX-License-Identifier: Apache-2.0
"""Which certificate a client is shown, and which ones a configuration is refused for."""

import os
import re
import ssl
import subprocess

import pytest

from harness import certificates, secured, tools
from harness.config import section

plugin = secured.each_plugin()


@pytest.fixture(scope="module")
def server(start_shared, tmp_path_factory):
    root = tmp_path_factory.mktemp("sites")
    (root / "a.txt").write_text("text")
    sites = {
        "exact": secured.site("a.test", certificates.issue("a.test").lines(), root),
        "wildcard": secured.site("*.b.test", certificates.issue("*.b.test").lines(), root),
        "below": secured.site("deep.b.test", certificates.issue("deep.b.test").lines(), root),
        "silent": secured.site("silent.test", root=root),
    }
    return start_shared(**secured.config(certificates.issue("default.test").lines(), sites=sites))


@pytest.mark.parametrize("asked, names", [
    ("a.test", ["a.test"]), ("A.TEST", ["a.test"]), ("x.b.test", ["*.b.test"]), ("x.y.b.test", ["*.b.test"]),
    ("a.test.", ["a.test"]), ("x.b.test.", ["*.b.test"]), ("deep.b.test", ["deep.b.test"]), ("b.test", ["default.test"]), ("xa.test", ["default.test"]),
    ("silent.test", ["default.test"]), ("nobody.example", ["default.test"]), (None, ["default.test"])])
@pytest.mark.parametrize("version", secured.BOTH)
def test_certificate_of_the_name(server, asked, names, version):
    assert secured.shown(server, asked, certificates.trusting(version=version)) == names


def test_requests_are_served_on_each(server):
    for name in ("a.test", "x.b.test", "nobody.example"):
        context = certificates.trusting()
        context.check_hostname = False
        assert secured.ask(server, context=context, name=name, host=name).body == b"text"


def test_default_site_brings_the_certificate(start):
    """Without one in the plugin's file."""
    server = start(**secured.config(), site=section("TLS", certificates.issue("own.test").lines()))
    assert secured.shown(server, "nobody.test") == ["own.test"]


@pytest.mark.openssl
def test_site_inherits_what_it_does_not_say(start, tmp_path):
    """Protocols of the file hold for a site with a certificate of its own."""
    sites = {"a": secured.site("a.test", certificates.issue("a.test").lines(), tmp_path)}
    server = start(**secured.config(certificates.issue().lines("Protocols TLSv1.3"), sites=sites))
    assert secured.shown(server, "a.test") == ["a.test"]
    with pytest.raises(ssl.SSLError):
        secured.shown(server, "a.test", certificates.trusting(version=secured.TLS12))


@pytest.mark.openssl
def test_site_has_other_versions_than_the_default(start, tmp_path):
    sites = {"a": secured.site("a.test", certificates.issue("a.test").lines("Protocols TLSv1.3"), tmp_path)}
    server = start(**secured.config(certificates.issue("d.test").lines("Protocols TLSv1.2"), sites=sites))
    for name, good, bad in (("a.test", secured.TLS13, secured.TLS12), ("d.test", secured.TLS12, secured.TLS13)):
        assert secured.shown(server, name, certificates.trusting(version=good)) == [name]
        with pytest.raises(ssl.SSLError):
            secured.shown(server, name, certificates.trusting(version=bad))


@pytest.mark.parametrize("order", [["ec", "rsa"], ["rsa", "ec"]])
def test_two_kinds_of_keys_side_by_side(start, order):
    pairs = [certificates.issue("localhost", kind=kind) for kind in order]
    server = start(**secured.config("\n".join(pair.lines() for pair in pairs)))
    for cipher in ("ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256"):
        context = certificates.trusting(version=secured.TLS12)
        context.set_ciphers(cipher)
        with certificates.connected(("127.0.0.1", server.port), context) as raw:
            assert raw.cipher()[0] == cipher
            assert secured.get(raw).status == 200


def test_chain_in_the_same_file(start):
    server = start(**secured.config(certificates.issue("localhost", chained=True).lines()))
    assert secured.ask(server).body == b"text"


@pytest.mark.parametrize("with_leaf", [False, True])
def test_chain_in_a_file_of_its_own(start, with_leaf):
    pair = certificates.issue("localhost", chained=True)
    chain = pair.chain if with_leaf else certificates.intermediate().certificate
    server = start(**secured.config(f"CertificateFile {pair.certificate}\nKeyFile {pair.key}\n"
                                    f"CertificateChainFile {chain}"))
    assert secured.ask(server).body == b"text"
    done = tools.run("openssl", "s_client", "-connect", f"127.0.0.1:{server.port}", "-showcerts")
    assert done.stdout.count(b"BEGIN CERTIFICATE") == 2


def test_relative_paths_begin_at_the_configuration(start):
    pair = certificates.issue()
    server = start(**secured.config("CertificateFile my.pem\nKeyFile my.key", extra={
        "my.pem": pair.certificate.read_text(), "my.key": pair.key.read_text()}))
    assert secured.ask(server).body == b"text"


# ---- what is refused, with a sentence

def written(path, text, mode=0o600):
    path.write_text(text)
    path.chmod(mode)
    return path


def faulty(tmp_path):
    good, rsa = certificates.issue(), certificates.issue(kind="rsa")
    garbage = written(tmp_path / "garbage.pem", "-----BEGIN CERTIFICATE-----\nnot\n-----END CERTIFICATE-----\n")
    empty = written(tmp_path / "empty.pem", "")
    locked = tmp_path / "locked.key"
    tools.run("openssl", "pkcs8", "-topk8", "-in", good.key, "-out", locked, "-passout", "pass:secret")
    small = tmp_path / "dh.pem"
    tools.run("openssl", "dhparam", "-dsaparam", "-out", small, "1024")
    return {
        "missing": (f"CertificateFile {tmp_path}/none.pem\nKeyFile {good.key}", "none.pem: not found"),
        "folder": (f"CertificateFile {tmp_path}\nKeyFile {good.key}", "is not a file"),
        "garbage": (f"CertificateFile {garbage}\nKeyFile {good.key}", "is not a certificate in PEM"),
        "empty": (f"CertificateFile {empty}\nKeyFile {good.key}", "is not a certificate in PEM"),
        "key_as_certificate": (f"CertificateFile {good.key}\nKeyFile {good.key}", "is not a certificate in PEM"),
        "certificate_as_key": (f"CertificateFile {good.certificate}\nKeyFile {good.certificate}", "is not a private key in PEM"),
        "locked": (f"CertificateFile {good.certificate}\nKeyFile {locked}", "has a password"),
        "wrong_key": (certificates.wrong_key().lines(), "is not the key of the certificate in"),
        "no_key": (f"CertificateFile {good.certificate}", "names 1 certificates (CertificateFile) and 0 keys"),
        "no_certificate": (f"KeyFile {good.key}", "needs CertificateFile and KeyFile"),
        "too_many": ("\n".join([good.lines()] * 5), "CertificateFile: at most 4"),
        "two_of_a_kind": (f"{good.lines()}\n{certificates.issue('b.test', number=1).lines()}",
                          "there is a certificate for this kind of key already"),
        "chain": (good.lines(f"CertificateChainFile {empty}"), "CertificateChainFile:"),
        "no_authority": (good.lines("CheckClientCert on"), "CheckClientCert needs CAFile"),
        "bad_authority": (good.lines("CheckClientCert on", f"CAFile {garbage}"), "CAFile:"),
        "weak_dh": (rsa.lines(f"DHParameterFile {small}"), "1024 bits are too few"),
        "no_dh": (rsa.lines(f"DHParameterFile {rsa.certificate}"), "has no DH parameters in PEM"),
        "ciphers": (good.lines("Ciphers ROT13"), 'knows none of "ROT13"'),
        "ciphersuites": (good.lines("Ciphersuites TLS_ROT13"), 'does not know all of "TLS_ROT13"'),
        "old_protocol": (good.lines("Protocols TLSv1.1 TLSv1.2"), "Protocols: expected TLSv1.2, TLSv1.3 or both"),
        "ocsp": (good.lines(f"OCSPFile {garbage}"), "is not an OCSP response in DER"),
    }


KINDS = ["missing", "folder", "garbage", "empty", "key_as_certificate", "certificate_as_key", "locked", "wrong_key",
         "no_key", "no_certificate", "too_many", "two_of_a_kind", "chain", "no_authority", "bad_authority",
         "weak_dh", "no_dh", "ciphers", "ciphersuites", "old_protocol", "ocsp"]


OPENSSLS = {"weak_dh", "ciphers", "ciphersuites", "ocsp"}  # other words over mbedTLS: test_mbedtls_settings.py


@pytest.mark.parametrize("kind", [pytest.param(kind, marks=pytest.mark.openssl if kind in OPENSSLS else ()) for kind in KINDS])
def test_what_cannot_work_is_refused(start, tmp_path, kind):
    lines, sentence = faulty(tmp_path)[kind]
    server = start(**secured.config(lines), wait=False)
    assert server.expect_exit() != 0
    assert sentence in server.log()
    assert "tls.conf:" in server.log()


def test_all_faulty_kinds_are_tried(tmp_path):
    assert list(faulty(tmp_path)) == KINDS


def test_fault_of_a_site_names_its_file(start, tmp_path):
    sites = {"bad": secured.site("a.test", certificates.wrong_key().lines(), tmp_path)}
    server = start(**secured.config(certificates.issue().lines(), sites=sites), wait=False)
    assert server.expect_exit() != 0
    assert "sites/bad:" in server.log() and "is not the key of the certificate in" in server.log()


@pytest.mark.parametrize("kind, sentence", [("expired", "expired on Feb  1"), ("future", "is not valid before Jan  1")])
def test_certificates_out_of_time_stop_nothing_else(start, tmp_path, plugin, kind, sentence):
    """Other sites are served, and the metrics tell when each certificate expires."""
    bad = getattr(certificates, kind)("a.test")
    config = secured.config(certificates.issue("d.test").lines(), sites={"bad": secured.site("a.test", bad.lines(), tmp_path)})
    config["extra"]["plugins.load"] = section("PLUGINS", f"Load {plugin}\nLoad status")
    config["extra"]["plugins/status/status.conf"] = section("STATUS", "Metrics /metrics")
    server = start(**config)
    assert "sites/bad:" in server.log() and sentence in server.log()
    assert secured.shown(server, "d.test") == ["d.test"]
    with pytest.raises(ssl.SSLCertVerificationError, match="certificate (has expired|is not yet valid)"):
        secured.shown(server, "a.test")
    metrics = secured.ask(server, "/metrics", name="d.test").body.decode()
    name = f"monkey_{plugin}_certificate_not_after_seconds"
    until = {"expired": "1580515200", "future": "3789590400"}[kind]
    assert f'{name}{{file="{bad.certificate}",site="a.test"}} {until}' in metrics
    assert re.search(rf'^{name}{{file="[^"]+"}} [1-9]\d+$', metrics, re.M)


def test_address_without_any_certificate_is_refused(start):
    server = start(**secured.config(), wait=False)
    assert server.expect_exit() != 0
    assert "names CertificateFile and KeyFile" in server.log()


def test_no_address_needs_no_certificate(start, plugin):
    """The plugin may be there for backends only."""
    server = start(server="Listen 127.0.0.1:0", extra={"plugins.load": section("PLUGINS", f"Load {plugin}")},
                   files={"a.txt": "text"})
    assert server.get("/a.txt").body == b"text"


def test_key_that_everybody_may_read_is_a_warning(start, tmp_path):
    pair = certificates.issue()
    key = written(tmp_path / "open.key", pair.key.read_text(), 0o644)
    server = start(**secured.config(f"CertificateFile {pair.certificate}\nKeyFile {key}"))
    assert secured.ask(server).status == 200
    assert "can be read by everybody" in server.log()


@pytest.fixture
def key_in_memory():
    """A path to it, which is no name of a file: its mode says nothing."""
    fd = os.memfd_create("key")
    os.write(fd, certificates.issue().key.read_bytes())
    os.fchmod(fd, 0o777)
    yield f"/proc/{os.getpid()}/fd/{fd}"
    os.close(fd)


def test_key_in_memory_is_no_warning(start, key_in_memory):
    server = start(**secured.config(f"CertificateFile {certificates.issue().certificate}\nKeyFile {key_in_memory}"))
    assert secured.ask(server).status == 200
    assert "can be read by everybody" not in server.log()


@pytest.mark.parametrize("path", ["/proc/self/fd/0", "/dev/fd/0"])
def test_key_of_a_descriptor_is_no_warning(start, tmp_path, path):
    """Who is given one needs no path to the file."""
    from harness import process
    pair = certificates.issue()
    server = start(**secured.config(f"CertificateFile {pair.certificate}\nKeyFile {path}"), wait=False)
    server.expect_exit()  # its input is no key
    key = written(tmp_path / "open.key", pair.key.read_text(), 0o644)
    with key.open("rb") as given:
        done = subprocess.run([process.binary(), "--test", "-c", server.config.folder], stdin=given, capture_output=True, check=False,
                              timeout=60)
    assert done.returncode == 0 and b"can be read by everybody" not in done.stderr + done.stdout


def test_certificate_of_the_future_is_a_warning(start):
    """A device may have no clock yet."""
    server = start(**secured.config(certificates.future().lines()))
    server.wait_for_log("is not valid before Jan  1")


def test_configuration_test_judges_certificates(start):
    """`--test` says what a start would say."""
    from harness import process
    server = start(**secured.config(certificates.wrong_key().lines()), wait=False)
    server.expect_exit()
    done = tools.run(process.binary(), "--test", "-c", server.config.folder)
    assert done.returncode != 0
    assert b"is not the key of the certificate in" in done.stderr + done.stdout


@pytest.mark.parametrize("names, issued, said", [
    ("a.test", ["a.test", "b.test"], None),
    ("www.b.test *.b.test 127.0.0.1", ["*.b.test"], None),
    ("a.test www.a.test", ["a.test"], "CertificateFile: it is not for the ServerName www.a.test"),
    ("*.a.test", ["a.test"], r"CertificateFile: it is not for the ServerName \*.a.test"),
    ("a.test b.test c.test", ["c.test"], "CertificateFile: it is not for 2 names of ServerName, such as a.test"),
])
def test_a_certificate_without_the_names_of_its_site_is_a_warning(start, tmp_path, names, issued, said):
    sites = {"named": secured.site(names, certificates.issue(*issued).lines(), tmp_path)}
    server = start(**secured.config(certificates.issue("default.test").lines(), sites=sites))
    if said:
        server.wait_for_log(said)
    assert ("it is not for" in server.log()) == bool(said)


@pytest.mark.parametrize("names, said", [
    ("a.test", None), ("a.test 127.0.0.1", None), ("a.test b.test", "CertificateFile: it is not for the ServerName b.test"),
    ("b.test c.test", "CertificateFile: it is not for 2 names of ServerName, such as "),
])
@pytest.mark.parametrize("is_of_file", [True, False])
def test_a_certificate_without_the_names_of_sites_that_have_none_is_a_warning(start, tmp_path, names, said, is_of_file):
    lines = certificates.issue("a.test").lines()
    server = start(**secured.config(lines if is_of_file else "", site="" if is_of_file else section("TLS", lines),
                                    sites={"named": secured.site(names, root=tmp_path)}))
    if said:
        server.wait_for_log(said)
    assert server.log().count("it is not for") == bool(said)
