# SPDX-License-Identifier: Apache-2.0
"""Values of workers end with the worker, or with the version of the service that has made them."""

from harness import duda
from harness.client import eventually

WORKERS = 2


def ended(tmp_path):
    file = tmp_path / "ends"
    return len(file.read_text()) if file.exists() else 0


def build(tmp_path, has_thread, more=()):
    return duda.build(tmp_path / "services", "globals", level=3,
                      flags=(f'-DENDS="{tmp_path / "ends"}"', f"-DHAS_THREAD={int(has_thread)}", *more))


def running(start, tmp_path, has_thread):
    build(tmp_path, has_thread)
    return start(**duda.config(tmp_path / "services", "globals", server=f"Workers {WORKERS}"))


def test_values_end_after_a_reload_and_with_the_server(start, tmp_path):
    server = running(start, tmp_path, has_thread=False)
    assert server.get("/globals/count").text == "1"
    build(tmp_path, False, more=("-DVERSION=2",))
    server.reload(expect="configuration reloaded")
    assert eventually(lambda: ended(tmp_path) == WORKERS), ended(tmp_path)
    assert server.get("/globals/count").text == "1"
    server.reload(expect="configuration reloaded")  # the service is kept, and so are its values
    assert ended(tmp_path) == WORKERS
    server.stop()
    assert ended(tmp_path) == 2 * WORKERS


def test_values_end_with_a_thread_of_the_service(start, tmp_path):
    running(start, tmp_path, has_thread=True)
    assert eventually(lambda: ended(tmp_path) == 1)


def test_one_without_a_beginning_is_nobodys(start, tmp_path):
    server = running(start, tmp_path, has_thread=False)
    assert server.get("/globals/stranger").text == "-1 1 1"
