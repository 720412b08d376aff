# SPDX-License-Identifier: Apache-2.0
"""dudac build: the file of a service, in C and C++, and what the compiler says of packages that are not there."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from harness import duda, dudac
from harness.executable import TREE
from harness.process import is_sanitized

pytestmark = [pytest.mark.plain, pytest.mark.once("a program in Python")]

CPP = """\
#include "webservice.h"
#include <map>
#include <string>

DUDA_REGISTER("tests", "counts words");

static std::map<std::string, int> seen;

static void count(duda_request_t *dr)
{
    const char *word = query->get(dr, "word");

    response->send(dr, 200, "text/plain", "%d %s", ++seen[word ? word : ""], NOTE);
}

int duda_main()
{
    router->get("/count", count);
    router->del("/count", count);
    return 0;
}
"""


def build(tmp_path, *words):
    return dudac.run(tmp_path, "build", *words)


@pytest.fixture
def shop(tmp_path):
    assert dudac.run(tmp_path, "new", "shop").returncode == 0
    return tmp_path / "shop"


@pytest.mark.skipif(is_sanitized(), reason="the service would have to be built with the sanitizers of the server")
def test_a_server_opens_the_file(tmp_path, shop, start):
    (tmp_path / "services").mkdir()
    done = build(tmp_path, shop, "-o", tmp_path / "services" / "shop.duda", "--release")
    assert done.returncode == 0 and done.stdout.endswith("shop.duda is ready\n"), done
    server = start(**duda.config(tmp_path / "services", "shop"))
    assert server.get("/shop/greet?name=Ann").body == b"Hello, Ann!\n"
    before = os.stat(tmp_path / "services" / "shop.duda").st_ino
    assert build(tmp_path, shop, "-o", tmp_path / "services").returncode == 0  # a folder
    assert os.stat(tmp_path / "services" / "shop.duda").st_ino != before  # the server has the other one open
    assert os.listdir(tmp_path / "services") == ["shop.duda"]


def test_where_the_file_goes_by_itself(tmp_path, shop):
    assert build(tmp_path, shop).returncode == 0
    assert (tmp_path / "shop.duda").stat().st_mode & 0o777 == 0o755


def test_several_services(tmp_path, shop):
    assert dudac.run(tmp_path, "new", "shop/more").returncode == 0
    done = build(tmp_path, shop, "-o", "one.duda")
    assert done.returncode == 1 and "2 services: -o takes a folder" in done.stderr
    assert build(tmp_path, shop, "-o", tmp_path).returncode == 0
    assert (tmp_path / "shop.duda").exists() and (tmp_path / "more.duda").exists()


@pytest.mark.parametrize("words, code, said", [
    ([], 2, "takes one path"), (["shop", "more"], 2, "takes one path"), (["nowhere"], 1, "is not a folder"),
    (["shop", "-o", "nowhere/shop.duda"], 1, "nowhere/shop.duda: No such file"), (["shop", "-V", "4"], 2, "-V takes")])
def test_what_cannot_be_built(tmp_path, shop, words, code, said):
    done = build(tmp_path, *words)
    assert done.returncode == code and said in done.stderr
    assert not list(tmp_path.glob("*.duda"))


@pytest.mark.parametrize("ending", ["cpp", "cc"])
@pytest.mark.parametrize("objects", ["", "OBJECTS = main.o\n"])
def test_a_service_in_cpp(tmp_path, ending, objects):
    if not shutil.which("g++"):
        pytest.skip("needs a compiler for C++")
    folder = tmp_path / "words"
    folder.mkdir()
    (folder / "Makefile.in").write_text(f"NAME = words\n{objects}CFLAGS = -Wall -Wextra\nDEFS = -DDUDA_API_LEVEL=3 -DNOTE='\"yes\"'\n")
    (folder / f"main.{ending}").write_text(CPP)
    routes = dudac.run(tmp_path, "routes", folder).stdout
    assert [line.split()[:2] for line in routes.splitlines()[2:]] == [["GET", "/count"], ["DELETE", "/count"]]
    with dudac.running(tmp_path, "-w", folder) as run:
        assert "warning" not in run.errors()
        assert [run.get("/words/count?word=a").text for _ in range(2)] == ["1 yes", "2 yes"]


# ---- packages


@pytest.mark.parametrize("path", ["", "/usr/lib/ccache:"], ids=["", "ccache"])
def test_the_compiler_says_that_a_package_is_missing(tmp_path, shop, path):
    """Of a header alone nobody would hear of it before the server starts."""
    env = dudac.environment(tmp_path, PATH=path + os.environ["PATH"].replace("/usr/lib/ccache:", ""))
    source = shop / "main.c"
    source.write_text('#include "packages/kv/kv.h"\n' + source.read_text())
    program = pathlib.Path(dudac.program())
    elsewhere = tmp_path / "dudac"  # the same, with packages in a folder that is empty
    elsewhere.write_text(program.read_text().replace("packages=HERE /", f"packages=pathlib.Path({str(tmp_path)!r}) /").replace(
        "pathlib.Path(__file__).resolve()", f"pathlib.Path({str(program)!r})"))
    ran = [subprocess.run([sys.executable, one, "build", shop], env=env, cwd=tmp_path, timeout=dudac.WITHIN,
                          capture_output=True, text=True, check=False) for one in (program, elsewhere)]
    if (duda.packages() / "kv.dpkg").is_file():
        assert ran[0].returncode == 0, ran[0]
    assert ran[1].returncode == 1 and "shop does not build" in ran[1].stderr
    assert "main.c:1" in ran[1].stderr and 'the package "kv" is not there' in ran[1].stderr


# ---- the document


def document(tmp_path, *words):
    return dudac.run(tmp_path, "routes", "--openapi", *words)


@pytest.mark.skipif(is_sanitized(), reason="the service would have to be built with the sanitizers of the server")
def test_the_document_of_a_service(tmp_path):
    duda.require_package("json")
    assert dudac.run(tmp_path, "new", "rest", "--template", "rest").returncode == 0
    done = document(tmp_path, "rest")
    assert done.returncode == 0, done
    api = json.loads(done.stdout)  # and nothing else
    assert api["openapi"].startswith("3.1") and api["servers"] == [{"url": "/rest"}]
    assert list(api["paths"]) == ["/items", "/items/{id}"]


@pytest.mark.skipif(is_sanitized(), reason="the service would have to be built with the sanitizers of the server")
def test_the_document_of_a_group(tmp_path):
    """The database of the example stays as it is."""
    duda.require_package("sqlite")
    folder = shutil.copytree(TREE / "examples" / "duda" / "todo", tmp_path / "todo")
    before = sorted(os.listdir(folder / "data"))
    api = json.loads(document(tmp_path, "todo").stdout)
    assert "/api/items/{id}" in api["paths"] and sorted(os.listdir(folder / "data")) == before


@pytest.mark.parametrize("words, code, said", [
    ([], 2, "takes one path"), (["shop"], 1, "publishes no document"), (["nowhere"], 1, "is not a folder")])
def test_what_has_no_document(tmp_path, shop, words, code, said):
    done = document(tmp_path, *words)
    assert done.returncode == code and said in done.stderr and done.stdout.count("{") == 0


@pytest.mark.skipif(is_sanitized(), reason="the service would have to be built with the sanitizers of the server")
def test_a_document_that_is_guarded(tmp_path):
    duda.require_package("json")
    assert dudac.run(tmp_path, "new", "rest", "--template", "rest").returncode == 0
    main = tmp_path / "rest" / "main.c"
    main.write_text(main.read_text().replace('    router->specify("GET"', '    session->init("a");\n    guard->login("user", NULL);\n    router->specify("GET"'))
    done = document(tmp_path, "rest")
    assert done.returncode == 1 and "answered by 401: its group has a hook that refuses" in done.stderr
