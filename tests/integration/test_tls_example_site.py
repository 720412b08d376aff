# SPDX-License-Identifier: Apache-2.0
"""The example of a site by https, as it is shipped: only its ports are others."""

import pathlib
import re

import pytest

from harness import process, tools
from harness.client import free_ports

EXAMPLE = process.TREE / "examples" / "https"
STS = "Strict-Transport-Security: max-age=15768000"


def texts(plugin, ports):
    """Its files, with other ports; and, as its comments say, with the other plugin."""
    found = {str(file.relative_to(EXAMPLE)): file.read_text() for file in EXAMPLE.rglob("*")
             if file.is_file() and "keys" not in file.parts and not file.name.startswith(".")}
    for name, text in found.items():
        if not name.startswith("www/"):
            text = re.sub("8080|8443", lambda port: str(ports[port[0]]), text)
        if plugin == "mbedtls":
            text = text.replace("Load tls", "Load mbedtls")
            text = re.sub(r"^( *Listen \d+) tls$", r"\1 mbedtls", text, flags=re.M)
        found[name] = text
    return found


@pytest.fixture(params=["tls", "mbedtls"])
def site(request, start, tmp_path):
    """A function that gets a URL as curl does, and the ports for http and https."""
    if not (pathlib.Path(process.binary()).parent / "plugins" / f"monkey-{request.param}.so").exists():
        pytest.skip("this build has no such plugin")
    keys = tmp_path / "keys"
    assert process.run("--make-cert", keys, "localhost").returncode == 0
    ports = dict(zip(("8080", "8443"), free_ports(2)))
    pair = {f"keys/{file.name}": file.read_text() for file in keys.iterdir()}
    start(extra={**texts(request.param, ports), **pair})

    def get(url, *arguments):
        """Heads and bodies of all answers."""
        done = tools.run("curl", "-sSi", "--cacert", keys / "cert.pem", *arguments, url)
        assert done.returncode == 0, done.stderr
        return done.stdout.decode()

    return get, ports["8080"], ports["8443"]


def test_http_leads_to_https(site):
    get, plain, secure = site
    answer = get(f"http://localhost:{plain}/a/b?c=d")
    assert answer.startswith("HTTP/1.1 308 ")
    assert f"Location: https://localhost:{secure}/a/b?c=d\r\n" in answer


def test_https_is_served_and_asked_for_again(site):
    get, _, secure = site
    answer = get(f"https://localhost:{secure}/")
    assert answer.startswith("HTTP/1.1 200 ")
    assert STS + "\r\n" in answer
    assert "This page came by https." in answer
    missing = get(f"https://localhost:{secure}/none")
    assert missing.startswith("HTTP/1.1 404 ") and STS in missing


def test_who_follows_arrives(site):
    get, plain, _ = site
    answer = get(f"http://localhost:{plain}/", "-L")
    assert [line.split()[1] for line in answer.splitlines() if line.startswith("HTTP/")] == ["308", "200"]
    assert "This page came by https." in answer


def test_other_names_are_led_there_too(site):
    get, _, secure = site
    answer = get(f"https://localhost:{secure}/x", "-H", "Host: other.test")
    assert answer.startswith("HTTP/1.1 308 ")
    assert f"Location: https://localhost:{secure}/x\r\n" in answer
