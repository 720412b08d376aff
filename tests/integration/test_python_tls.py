# SPDX-License-Identifier: Apache-2.0
"""python -m monkey with --certfile and --keyfile."""

import json
import re
import shutil
import signal
import subprocess
import sys

import pytest

from harness import certificates, executable
from harness.client import eventually

pytestmark = pytest.mark.skipif(not executable.plugin("tls"), reason="this build has no plugin tls")

APPLICATION = """
    import json

    def application(environ, start_response):
        start_response("200 OK", [("Content-Type", "application/json")])
        return [json.dumps([environ["wsgi.url_scheme"], environ["SERVER_PORT"]]).encode()]
"""


def serial(server):
    """Of the certificate that a new connection gets, and what the application answers to a request."""
    port = int(re.search(r"listening address=127\.0\.0\.1:(\d+)", server.log())[1])
    with certificates.connected(("127.0.0.1", port), certificates.trusting(), name="localhost") as raw:
        raw.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        answer = b"".join(iter(lambda: raw.recv(4096), b""))
        body = answer.partition(b"\r\n\r\n")[2]
        assert json.loads(body[body.index(b"["):body.index(b"]") + 1]) == ["https", str(port)], answer
        return raw.getpeercert()["serialNumber"]


def test_https_with_a_pair_of_files_and_a_new_pair_after_a_reload(serve, tmp_path):
    first, second = (certificates.issue("localhost", number=number) for number in (0, 1))

    def put(pair):
        shutil.copy(pair.certificate, tmp_path / "cert.pem")
        shutil.copy(pair.key, tmp_path / "key.pem")

    put(first)
    server = serve(APPLICATION, "--certfile", tmp_path / "cert.pem", "--keyfile", tmp_path / "key.pem")
    before = serial(server)
    put(second)
    server.process.send_signal(signal.SIGHUP)
    assert eventually(lambda: serial(server) != before, within=30)


@pytest.mark.parametrize("words, told", [
    (["--certfile", "a.pem"], "need each other"),
    (["--keyfile", "a.pem"], "need each other"),
    (["--certfile", "a.pem", "--keyfile", "b.pem", "--config", "."], "needs --listen"),
    (["--certfile", "none.pem", "--keyfile", "none.pem", "--listen", "127.0.0.1:0"], "CertificateFile"),
])
def test_what_cannot_be_is_refused_before_the_start(python_package, tmp_path, words, told):
    (tmp_path / "app.py").write_text("def application(environ, start_response): pass\n")
    done = subprocess.run([sys.executable, "-m", "monkey", "app", *words], cwd=tmp_path, env={"PYTHONPATH": str(python_package)},
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2 and told in done.stderr, done.stderr
