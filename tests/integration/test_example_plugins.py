# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/plugins.md, built as somebody else would: from an installation, with pkg-config."""

import os
import pathlib
import re
import shlex
import subprocess
import threading
import time

import pytest

from harness import http, process
from harness.config import section

EXAMPLES = process.TREE / "examples" / "plugins"


def build_folder():
    return pathlib.Path(process.binary()).parent


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The environment in which pkg-config finds an installation of this build."""
    if "default_library=static" in (build_folder() / ".chosen").read_text():
        pytest.skip("a static executable loads nothing")
    image = tmp_path_factory.mktemp("image")
    subprocess.run(["meson", "install", "-C", build_folder(), "--no-rebuild", "--destdir", image], check=True,
                   capture_output=True)
    pc = next(image.rglob("monkey.pc"))
    return dict(os.environ, PKG_CONFIG_PATH=str(pc.parent), PKG_CONFIG_SYSROOT_DIR=str(image))


@pytest.fixture(scope="module")
def plugin(installed, tmp_path_factory):
    """A function that builds an example and gives the path of the shared object."""
    folder = tmp_path_factory.mktemp("plugins")
    compiler = re.search(r"^CC=(.*)$", (build_folder() / ".chosen").read_text(), re.M)[1]

    def build(name):
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "monkey"], env=installed, check=True,
                               capture_output=True, text=True).stdout
        output = folder / f"monkey-{name}.so"
        subprocess.run([*shlex.split(compiler), "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC",
                        EXAMPLES / name / f"{name}.c", "-o", output, *shlex.split(flags)], env=installed, check=True)
        return output

    return build


def load(path):
    return section("PLUGINS", f"Load {path}")


def site(root, handlers="", more=""):
    root.mkdir(exist_ok=True)
    (root / "text.txt").write_text("some small text\n")
    (root / "data.bin").write_bytes(b"some small data\n")
    (root / "large.txt").write_text("abcdefghij" * 30000)
    lines = section("HANDLERS", handlers) if handlers else ""
    return section("HOST", f"DocumentRoot {root}") + lines + more


def test_hello_is_short():
    assert len((EXAMPLES / "hello" / "hello.c").read_text().splitlines()) < 40


def test_examples_export_one_symbol(plugin):
    for name in ("hello", "upper", "clock"):
        symbols = subprocess.run(["nm", "-D", "--defined-only", plugin(name)], check=True, capture_output=True, text=True)
        own = [line.split()[-1] for line in symbols.stdout.splitlines() if line.split()[-1] not in ("_init", "_fini")]
        assert own == ["mk_plugin"]


def test_hello_greets_as_its_site_says(start, plugin, tmp_path):
    default = site(tmp_path / "root", "Match ^/hello hello", section("HELLO", "Greeting Good morning"))
    server = start(extra={"plugins.load": load(plugin("hello")), "sites/default": default})
    assert server.get("/hello").body == b"Good morning\n"
    assert server.get("/text.txt").status == 200


def test_hello_greets_without_a_section_of_its_own(start, plugin, tmp_path):
    default = site(tmp_path / "root", "Match ^/hello hello")
    server = start(extra={"plugins.load": load(plugin("hello")), "sites/default": default})
    assert server.get("/hello").body == b"Hello\n"


def test_hello_takes_its_new_settings_on_reload(start, plugin, tmp_path):
    so = plugin("hello")
    default = site(tmp_path / "root", "Match ^/hello hello", section("HELLO", "Greeting Once"))
    server = start(extra={"plugins.load": load(so), "sites/default": default})
    assert server.get("/hello").body == b"Once\n"
    default = site(tmp_path / "root", "Match ^/hello hello", section("HELLO", "Greeting Twice"))
    server.reload(extra={"plugins.load": load(so), "sites/default": default})
    assert server.get("/hello").body == b"Twice\n"


@pytest.fixture
def upper(start, plugin, tmp_path):
    return start(extra={"plugins.load": load(plugin("upper")), "sites/default": site(tmp_path / "root")})


def test_upper_changes_text(upper):
    answer = upper.get("/text.txt")
    assert answer.body == b"SOME SMALL TEXT\n"
    assert answer.framing == "chunked"
    assert answer.header("ETag").startswith("W/")
    assert answer.header("Accept-Ranges") is None


def test_upper_changes_large_files_and_error_pages(upper):
    assert upper.get("/large.txt").body == b"ABCDEFGHIJ" * 30000
    assert b"<TITLE>404 NOT FOUND</TITLE>" in upper.get("/nowhere").body


def test_upper_leaves_other_data_and_empty_answers(upper):
    assert upper.get("/data.bin").body == b"some small data\n"
    etag = upper.get("/text.txt").header("ETag")
    assert upper.get("/text.txt", headers={"If-None-Match": etag}).status == 304
    assert upper.head("/text.txt").body == b""


def test_upper_gives_no_parts(upper):
    assert upper.get("/text.txt", headers={"Range": "bytes=0-3"}).status == 200


@pytest.fixture
def clock(start, plugin, tmp_path):
    default = site(tmp_path / "root", "Match ^/clock clock")
    return start(extra={"plugins.load": load(plugin("clock")), "sites/default": default})


def listen(server, seconds):
    """What comes of the clock within a time, and what then comes on another connection."""
    with server.connect(timeout=seconds + 5) as connection:
        connection.send(http.request("/clock"))
        got, until = b"", time.monotonic() + seconds
        while time.monotonic() < until:
            connection.sock.settimeout(max(0.05, until - time.monotonic()))
            try:
                got += connection.sock.recv(4096)
            except TimeoutError:
                break
    return got


def test_clock_ticks_for_all_who_listen(clock):
    heard = []
    threads = [threading.Thread(target=lambda: heard.append(listen(clock, 3.6))) for _ in range(4)]
    for thread in threads:
        thread.start()
    assert clock.get("/text.txt").status == 200
    for thread in threads:
        thread.join()
    assert len(heard) == 4
    for text in heard:
        assert b"text/event-stream" in text
        assert 2 <= len(re.findall(rb"data: \d{10}\n\n", text)) <= 4


def test_clock_forgets_who_left(clock):
    for _ in range(300):  # more than it may tell
        with clock.connect() as connection:
            connection.send(http.request("/clock"))
            assert connection.sock.recv(16).startswith(b"HTTP/1.1")
    time.sleep(1.2)
    assert b" 200 " in listen(clock, 0.2)


def test_clock_goes_on_over_a_reload(clock):
    heard = []
    thread = threading.Thread(target=lambda: heard.append(listen(clock, 4.2)))
    thread.start()
    time.sleep(1)
    clock.reload()
    thread.join()
    assert len(re.findall(rb"data: \d{10}\n\n", heard[0])) >= 3
