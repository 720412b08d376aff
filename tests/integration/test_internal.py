# SPDX-License-Identifier: Apache-2.0
"""`Internal on`: places to which only the server itself leads."""

import pytest

from harness import carriers, process
from harness.config import section
from harness.http2 import Frames

pytestmark = [pytest.mark.skipif(not process.plugin("mandril"), reason="mandril is not built"),
              pytest.mark.skipif(carriers.has_pipes(), reason="the program itself asks, who may")]
FILES = {"a.txt": "root", "inner/a.txt": "inner", "inner/404.html": "lost", "inner/index.html": "index", "inner/open/a.txt": "open"}


def location(*lines):
    return section("LOCATION", "\n".join(lines))


INNER = location("Path /inner", "Internal on")


@pytest.fixture(scope="module")
def server(start_shared):
    return start_shared(files=FILES, site=INNER)


@pytest.mark.parametrize("target", [
    "/inner", "/inner/", "/inner/a.txt", "/INNER/a.txt", "/%69nner/a.txt", "//inner/a.txt", "/x/../inner/a.txt", "/inner%2fa.txt", "/inner/none",
    "/inner;v=1/a.txt", "/x/..;/inner/a.txt", "/x%5c..%5cinner%5ca.txt", "/inner./a.txt", "/inner%20/a.txt"])
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
def test_nobody_may_ask_for_it(server, target, method):
    assert server.request(target, method).status == 404
    assert server.get("/a.txt").text == "root"


def test_the_refusal_is_that_of_a_file_that_is_not_there(server):
    assert server.get("/inner/a.txt").body == server.get("/nothing").body


def test_it_looks_like_what_is_not_there(start):
    """A page of the site's own, which may itself be such a place."""
    server = start(files=FILES, site=INNER, error_pages="404 /inner/404.html")
    assert server.get("/inner/a.txt").text == server.get("/nothing").text == "lost"


def test_try_files_lead_there(start):
    server = start(files=FILES, host="TryFiles $uri /inner/a.txt", site=INNER)
    assert server.get("/nothing").text == "inner"
    assert server.get("/inner/a.txt").status == 404


def test_an_index_file_leads_there(start):
    server = start(files={**FILES, "dir/hidden.txt": "hidden"}, server="Indexfile hidden.txt", site=location("Match /hidden\\.txt$", "Internal on"))
    assert server.get("/dir/").text == "hidden"
    assert server.get("/dir/hidden.txt").status == 404


def test_error_pages_of_a_handler_lead_there(start):
    server = start(files=FILES, site=INNER, error_pages="404 /inner/page", handlers="Match ^/inner/page$ echo")
    answer = server.get("/nothing")
    assert answer.status == 404 and answer.text.startswith("GET /nothing ")


@pytest.mark.skipif(not process.plugin("rewrite"), reason="rewrite is not built")
def test_rewrites_lead_there(start):
    server = start(files=FILES, site=section("REWRITE", "Rewrite ^/short/(.*)$ /inner/$1") + INNER)
    assert server.get("/short/a.txt").text == "inner"
    assert server.get("/short/none").status == 404
    assert server.get("/inner/a.txt").status == 404


@pytest.mark.skipif(not process.plugin("rewrite"), reason="rewrite is not built")
def test_no_rewrite_leads_beyond_its_own_place(start):
    """An application may read the path otherwise than the server, so the place that it would read is looked at too."""
    server = start(files=FILES, handlers="Match ^/out/ echo", site=section("REWRITE", "Rewrite ^/short/(.*)$ /out/$1") + INNER)
    assert server.get("/short/x").status == 200
    assert server.get("/short/..;/inner/a.txt").status == 404


def test_an_inner_place_may_be_open(start):
    server = start(files=FILES, site=INNER + location("Path /inner/open", "Internal off"))
    assert [server.get(target).status for target in ("/inner/open/a.txt", "/inner/a.txt", "/inner/open/../a.txt")] == [200, 404, 404]


def test_a_whole_site_but_for_a_place(start):
    server = start(files=FILES, host="Internal on", site=location("Path /inner/open", "Internal off"))
    assert [server.get(target).status for target in ("/", "/a.txt", "/inner/open/a.txt")] == [404, 404, 200]


def test_it_hides_what_is_denied_too(start):
    server = start(files=FILES, site=location("Path /inner", "Internal on", "Deny all"))
    assert server.get("/inner/a.txt").status == 404


def test_over_http2_and_after_a_reload(start):
    if not process.plugin("http2"):
        pytest.skip("this build has no http2")
    common = {"server": "Listen 127.0.0.1:0 h2", "files": FILES,
              "extra": {"plugins.load": section("PLUGINS", "Load http2\nLoad mandril")}, "host": "TryFiles $uri /inner/a.txt"}
    server = start(site=INNER, **common)
    with Frames(("127.0.0.1", server.port)) as client:
        def status(stream, target):
            client.send(client.head(stream, target))
            return client.answer(stream)[0]

        assert (status(1, "/inner/a.txt"), status(3, "/nothing")) == (404, 200)
        server.reload(**common)
        assert status(5, "/inner/a.txt") == 200
        server.reload(site=INNER, **common)
        assert status(7, "/inner/a.txt") == 404
