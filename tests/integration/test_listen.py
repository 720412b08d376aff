# SPDX-License-Identifier: Apache-2.0
"""Where the server listens: every form of a Listen line, and flags that nothing here can serve."""

import stat

import pytest

from harness.client import free_port
from harness.variants import SCHEDULERS

FILES = {"a.txt": "text"}


@pytest.fixture(params=SCHEDULERS)
def scheduler(request):
    return f"Scheduler {request.param}\n"


def ask(server, address):
    with server.connect(address) as connection:
        return connection.request("/a.txt").text


def test_ipv4(start, scheduler):
    server = start(server=scheduler + "Listen 127.0.0.1:0", files=FILES)
    assert ask(server, ("127.0.0.1", server.port)) == "text"


def test_ipv6(start, scheduler):
    server = start(server=scheduler + "Listen [::1]:0", files=FILES)
    assert server.addresses[0].startswith("[::1]:")
    assert ask(server, ("::1", server.port)) == "text"


def test_port_alone_is_every_address(start, scheduler):
    port = free_port()
    server = start(server=scheduler + f"Listen {port}", files=FILES)
    assert ask(server, ("127.0.0.1", port)) == "text"
    assert ask(server, ("127.0.0.2", port)) == "text"
    assert ask(server, ("::1", port)) == "text"


def test_unix_socket(start, scheduler, tmp_path):
    path = tmp_path / "socket"
    server = start(server=scheduler + f"Listen unix:{path}", files=FILES)
    assert ask(server, str(path)) == "text"
    assert stat.S_ISSOCK(path.stat().st_mode)


def test_unix_socket_of_a_server_that_is_gone_is_taken_over(start, tmp_path):
    path = tmp_path / "socket"
    first = start(server=f"Listen unix:{path}", files=FILES)
    first.kill()
    second = start(server=f"Listen unix:{path}", files=FILES)
    assert ask(second, str(path)) == "text"


def test_unix_socket_is_removed_at_the_end(start, tmp_path):
    path = tmp_path / "socket"
    server = start(server=f"Listen unix:{path}", files=FILES)
    server.stop()
    assert not path.exists()


def test_unix_socket_of_a_living_server_is_not_taken(start, tmp_path):
    path = tmp_path / "socket"
    first = start(server=f"Listen unix:{path}", files=FILES)
    second = start(server=f"Listen unix:{path}", files=FILES, wait=False)
    assert second.expect_exit() != 0
    assert ask(first, str(path)) == "text"


def test_several_addresses(start, scheduler, tmp_path):
    lines = f"Listen 127.0.0.1:0\nListen [::1]:0\nListen unix:{tmp_path}/socket\nListen 127.0.0.2:0"
    server = start(server=scheduler + lines, files=FILES)
    assert len(server.addresses) == 4
    ports = {address.rpartition(":")[0]: int(address.rpartition(":")[2])
             for address in server.addresses if not address.startswith("unix:")}
    assert ask(server, ("127.0.0.1", ports["127.0.0.1"])) == "text"
    assert ask(server, ("127.0.0.2", ports["127.0.0.2"])) == "text"
    assert ask(server, ("::1", ports["[::1]"])) == "text"
    assert ask(server, f"{tmp_path}/socket") == "text"


def test_old_form_port(start):
    port = free_port()
    server = start(server=f"Port {port}\nListen 127.0.0.1", files=FILES)
    assert server.addresses == [f"127.0.0.1:{port}"]
    assert ask(server, ("127.0.0.1", port)) == "text"


def test_old_form_port_alone(start):
    port = free_port()
    text = f"[SERVER]\n    Port {port}\n    Workers 1\n    ErrorLog stderr\n"
    server = start(extra={"monkey.conf": text}, files=FILES)
    assert ask(server, ("127.0.0.1", port)) == "text"


def test_port_in_use_is_told(start):
    first = start(files=FILES)
    second = start(server=f"Listen 127.0.0.1:{first.port}", wait=False)
    assert second.expect_exit() != 0
    assert str(first.port) in second.log()
    assert "another process" in second.log()
    assert ask(first, ("127.0.0.1", first.port)) == "text"


@pytest.mark.parametrize("address", ["127.0.0.1", "256.0.0.1:80", "127.0.0.1:0x50", "127.0.0.1:65536", "[::1", "::1:80", "unix:", "host.name:80", "-1"])
def test_bad_address_is_a_fault(start, address):
    server = start(server=f"Listen {address}", wait=False)
    assert server.expect_exit() != 0
    assert "monkey.conf:" in server.log()
    assert "Listen" in server.log()


@pytest.mark.parametrize("flag", ["!http", "quic"])
def test_flag_without_its_feature_is_refused_with_a_sentence(start, flag):
    server = start(server=f"Listen 127.0.0.1:0 {flag}", wait=False)
    assert server.expect_exit() != 0
    assert flag in server.log()
    assert "monkey.conf:" in server.log()
