# SPDX-License-Identifier: Apache-2.0
"""A server of Redis or memcached gets another address: its name is looked up again, and services find it."""

import pytest

from harness import duda, executable, memcached_server, redis_server, tools
from harness.client import eventually

WITHIN = 60.0
OLD, NEW = "127.0.0.1", "127.0.0.2"


@pytest.fixture
def name(tmp_path):
    """The file that has the address of moving.test."""
    if executable.is_sanitized():
        pytest.skip("a sanitizer wants to be the first library")
    file = tmp_path / "address"
    file.write_text(OLD)
    return file


def run(start, tmp_path, name, service, url):
    duda.build(tmp_path / "services", service, name="one", level=3, flags=("-fcommon", f'-DSERVER="{url}"', f'-DSERVERS="{url}"'))
    return start(env={"LD_PRELOAD": tools.helper("moves.so.c"), "MOVES": str(name)},
                 **duda.config(tmp_path / "services", "one", duda={"PackagesRoot": duda.packages()}, server="Workers 1\n"))


def test_memcached(start, tmp_path, name):
    duda.require_package("memcached")
    with memcached_server.Server(tmp_path) as server:
        site = run(start, tmp_path, name, "packaged_memcached", f"moving.test:{server.port}")
        assert site.request("/one/set", "POST", body=b"one").text == "0 0 done"
        server.kill()
        assert eventually(lambda: site.get("/one/get").text.startswith("-3"), within=WITHIN)
        name.write_text(NEW)
        server.host = NEW
        server.start()
        assert eventually(lambda: site.get("/one/get").text == "1 0 no such key", within=WITHIN)


def test_redis(start, tmp_path, name):
    duda.require_package("redis")
    with redis_server.Server(tmp_path) as server:
        site = run(start, tmp_path, name, "packaged_redis3", f"redis://moving.test:{server.port}")
        assert site.get("/one/ask?c=SET,a,b").text == "0 OK"
        server.kill()
        name.write_text(NEW)
        server.host = NEW
        server.start()
        assert eventually(lambda: site.get("/one/ask?c=GET,a").text == "0 nil", within=WITHIN)
