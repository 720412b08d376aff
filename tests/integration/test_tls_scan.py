# SPDX-License-Identifier: Apache-2.0
"""testssl.sh tries what it knows to be weak: docs/tls-scan.md. It takes minutes, so it is asked for by TLS_SCAN=1."""

import json
import os

import pytest

from harness import certificates, secured, tls_connection, tools

plugin = secured.each_plugin()

HARMLESS = ("OK", "INFO", "LOW", "WARN")
# What a site tells browsers is its own affair: this one says what a careful one does.
HEADERS = "\n".join(["Header Strict-Transport-Security max-age=31536000", "Header X-Content-Type-Options nosniff",
                     "Header X-Frame-Options DENY", "Header Content-Security-Policy default-src 'self'"])


def certificate(plugin):
    """One of each kind of key, and the authority's word where it can be stapled."""
    ecdsa, rsa = certificates.issue(), certificates.issue(kind="rsa")
    lines = [f"CertificateFile {rsa.chain}", f"KeyFile {rsa.key}"]
    if plugin == "tls":
        lines += [f"OCSPFile {certificates.ocsp_response(pair)}" for pair in (ecdsa, rsa)]
    return ecdsa.lines(*lines)


@pytest.mark.skipif(not os.environ.get("TLS_SCAN"), reason="takes five minutes: set TLS_SCAN=1")
@pytest.mark.slow
@pytest.mark.limit(900)
def test_no_finding_above_low(start, tmp_path, plugin):
    server = start(**secured.config(certificate(plugin), files={"index.html": "welcome"}, host=HEADERS))
    found = tmp_path / "found.json"
    tools.run("testssl", "--quiet", "--color", "0", "--warnings", "batch", "--openssl-timeout", "5", "--ip", "127.0.0.1",
              "--add-ca", certificates.authority().certificate, "--jsonfile", found, f"localhost:{server.port}", timeout=880)
    findings = json.loads(found.read_text())
    assert len(findings) > 100
    assert not [(one["severity"], one["id"], one["finding"]) for one in findings if one["severity"] not in HARMLESS]
    assert tls_connection.get(server).text == "welcome"
