# SPDX-License-Identifier: Apache-2.0
"""
A client that has sent its request ends its side, with close_notify (RFC 8446 section 6.1) or, as many do, without. The
answer comes whole in both cases, since a request says itself where it ends.
"""

import socket

import pytest

from harness import certificates, http, secured, tls_connection
from harness.content import noise

plugin = secured.each_plugin()

FILES = {"a.txt": "text", "big.bin": noise(3_000_000)}


@pytest.mark.parametrize("version", secured.BOTH)
@pytest.mark.parametrize("says_so", [True, False])
def test_the_answer_comes(start, version, says_so):
    server = start(**secured.config(certificates.issue().lines(), files=FILES))
    for name, content in FILES.items():
        with tls_connection.connect(server, certificates.trusting(version=version)) as connection:
            connection.send(http.request(f"/{name}"))
            if says_so:
                connection.finish_sending()
            else:
                connection.raw.shutdown(socket.SHUT_WR)
            response = http.parse_one(connection.rest_until_cut(), "GET")
            assert response.status == 200
            assert response.body == (content.encode() if isinstance(content, str) else content)


@pytest.mark.parametrize("version", secured.BOTH)
def test_half_a_head_is_none(start, version):
    """What was cut on its way is not taken for whole."""
    server = start(**secured.config(certificates.issue().lines(), files=FILES))
    with tls_connection.connect(server, certificates.trusting(version=version)) as connection:
        connection.send(b"GET /a.txt HTTP/1.1\r\nHost: localhost\r\n")
        connection.raw.shutdown(socket.SHUT_WR)
        assert b"text" not in connection.rest_until_cut()
