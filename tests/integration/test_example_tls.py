# SPDX-License-Identifier: Apache-2.0
"""examples/embed/tls.c: a certificate from memory, and logs that come to functions of the program."""

import os
import re
import subprocess
import threading

import pytest

from harness import certificates, executable, installed
from harness.client import eventually

WITHIN = 60.0


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    installation = installed.Installation(tmp_path_factory.mktemp("image"))
    return installation, installation.build("embed/tls.c", "monkey-web")


class Running:
    def __init__(self, program, plugin, certificate, key):
        installation, path = program
        folder = next(installation.image.rglob("monkey-logger.so")).parent
        env = dict(installation.env, CERTIFICATE=certificate, KEY=key, PLUGINS=str(folder))
        self.child = subprocess.Popen([path, plugin, "127.0.0.1:0"], env=env, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.lines = []
        self.reader = threading.Thread(target=lambda: self.lines.extend(self.child.stderr))
        self.reader.start()

    def said(self, pattern):
        eventually(lambda: self.child.poll() is not None or re.search(pattern, self.text()), within=WITHIN)
        return re.search(pattern, self.text())

    def text(self):
        return "".join(self.lines)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.stdin.close()
        try:
            self.child.wait(WITHIN)
        finally:
            self.child.kill()
            self.child.wait()
            self.reader.join()


@pytest.mark.parametrize("plugin", ["tls", "mbedtls"])
def test_a_certificate_in_memory_is_served_and_lines_come_to_functions(program, plugin):
    if not executable.plugin(plugin) or not executable.plugin("logger"):
        pytest.skip("this build has no such plugin")
    pair = certificates.issue("localhost")
    with Running(program, plugin, pair.certificate.read_text(), pair.key.read_text()) as running:
        listening = running.said(r"note from listen: listening address=127.0.0.1:(\d+)")
        assert listening, running.text()
        with certificates.connected(("127.0.0.1", int(listening[1])), certificates.trusting(), name="localhost") as raw:
            raw.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            answer = b"".join(iter(lambda: raw.recv(4096), b""))
        assert answer.endswith(b"hello, in private\n")
        assert running.said(r'access: 127\.0\.0\.1 .*"GET / HTTP/1\.1" 200'), running.text()
    assert re.search("note from server: stopped", running.text())
    assert running.child.returncode == 0


def test_a_text_that_is_no_certificate_is_an_error(program):
    if not executable.plugin("tls") or not executable.plugin("logger"):
        pytest.skip("this build has no such plugin")
    with Running(program, "tls", "nothing", os.devnull) as running:
        assert running.child.wait(WITHIN) == 2
    assert "CertificateFile" in running.text()
