# SPDX-License-Identifier: Apache-2.0
"""docs/recipes/certificates.md: challenges in the clear for each kind of site, and new certificates without a restart."""

import re
import ssl
import sys

import pytest

from harness import certificates, process, tools
from harness.backend import Backend
from harness.client import eventually, free_ports
from harness.named import Named
from harness.recipes import Recipe

pytestmark = [
    pytest.mark.skipif(not all(process.plugin(name) for name in ("tls", "http2", "file", "proxy_reverse", "status")),
                       reason="not all plugins are built"),
    pytest.mark.once("a page of the documentation"),
]

WWW, SHOP = ("www.example.org", "example.org"), ("shop.example.org",)
HOOK = "/usr/local/sbin/monkey-renewed"
CHALLENGE = "/.well-known/acme-challenge/token"


class Served:
    """The server of the page, begun as it says, and an authority."""

    def __init__(self, start, folder, backend):
        self.recipe, (plain, secure) = Recipe("certificates", folder), free_ports(2)
        self.named, self.port = Named(plain, secure), secure
        self.issued = folder / "issued"
        self.issued.mkdir()
        self.recipe.write({HOOK: self.recipe.files[HOOK], "/srv/www/index.html": "welcome"})
        self.recipe.path(HOOK).chmod(0o755)
        self.recipe.run(self.recipe.commands("--make-cert"))
        self.server = self.recipe.serve(
            start, ("Listen 80\n", f"Listen 127.0.0.1:{plain}\n"), ("Listen 443", f"Listen 127.0.0.1:{secure}"), ("127.0.0.1:8000", backend.address))

    def issue(self, *names, number):
        """The authority has a certificate for the names, which a client asks for."""
        pair = certificates.issue(*names, chained=True, number=number)
        (self.issued / f"{names[0]}.pem").write_bytes(pair.chain.read_bytes())
        (self.issued / f"{names[0]}.key").write_bytes(pair.key.read_bytes())
        return ssl.PEM_cert_to_DER_cert(pair.certificate.read_text())

    def obtain(self, client, check=True):
        """Run the page's commands of certbot or acme.sh."""
        self.recipe.program(client, f'#!/bin/sh\nexec {sys.executable} {tools.HELPERS}/acme.py {client} "$@"\n')
        return self.recipe.run(self.recipe.commands(f"{client} "), check,
                               ACME_ADDRESS=f"127.0.0.1:{self.named.ports['http']}", ACME_ISSUED=str(self.issued),
                               ACME_LIVE=str(self.recipe.path("/etc/letsencrypt/live")))

    def shown(self, name):
        """The certificate that a client gets for a name, in DER."""
        with certificates.connected(("127.0.0.1", self.port), ssl._create_unverified_context(), name=name) as raw:
            return raw.getpeercert(True)

    def trusted(self, name):
        """Its names, for a client that verifies it."""
        with certificates.connected(("127.0.0.1", self.port), name=name) as raw:
            return [value for _, value in raw.getpeercert()["subjectAltName"]]


@pytest.fixture
def served(start, tmp_path):
    with Backend(name="the shop") as backend:
        yield Served(start, tmp_path, backend)


def test_challenges_are_served_in_the_clear(served):
    served.recipe.write({f"/var/lib/acme{CHALLENGE}": "proof"})
    for name in (*WWW, *SHOP):
        assert served.named.body(f"http://{name}{CHALLENGE}") == "proof"
        assert served.named.status(f"http://{name}/.well-known/acme-challenge/x") == 404
    status, fields, _ = served.named.ask("http://example.org/a?b=c")
    assert (status, fields["location"]) == (301, "https://www.example.org/a?b=c")
    assert served.named.body("http://shop.example.org/cart") == "the shop"


def test_the_first_certificates_let_the_server_start(served):
    assert served.shown("www.example.org") != served.shown("shop.example.org")


@pytest.mark.parametrize("client, sites", [("certbot", (WWW, SHOP)), ("acme.sh", (WWW,))], ids=["certbot", "acme.sh"])
def test_a_renewed_certificate_is_served(served, client, sites):
    for number in (1, 2):
        new = {names: served.issue(*names, number=number) for names in sites}
        served.obtain(client)
        for names, certificate in new.items():
            assert eventually(lambda: served.shown(names[0]) == certificate), served.server.log()  # noqa: B023
            assert served.trusted(names[0]) == list(names)


def test_a_pair_that_does_not_fit_changes_nothing(served):
    served.issue(*WWW, number=1)
    (served.issued / "www.example.org.key").write_bytes(certificates.key("ec", 9).read_bytes())
    before = served.shown("www.example.org")
    done = served.obtain("acme.sh", check=False)
    assert done.returncode != 0 and "is not the key of the certificate in" in done.stderr
    assert "reload" not in served.server.log()
    assert served.shown("www.example.org") == before


def test_metrics_say_when_certificates_expire(served):
    text = served.named.body("http://www.example.org/metrics")
    found = re.findall(r'(?m)^monkey_tls_certificate_not_after_seconds\{(.*)\} (\d+)', text)
    assert len(found) == 2
    for name, (labels, _) in zip(("www.example.org", "shop.example.org"), sorted(found, key=lambda one: "shop" in one[0])):
        assert f'/{name}/cert.pem"' in labels and f'site="{name}"' in labels
