# SPDX-License-Identifier: Apache-2.0
"""docs/embedding.md: its programs are compiled, and do what the page says."""

import contextlib
import re
import signal
import subprocess

import pytest

from harness import executable, installed, process
from harness.client import eventually

pytestmark = pytest.mark.once("a page of the documentation", and_in=["asan"])

WITHIN = 60.0
PAGE = (process.TREE / "docs" / "embedding.md").read_text()
BLOCKS = re.findall(r"^```c\n(.*?)^```", PAGE, re.M | re.S)
SESSIONS = re.findall(r"^```console\n(.*?)^```", PAGE, re.M | re.S)
HELLO, STOCK = (block for block in BLOCKS if "int main(" in block)
CONFIGURE, = (block for block in BLOCKS if block.startswith("static int configure("))
FRAGMENTS = [block for block in BLOCKS if block not in (HELLO, STOCK, CONFIGURE)]


@pytest.fixture(scope="module")
def installation(tmp_path_factory):
    return installed.Installation(tmp_path_factory.mktemp("image"))


def build(installation, folder, name, text):
    (folder / f"{name}.c").write_text(text)
    return installation.build(folder / f"{name}.c", "monkey-web")


def session(with_word):
    """(command, what it prints) of the session of the page that has a word."""
    found, = (block for block in SESSIONS if with_word in block)
    return [(part.partition("\n")[0], part.partition("\n")[2]) for part in re.split(r"^\$ ", found, flags=re.M)[1:]]


@contextlib.contextmanager
def running(installation, program, folder):
    """The port of a program that stops at TERM."""
    with open(folder / "stderr", "w", encoding="utf-8") as log:
        child = subprocess.Popen([program, "127.0.0.1:0"], env=installation.env, cwd=folder, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            line = child.stdout.readline()
            assert line.startswith("port "), (folder / "stderr").read_text()
            yield line.split()[1]
            child.send_signal(signal.SIGTERM)
            assert child.wait(WITHIN) == 0, (folder / "stderr").read_text()
        finally:
            child.kill()
            child.wait()
            child.stdout.close()


def asks(commands, port, folder):
    """Each command of a session prints what the page shows, the port aside."""
    for command, shown in commands:
        command = re.sub(r"(?<=:)8\d\d\d(?=/)", port, command).replace("curl ", "curl --silent --show-error --max-time 30 ", 1)
        done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, timeout=WITHIN, check=False)
        assert (done.returncode, done.stdout.strip()) == (0, shown.strip()), done.stderr


def test_hello(installation, tmp_path):
    path = tmp_path / "socket"
    assert '"127.0.0.1:8080"' in HELLO
    program = build(installation, tmp_path, "hello", HELLO.replace("127.0.0.1:8080", f"unix:{path}"))
    child = subprocess.Popen([program], env=installation.env, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        def told():
            return subprocess.run(["curl", "--silent", "--max-time", "30", "--unix-socket", path, "http://localhost/"], capture_output=True,
                                  timeout=WITHIN, check=False).stdout
        assert eventually(lambda: child.poll() is not None or told() == b"Hello\n", within=WITHIN)
        _, log = child.communicate(b"\n", timeout=WITHIN)
        assert child.returncode == 0, log
    finally:
        child.kill()
        child.wait()


def test_json(installation, tmp_path):
    with running(installation, build(installation, tmp_path, "stock", STOCK), tmp_path) as port:
        asks(session("/stock/apple"), port, tmp_path)
        for words, status in [("-X PUT -d x", 400), ("-X PUT -d 123456789012345678901", 413), ("", 405)]:
            asks([(f"curl --output body --write-out '%{{http_code}}' {words} http://127.0.0.1:8080/stock/apple", str(status))], port, tmp_path)


def test_json_with_tls(installation, tmp_path):
    if not executable.plugin("tls"):
        pytest.skip("this build has no plugin tls")
    make_pair = session("openssl")[0][0]
    subprocess.run(make_pair, shell=True, cwd=tmp_path, check=True, capture_output=True, timeout=WITHIN)
    text = re.sub(r"^static int configure\(.*?^}\n", lambda _: CONFIGURE, STOCK, flags=re.M | re.S)
    assert CONFIGURE in text and '"Load", "tls"' in text
    plugin = next(installation.image.rglob("monkey-tls.so"))
    program = build(installation, tmp_path, "stock_tls", text.replace('"Load", "tls"', f'"Load", "{plugin}"'))
    with running(installation, program, tmp_path) as port:
        asks(session("--cacert")[1:], port, tmp_path)
    (tmp_path / "cert.pem").unlink()
    done = subprocess.run([program, "127.0.0.1:0"], env=installation.env, cwd=tmp_path, capture_output=True, text=True, timeout=WITHIN,
                          check=False)
    assert done.returncode == 1 and "CertificateFile" in done.stderr, done.stderr


@pytest.mark.parametrize("fragment", FRAGMENTS)
def test_fragments_compile(installation, tmp_path, fragment):
    text = "#include <monkey/server.h>\nint f(int fd, struct mk_config *config, struct mk_server *server);\n"
    text += "int f(int fd, struct mk_config *config, struct mk_server *server)\n{\n" + fragment + "return server != NULL;\n}\n"
    build(installation, tmp_path, "fragment", '#pragma GCC diagnostic ignored "-Wunused-result"\n' + text + "int main(void) { return 0; }\n")
