# SPDX-License-Identifier: Apache-2.0
"""One site on a plain port and on one with TLS: `Redirect https://NAME/` leads from the first to the second."""

import pytest

from harness import certificates, secured, tls_connection
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


def test_every_name_of_a_site_is_led_to_itself(start):
    """`$host` is the name that was asked for, so nobody goes in circles."""
    port = free_port()
    config = secured.config(certificates.issue().lines(), server="Listen 127.0.0.2:0", host=f"Redirect https://$host:{port}/")
    config["server"] = config["server"].replace("127.0.0.1:0", f"127.0.0.1:{port}")
    server = start(**config)
    for name in ("localhost", "other.test"):
        assert plainly(server, {"Host": name}).header("Location") == f"https://{name}:{port}/a.txt?x=1"
        assert secured.ask(server, host=f"{name}:{port}").body == b"text"
        assert secured.ask(server, host=name).header("Location").startswith(f"https://{name}:{port}/")


@pytest.mark.parametrize("target, headers, status", [("/a.txt", None, 200), ("/a.txt", {"Range": "bytes=1-2"}, 206), ("/none", None, 404)])
@pytest.mark.parametrize("table", ["FDT on", "FDT off"])
def test_nobody_is_told_in_the_clear_to_come_by_tls(start, table, target, headers, status):
    """RFC 6797 7.2. The server's own field is the site's business on both."""
    server = start(**secured.config(certificates.issue("localhost").lines(), server=f"Listen 127.0.0.1:0\n{table}", files={"a.txt": "text"},
                                    host="Header Strict-Transport-Security max-age=31536000\nHeader X-Always yes"))
    over_tls, plain = [int(address.rpartition(":")[2]) for address in server.addresses]
    with server.connect(("127.0.0.1", plain)) as connection:
        answers = [connection.request(target, headers=headers) for _ in range(2)]
    with tls_connection.TlsConnection(("127.0.0.1", over_tls), name="localhost") as connection:
        secure = [connection.request(target, headers=headers) for _ in range(2)]
    assert [answer.status for answer in answers + secure] == [status] * 4
    assert [answer.header("X-Always") for answer in answers + secure] == ["yes"] * 4
    assert [answer.header("Strict-Transport-Security") for answer in answers] == [None] * 2
    assert [answer.header("Strict-Transport-Security") for answer in secure] == ["max-age=31536000"] * 2
