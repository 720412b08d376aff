# SPDX-License-Identifier: Apache-2.0
"""dudac routes: the paths of a service, with the lines where they are registered."""

import pathlib

import pytest

from harness import dudac

pytestmark = pytest.mark.once("a program in Python")

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "duda" / "2014"

SOURCE = """\
#include "webservice.h"
/* map->static_add("/comment", "none"); */
int duda_main()
{
    duda_interface_t *i = map->interface_new("shop");
    duda_method_t *m = map->method_new("buy", "cb_buy", 2);
    map->static_add("/text, with a comma", "cb_text"); // map->static_add("/behind", "none");
    map->static_add_ref(path, cb_path);
    map->interface_add_method(m, i);
    map->add_interface(i);
    map->static_root("cb_root");
    return 0;
}
"""


def routes(tmp_path, folder):
    done = dudac.run(tmp_path, "routes", folder)
    assert done.returncode == 0, done
    return [line.split() for line in done.stdout.splitlines()[2:]]


def test_a_template(tmp_path):
    assert dudac.run(tmp_path, "new", "shop", "--template", "rest").returncode == 0
    found = routes(tmp_path, tmp_path / "shop")
    assert [row[:3] for row in found if row[0] in ("GET", "POST", "DELETE")] == [
        ["GET", "/items", "list_items"], ["POST", "/items", "add_item"], ["DELETE", "/items/:id", "delete_item"]]
    assert found[2][:2] == ["body", "text"] and found[4][:2] == ["path", "id"]
    lines = (tmp_path / "shop" / "main.c").read_text().splitlines()
    for _, path, _, place in (found[0], found[1], found[3]):
        file, _, line = place.partition(":")
        assert file == "main.c" and f'"{path}"' in lines[int(line) - 1]


def test_level_1(tmp_path):
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "Makefile.in").write_text("NAME = shop\n")
    (folder / "main.c").write_text(SOURCE)
    assert [" ".join(row) for row in routes(tmp_path, folder)] == [
        "/ cb_root main.c:11", "/shop/buy/:1/:2 cb_buy main.c:6", "/text, with a comma cb_text main.c:7", "(computed) cb_path main.c:8"]


def test_level_3(tmp_path):
    assert [" ".join(row[:-1]) for row in routes(tmp_path, EXAMPLES.parent / "books")] == [
        "GET /api/books list", "GET /api/books/:id<uint> show", "POST /api/books add", "DELETE /api/books/:id<uint> take_away"]


def test_inputs_of_routes(tmp_path):
    folder = tmp_path / "described"
    folder.mkdir()
    (folder / "Makefile.in").write_text("NAME = described\n")
    (folder / "main.c").write_text((EXAMPLES.parents[2] / "tests" / "integration" / "duda" / "described.c").read_text())
    done = dudac.run(tmp_path, "routes", folder)
    lines = done.stdout[done.stdout.index("GET /api/shelves"):].splitlines()
    assert lines[0].split()[:3] == ["GET", "/api/shelves/:id/books", "find"]
    assert lines[1] == "    path    id  integer, required, min 1, max 99: Number of the shelf"
    assert lines[2] == "    query   q  text, required, min 1, max 20: Words of the title"
    assert lines[4] == "    query   page  integer, min 1, max 1000, preset 1"
    assert lines[8] == "    header  X-Key  text, pattern [A-F0-9]{4}"
    assert lines[9].split()[:4] == ["POST", "PUT", "/api/orders", "add_order"] and lines[10] == "    body    name  text, required, max 20"
    assert lines[11].strip() == "body    address.city  text" and lines[12].strip() == "body    lines  list, required, max 3"


@pytest.mark.parametrize("name", sorted(folder.name for folder in EXAMPLES.iterdir() if folder.is_dir()))
def test_each_example_has_some(tmp_path, name):
    assert routes(tmp_path, EXAMPLES / name)


@pytest.mark.parametrize("words, code, said", [([], 2, "takes one path"), (["nowhere"], 1, "is not a folder")])
def test_what_has_none(tmp_path, words, code, said):
    done = dudac.run(tmp_path, "routes", *words)
    assert done.returncode == code and said in done.stderr
