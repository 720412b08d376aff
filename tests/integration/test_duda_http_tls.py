# SPDX-License-Identifier: Apache-2.0
"""Calls of services by https: whom they believe."""

from urllib.parse import quote

import pytest

from harness import certificates, duda, process, secured
from harness.backend import Backend, SecureBackend
from harness.config import section

plugin = secured.each_plugin("tls", "mbedtls")


@pytest.fixture
def ask(start, tmp_path, plugin):
    duda.build(tmp_path / "services", "asking", level=3)
    lines = f"CAFile {certificates.authority().certificate}"
    config = duda.config(tmp_path / "services", "asking", extra={f"plugins/{plugin}/{plugin}.conf": section("TLS_BACKEND", lines)})
    config["extra"]["plugins.load"] += f"    Load {process.plugin(plugin)}\n"
    server = start(server="Workers 1", **config)

    def ask(url, words=""):
        return server.get(f"/asking/ask?url={quote(url, safe='')}{words}").body.decode().split("|", 6)

    return ask


def test_a_server_that_proves_itself(ask):
    with SecureBackend(certificates.issue()) as backend:
        for _ in range(3):
            assert ask(f"https://localhost:{backend.port}/")[::6] == ["ok", "ok"]
        assert backend.connections == 1
        assert backend.requests[0].header("Host") == f"localhost:{backend.port}"


def test_a_server_of_another_name_or_authority(ask):
    for pair in (certificates.issue("other.example"), certificates.expired("localhost")):
        with SecureBackend(pair) as backend:
            error, status, *_, why, _ = ask(f"https://localhost:{backend.port}/")
            assert (error, status) == ("refused", "0") and "the TLS handshake failed" in why
            assert not backend.requests


def test_no_redirect_leads_out_of_https(ask):
    with Backend() as plain:
        to = f"Location: http://{plain.address}/\r\n"
        with SecureBackend(certificates.issue(), each=lambda c, q: c.answer(fields=to, status="302 Found")) as backend:
            assert ask(f"https://localhost:{backend.port}/", "&redirects=9")[0] == "redirects"
        assert not plain.requests
