# SPDX-License-Identifier: Apache-2.0
"""Pages that services make of templates."""

import json
import re

import pytest

from harness import duda, dudac
from harness.client import eventually

PAGE = """<!DOCTYPE html>
<title>{{title}}</title>
{{#lines}}{{> parts/line.html}}
{{/lines}}{{^lines}}none
{{/lines}}"""
LINE = "<p title='{{what}}'>{{count}} of {{what}}</p>"


def prepare(folder, page=PAGE, line=LINE):
    conf = folder / "conf"
    (conf / "parts").mkdir(parents=True)
    (conf / "page.html").write_text(page)
    (conf / "parts" / "line.html").write_text(line)
    duda.build(folder / "services", "viewed", level=3)
    return duda.config(folder / "services", duda.service("viewed", ConfDir=conf))


@pytest.fixture(scope="module")
def server(start_shared, tmp_path_factory):
    return start_shared(**prepare(tmp_path_factory.mktemp("viewed")))


def test_a_page_of_a_struct(server):
    answer = server.get("/viewed/?title=%3Cscript%3E&x=1")
    assert (answer.status, answer.header("Content-Type"), answer.header("X-Page")) == (201, "text/html; charset=utf-8", "yes")
    assert answer.body.decode() == ("<!DOCTYPE html>\n<title>&lt;script&gt;</title>\n<p title='tea'>2 of tea</p>\n"
                                    "<p title='cup &amp; saucer'>1 of cup &amp; saucer</p>\n")


@pytest.mark.plain  # bodies of 1 MB
def test_a_page_of_a_tree(server):
    def send(values):
        return server.request("/viewed/tree", "POST", headers={"Content-Type": "application/json"}, body=json.dumps(values).encode())

    assert send({"title": "T", "lines": [{"what": "\u00e4", "count": 1.5}]}).body.decode().endswith("<p title='\u00e4'>1.5 of \u00e4</p>\n")
    assert send([]).body == b"<!DOCTYPE html>\n<title></title>\nnone\n"
    many = send({"lines": [{"what": "w" * 190000}] * 5})
    assert many.status == 200 and many.body.count(b"w") == 1_900_000


def test_calls_that_are_refused(server):
    assert server.get("/viewed/wrong").body == b"<!DOCTYPE html>\n<title></title>\nnone\n"


@pytest.mark.parametrize("page, line, said", [
    ("a\n{{#b}}", LINE, "page.html:2: the section b has no end"),
    (PAGE, "\n<script>{{what}}</script>", "parts/line.html:2: {{what}} is in a script or style"),
    ("{{> absent}}", LINE, "page.html:1: absent cannot be read"),
])
def test_a_wrong_template_stops_the_start(start, tmp_path, page, line, said):
    server = start(wait=False, **prepare(tmp_path, page, line))
    assert server.expect_exit() != 0
    assert re.search(re.escape(f"service 'viewed': view->load(): {said}"), server.log())


def test_without_a_folder(start, tmp_path):
    duda.build(tmp_path, "viewed", level=3)
    server = start(wait=False, **duda.config(tmp_path, "viewed"))
    assert server.expect_exit() != 0 and "view->load(): a name, a ConfDir and memory are needed" in server.log()


@pytest.mark.plain
def test_watch_loads_templates_anew(tmp_path):
    folder = tmp_path / "viewed"
    (folder / "conf" / "parts").mkdir(parents=True)
    (folder / "Makefile.in").write_text("NAME = viewed\nOBJECTS = main.o\nDEFS = -DDUDA_API_LEVEL=3\n")
    (folder / "main.c").write_text((duda.SOURCES / "viewed.c").read_text())
    (folder / "conf" / "page.html").write_text("first {{title}}")
    with dudac.running(tmp_path, "watch", folder) as run:
        assert run.get("/viewed/?title=x").body == b"first x"
        (folder / "conf" / "page.html").write_text("second {{title}}")
        assert eventually(lambda: run.get("/viewed/?title=x").body == b"second x", within=60)
        assert run.interrupt() == 0
