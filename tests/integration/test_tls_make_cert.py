# SPDX-License-Identifier: Apache-2.0
"""`monkey --make-cert`: a pair that a server can serve with and a client can be told to trust."""

import pathlib
import shutil
import ssl
import stat
import subprocess

import pytest

from harness import process, secured, tools
from harness.config import section


@pytest.fixture(params=["tls", "mbedtls"])
def plugin(request):
    folder = pathlib.Path(process.binary()).parent / "plugins"
    if not (folder / f"monkey-{request.param}.so").exists():
        pytest.skip("this build has no such plugin")
    return request.param


@pytest.fixture
def program(plugin, tmp_path):
    """A server beside which only this plugin is found."""
    home = tmp_path / "built"
    (home / "plugins").mkdir(parents=True)
    (home / "build.ninja").touch()
    built = pathlib.Path(process.binary()).parent
    shutil.copy(built / "monkey", home / "monkey")
    shutil.copy(built / "plugins" / f"monkey-{plugin}.so", home / "plugins")
    return home / "monkey"


def make(program, *arguments):
    return subprocess.run([program, "--make-cert", *map(str, arguments)], env=process.environment(),
                          capture_output=True, text=True, timeout=30)


def made(program, folder, *names):
    result = make(program, folder, *names)
    assert (result.returncode, result.stderr) == (0, ""), result.stderr
    assert result.stdout.startswith(f"made {folder}/cert.pem and {folder}/key.pem, valid until 20")
    return folder / "cert.pem", folder / "key.pem"


def serve(start, plugin, certificate, key):
    return start(**secured.config(f"CertificateFile {certificate}\nKeyFile {key}", plugin=plugin))


@pytest.mark.parametrize("names, asked", [
    ([], ["localhost", "127.0.0.1"]),
    (["a.test", "*.b.test", "10.1.2.3", "2001:db8::1"], ["a.test", "x.b.test", "10.1.2.3", "2001:db8::1"]),
])
def test_a_client_is_served_under_each_name(start, plugin, program, tmp_path, names, asked):
    pair = made(program, tmp_path / "made", *names)
    server = serve(start, plugin, *pair)
    for name in asked:
        context = ssl.create_default_context(cafile=pair[0])
        answer = secured.ask(server, context=context, name=name)
        assert answer.body == b"text"
    context = ssl.create_default_context(cafile=pair[0])
    with pytest.raises(ssl.SSLCertVerificationError, match="mismatch|not valid for"):
        secured.ask(server, context=context, name="other.test")


def test_other_clients(start, plugin, program, tmp_path):
    certificate, key = made(program, tmp_path / "made")
    server = serve(start, plugin, certificate, key)
    done = tools.run("curl", "-sS", "--cacert", certificate, f"https://localhost:{server.port}/a.txt", "--resolve",
                     f"localhost:{server.port}:127.0.0.1")
    assert done.stdout == b"text", done.stderr


def test_what_the_certificate_says(program, tmp_path):
    certificate, key = made(program, tmp_path / "made", "a.test", "::1")
    text = tools.run("openssl", "x509", "-in", certificate, "-noout", "-text").stdout.decode()
    for part in ("CN = a.test", "ecdsa-with-SHA256", "prime256v1", "CA:FALSE", "Digital Signature",
                 "TLS Web Server Authentication", "DNS:a.test, IP Address:0:0:0:0:0:0:0:1"):
        assert part in text
    assert tools.run("openssl", "x509", "-in", certificate, "-noout", "-checkend", str(800 * 86400)).returncode == 0
    assert tools.run("openssl", "x509", "-in", certificate, "-noout", "-checkend", str(825 * 86400)).returncode == 1
    assert tools.run("openssl", "verify", "-x509_strict", "-CAfile", certificate, certificate).returncode == 0
    public = tools.run("openssl", "pkey", "-in", key, "-pubout").stdout
    assert public and public == tools.run("openssl", "x509", "-in", certificate, "-noout", "-pubkey").stdout


def test_files(program, tmp_path):
    certificate, key = made(program, tmp_path / "made")
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    before = certificate.read_bytes(), key.read_bytes()
    again = make(program, tmp_path / "made")
    assert again.returncode == 1 and "key.pem exists already and is kept" in again.stderr
    assert (certificate.read_bytes(), key.read_bytes()) == before
    other = made(program, tmp_path / "other")
    assert (other[0].read_bytes(), other[1].read_bytes()) != before
    serials = {tools.run("openssl", "x509", "-in", file, "-noout", "-serial").stdout for file in (certificate, other[0])}
    assert len(serials) == 2


@pytest.mark.parametrize("arguments, sentence", [
    (["{home}/none/made"], "cannot make"),
    (["{home}/made", "not a name"], '"not a name" is neither a host name nor an address'),
    (["{home}/made", *["x" * 63] * 40], "too many names"),
])
def test_what_cannot_be_made(program, tmp_path, arguments, sentence):
    result = make(program, *[word.format(home=tmp_path) for word in arguments])
    assert result.returncode == 1 and result.stdout == ""
    assert sentence in result.stderr and result.stderr.count("\n") == 1
    assert not (tmp_path / "made").exists()


def test_no_configuration_is_read(program, tmp_path):
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "monkey.conf").write_text("[SERVER]\n    Nonsense 1\n")
    result = subprocess.run([program, "-c", tmp_path / "bad", "--make-cert", tmp_path / "made"],
                            env=process.environment(), capture_output=True, text=True, timeout=30)
    assert result.returncode == 0, result.stderr


def test_pair_in_a_site(start, plugin, program, tmp_path):
    """As the example of a site has it."""
    certificate, key = made(program, tmp_path / "made", "localhost")
    server = start(**secured.config(plugin=plugin),
                   site=section("TLS", f"CertificateFile {certificate}\nKeyFile {key}"))
    assert secured.ask(server, context=ssl.create_default_context(cafile=certificate)).status == 200
