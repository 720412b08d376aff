# SPDX-License-Identifier: Apache-2.0
"""
A connection while one allocation after the other fails: it ends, or it is served as ever. Others of the same worker,
which share buffers with it, see nothing of it.
"""

import itertools

import pytest

from harness import certificates, secured
from harness.config import section
from harness.content import noise

plugin = secured.each_plugin()

BIG = noise(200_000)
SUBJECT = "O=Tests,CN=client"
STEP = {"tls": 7, "mbedtls": 29}  # a handshake is some thousand allocations, more of them by mbedTLS
NO_ANSWER = (AssertionError, OSError)  # the connection ended; ssl.SSLError is one of these


def client(version):
    context = certificates.trusting(version=version, as_client=certificates.client("/O=Tests/CN=client"))
    context.check_hostname = False
    return context


def connected(server, context):
    return certificates.connected(("127.0.0.1", server.port), context, suppress_ragged_eofs=False)


@pytest.mark.slow
@pytest.mark.limit(600)
@pytest.mark.parametrize("version", secured.BOTH)
def test_connection(start, tmp_path, allocations, plugin, version):
    log = tmp_path / "access.log"
    config = secured.config(
        certificates.issue().lines("CheckClientCert on", f"CAFile {certificates.authority().certificate}"),
        server="Workers 1\nKeepAliveTimeout 50\nMaxKeepAliveRequest 100000", env=allocations.environment,
        files={"a.txt": "text", "big.bin": BIG})
    config["extra"]["plugins.load"] = section("PLUGINS", f"Load {plugin}\nLoad logger")
    config["extra"]["plugins/logger/logger.conf"] = section(
        "LOGGER", f"MasterLog {log}\nFlushTimeout 0\nFormat '%{{SSL_CLIENT_S_DN}}x %U'")
    server = start(**config)
    context = client(version)  # it resumes no session by itself
    with connected(server, context) as other:
        assert secured.get(other).body == b"text"
        for number in itertools.count(1, STEP[plugin]):
            allocations.arm(number)
            try:
                with connected(server, context) as raw:
                    assert secured.get(raw, "/big.bin").body == BIG
            except NO_ANSWER:
                assert allocations.failed, "it had all memory"
            allocations.disarm()
            assert server.is_running(), f"allocation {number}\n{server.log()[-2000:]}"
            try:
                assert secured.get(other).body == b"text"
                assert secured.ask(server, context=context).body == b"text"
            except NO_ANSWER as fault:
                pytest.fail(f"another client saw that allocation {number} failed: {fault!r}")
            if not allocations.failed:
                break
    assert number > 20, number
    assert {line.split()[0] for line in log.read_text().splitlines()} == {SUBJECT}
