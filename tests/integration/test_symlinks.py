# SPDX-License-Identifier: Apache-2.0
"""The SymLink rule holds for every component of a path, not only for the last one."""

import os

import pytest

from harness import tools
from harness.variants import FILE_TABLES

FILES = {"real/a.txt": "inside", "plain.txt": "plain"}


def with_links(server):
    root, outside = server.root, server.root.parent / "outside"
    (outside / "dir").mkdir(parents=True)
    (outside / "dir" / "b.txt").write_text("outside")
    (root / "file-in").symlink_to("real/a.txt")
    (root / "file-absolute").symlink_to(root / "real/a.txt")
    (root / "file-out").symlink_to(outside / "dir" / "b.txt")
    (root / "dir-in").symlink_to("real")
    (root / "dir-out").symlink_to(outside / "dir")
    (root / "up").symlink_to("..")
    (root / "real" / "deep-out").symlink_to("../../outside")
    (root / "dangling").symlink_to("nowhere")
    os.symlink("loop", root / "loop")
    (root / "chain").symlink_to("file-in")
    return server


LINKS = ["/file-in", "/file-absolute", "/file-out", "/dir-in/a.txt", "/dir-out/b.txt", "/up/outside/dir/b.txt",
         "/real/deep-out/dir/b.txt", "/dir-in/deep-out/dir/b.txt", "/chain"]


@pytest.fixture(scope="module", params=[*FILE_TABLES, "without openat2"])
def start_with(start_shared, request):
    """On old kernels, and where a filter refuses openat2, the rule is kept component by component."""
    def start_with(setting):
        if request.param == "without openat2":
            wrapper = [tools.helper("refuse.c"), "ENOSYS", "openat2"]
            return with_links(start_shared(wrapper=wrapper, server=setting, files=FILES))
        return with_links(start_shared(server=f"{setting}\n{request.param}", files=FILES))
    return start_with


@pytest.fixture(scope="module")
def strict(start_with):
    return start_with("SymLink off")


@pytest.fixture(scope="module")
def lenient(start_with):
    return start_with("SymLink on")


@pytest.mark.parametrize("target", LINKS)
def test_symlink_off_refuses_each_component(strict, target):
    response = strict.get(target)
    assert response.status in (403, 404)
    assert "side" not in response.text


def test_symlink_off_serves_what_is_no_link(strict):
    assert strict.get("/real/a.txt").text == "inside"


def test_symlink_off_refuses_a_linked_directory(strict):
    assert strict.get("/dir-in/").status in (403, 404)
    assert strict.get("/dir-in").status in (403, 404)


@pytest.mark.parametrize("target", LINKS)
def test_symlink_on_follows(lenient, target):
    assert lenient.get(target).text in ("inside", "outside")


@pytest.mark.parametrize("target", ["/dangling", "/loop", "/loop/x", "/dangling/x"])
def test_broken_links_are_not_found(lenient, target):
    assert lenient.get(target).status in (403, 404)


def test_dots_are_resolved_before_links(lenient):
    """`/dir-out/../plain.txt` is `/plain.txt`, not a file beside the link's target."""
    assert lenient.get("/dir-out/../plain.txt").text == "plain"


@pytest.mark.parametrize("setting", ["SymLink off", "SymLink on"])
def test_document_root_itself_may_be_a_link(start, tmp_path, setting):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "a.txt").write_text("text")
    (tmp_path / "current").symlink_to("site")
    server = start(server=setting, host=f"DocumentRoot {tmp_path}/current")
    assert server.get("/a.txt").text == "text"
