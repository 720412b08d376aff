# SPDX-License-Identifier: Apache-2.0
"""Over TLS, too, a client that sends a whole body before it looks at the answer can read what refuses it."""

import pytest

from harness import certificates, http, secured, tls_connection

plugin = secured.each_plugin()


@pytest.mark.parametrize("size", [2_000_000, 20_000_000])
def test_413_is_readable_by_a_client_that_sends_all_first(start, size):
    server = start(**secured.config(certificates.issue("localhost").lines(), server="MaxBodySize 1M", files={"a.txt": "text"}))
    port = int(server.addresses[0].rpartition(":")[2])
    for _ in range(3):
        with tls_connection.TlsConnection(("127.0.0.1", port), name="localhost") as connection:
            connection.send(http.request("/a.txt", "POST", headers={"Content-Length": str(size)}) + b"x" * size)
            assert connection.response("POST").status == 413
