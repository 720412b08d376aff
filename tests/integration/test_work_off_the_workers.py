# SPDX-License-Identifier: Apache-2.0
"""Work that blocks, beside other work that blocks: each kind has its own threads and its own queue."""

import os
import pathlib
import shutil
import tempfile
import time

import pytest

from harness import http, process
from harness.config import section
from test_auth import basic, slow_hash

pytestmark = pytest.mark.skipif(not (process.plugin("auth") and process.plugin("dirlisting")),
                                reason="auth or dirlisting is not there for this build")
ENTRIES, LISTINGS = 60_000, 100


@pytest.fixture(scope="module")
def large():
    """A folder of very many names, in memory where there is room."""
    folder = pathlib.Path(tempfile.mkdtemp(dir="/dev/shm" if os.path.isdir("/dev/shm") else None))
    folder.chmod(0o755)
    (folder / "many").mkdir()
    (folder / "private").mkdir()
    (folder / "private" / "a.txt").write_text("secret")
    fd = os.open(folder / "many", os.O_RDONLY)
    for number in range(ENTRIES):
        if number % 20_000 == 0:
            first = f"entry-{number}"
            (folder / "many" / first).write_text("x")
        else:
            os.link(first, f"entry-{number}", src_dir_fd=fd, dst_dir_fd=fd)
    os.close(fd)
    yield folder
    shutil.rmtree(folder)


def test_listings_of_a_large_folder_leave_room_for_passwords(start, tmp_path, large):
    users = tmp_path / "users"
    users.write_text(f"slow:{slow_hash('secret', 5000)}\n")
    load = f"Load {process.plugin('auth')}\nLoad {process.plugin('dirlisting')}"
    server = start(server="Workers 1", host=f"DocumentRoot {large}",
                   site=section("AUTH", f"Location /private\nUsers {users}") +
                   section("HANDLERS", f"Match ^/many/ dirlisting"),
                   extra={"plugins.load": section("PLUGINS", load)})
    crowd = []
    try:
        for _ in range(LISTINGS):
            connection = server.connect()
            connection.send(http.request("/many/"))
            crowd.append(connection)
        time.sleep(0.5)  # their first entries were read on the worker
        statuses = []
        for number in range(8):
            with server.connect(source=f"127.0.4.{number + 1}") as connection:
                connection.send(http.request("/private/a.txt", headers=list(basic("slow", "secret").items())))
                statuses.append(connection.response().status)
    finally:
        for connection in crowd:
            connection.close()
    assert statuses == [200] * 8
