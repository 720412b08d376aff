# SPDX-License-Identifier: Apache-2.0
"""Servers that speak TLS, and what Python's TLS sees of them. Clients that misbehave: harness/tls_connection.py."""

import socket
import ssl

import pytest

from harness import certificates, executable, http, process
from harness.config import section

TLS12, TLS13 = ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3
BOTH = [TLS12, TLS13]


def each_plugin(*names):
    """A fixture for a file of tests: all of them over each of these plugins, or both. See the mark `openssl` too."""
    @pytest.fixture(scope="module", autouse=True, params=names or ("tls", "mbedtls"))
    def plugin(request):
        if not executable.plugin(request.param):
            pytest.skip("this build has no such plugin")
        CHOSEN.append(request.param)
        yield request.param
        CHOSEN.pop()
    return plugin


CHOSEN = ["tls"]  # the last one is in use


def lacks(item):
    """Is a test of TLS 1.3, or of something else that comes with it, over mbedtls?"""
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    return parameters.get("plugin") == "mbedtls" and (
        TLS13 in parameters.values() or item.get_closest_marker("openssl") is not None)


def versions(plugin):
    """Those that its library speaks."""
    return BOTH if plugin == "tls" else [TLS12]


def config(lines="", plugin=None, server="", extra=None, **kwargs):
    """What start() takes for a server with an address that uses the plugin; lines: of its [TLS]."""
    plugin = plugin or CHOSEN[-1]
    files = {"plugins.load": section("PLUGINS", f"Load {plugin}")}
    if lines:
        files[f"plugins/{plugin}/{plugin}.conf"] = section("TLS", lines)
    kwargs.setdefault("files", {"a.txt": "text"})
    return {"server": f"Listen 127.0.0.1:0 {plugin}\n{server}", "extra": {**files, **(extra or {})}, **kwargs}


def reaching(config, plugin, authority=None):
    """That configuration with the plugin for connections to other servers, which have certificates of an authority."""
    believed = certificates.authority(authority) if authority else certificates.authority()
    config["extra"][f"plugins/{plugin}/{plugin}.conf"] = section("TLS_BACKEND", f"CAFile {believed.certificate}")
    config["extra"]["plugins.load"] += f"    Load {process.plugin(plugin)}\n"
    return config


def site(name, lines="", root=None, plugin_section="TLS"):
    """A further site, with a [TLS] of its own when there are lines."""
    host = section("HOST", f"ServerName {name}\nDocumentRoot {root}")
    return host + (section(plugin_section, lines) if lines else "")


def names_in(raw):
    """The names of the certificate that a client was shown (its SubjectAltName)."""
    return [value for _, value in raw.getpeercert()["subjectAltName"]]


def shown(server, name, context=None):
    """The names of the certificate that the server has for a name. The client takes any that the authority signed."""
    context = context or certificates.trusting()
    context.check_hostname = False
    with certificates.connected(("127.0.0.1", server.port), context, name=name) as raw:
        return names_in(raw)


def get(raw, target="/a.txt", **kwargs):
    """One request on a connection that Python's TLS made; how it was answered."""
    raw.sendall(http.request(target, **kwargs))
    return answer(raw)


def answer(raw):
    """The next answer of a length that its head says."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += receive(raw)
    head = data.partition(b"\r\n\r\n")[0].decode()
    length = int(next(line.partition(":")[2] for line in head.splitlines() if line.lower().startswith("content-length:")))
    while len(data) < len(head) + 4 + length:
        data += receive(raw)
    return http.parse_one(data, "GET")


def receive(raw):
    piece = raw.recv(65536)
    assert piece, "the connection ended"
    return piece


def ask(server, target="/a.txt", context=None, name="localhost", **kwargs):
    """A connection, a request and its answer."""
    with certificates.connected(("127.0.0.1", server.port), context, name=name) as raw:
        return get(raw, target, **kwargs)


def plainly(server, data, timeout=10):
    """All that comes for bytes that are sent as they are."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=timeout) as raw:
        raw.sendall(data)
        answer = b""
        while piece := raw.recv(65536):
            answer += piece
        return answer
