# SPDX-License-Identifier: Apache-2.0
"""One site on a plain port and on one with TLS: `Redirect https://NAME/` leads from the first to the second."""

import pytest

from harness import certificates, secured
from harness.client import free_port

plugin = secured.each_plugin()


@pytest.fixture(scope="module")
def server(start_shared):
    port = free_port()
    config = secured.config(certificates.issue().lines(), server="Listen 127.0.0.2:0",
                            host=f"Redirect https://localhost:{port}/ 308\n"
                                 "Header Strict-Transport-Security max-age=31536000")
    config["server"] = config["server"].replace("127.0.0.1:0", f"127.0.0.1:{port}")
    server = start_shared(**config)
    server.secure_port = port
    return server


def plainly(server, headers=None):
    address = next(address for address in server.addresses if address.startswith("127.0.0.2"))
    with server.connect(("127.0.0.2", int(address.rpartition(":")[2]))) as connection:
        return connection.request("/a.txt?x=1", headers=headers)


def test_from_the_plain_port(server):
    answer = plainly(server)
    assert answer.status == 308
    assert answer.header("Location") == f"https://localhost:{server.secure_port}/a.txt?x=1"


def test_who_is_there_is_served(server):
    for host in ("localhost", "LOCALHOST", "localhost."):
        answer = secured.ask(server, host=f"{host}:{server.secure_port}")
        assert answer.body == b"text"
        assert answer.header("Strict-Transport-Security") == "max-age=31536000"


@pytest.mark.parametrize("host", ["other.test", "localhost", "localhost:1", "127.0.0.1"])
def test_another_name_or_port_is_led_there(server, host):
    if host != "localhost":
        assert secured.ask(server, host=host).status == 308
    else:  # its port is 443, which is another one
        assert secured.ask(server, host=host).header("Location").startswith("https://localhost:")


def test_the_plain_port_believes_no_host_field(server):
    assert plainly(server, {"Host": f"localhost:{server.secure_port}"}).status == 308
