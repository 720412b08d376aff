# SPDX-License-Identifier: Apache-2.0
"""Which call-back of a service gets a path, at level 1 (map) and level 2 (router)."""

import pytest

from harness import duda

FILES = {"index.html": "index", "page.txt": "a page of the service", "sub/index.html": "sub", "item/show": "a file"}

# path below the service, status, and the body or where a redirect leads
LEVEL_1 = [
    ("", 200, "root"),
    ("/", 200, "root"),
    ("/item/show/12/blue", 200, "show 12:2 blue:4 0 12 "),
    ("/item/show/12/blue/", 200, "show 12:2 blue:4 0 12 "),
    ("/item//show/12/blue", 200, "show 12:2 blue:4 0 12 "),
    ("/item/show/-12/a%20b", 200, "show -12:3 a b:3 0 -12 "),
    ("/item/show/+12/x", 200, "show +12:3 x:1 0 12 "),
    ("/item/show/12x/x", 200, "show 12x:3 x:1 -1 -7 "),
    ("/item/show/-/x", 200, "show -:1 x:1 -1 -7 "),
    ("/item/show/1/99999999999999999999", 200, "show 1:1 99999999999999999999:20 0 1 "),
    ("/item/show/123456/x", 200, "second"),  # too long, so the static rule behind it
    ("/item/show/12", 200, "second"),
    ("/item/show/12/x/y", 200, "second"),
    ("/item/all", 200, "builtin"),
    ("/item/all/", 200, "builtin"),
    ("/item/all/1", 404, None),
    ("/item/none", 404, None),
    ("/item", 301, "/space1/item/"),  # a folder of its files
    ("/apples", 200, "apples"),
    ("/apples/", 200, "apples"),
    ("/applesauce", 200, "apples"),
    ("/apples/red", 200, "apples"),  # the first rule that fits
    ("/apple", 404, None),
    ("/page.txt", 200, "a page of the service"),
    ("/sub/", 200, "sub"),
    ("/sub", 301, "/space1/sub/"),
    ("/%2e%2e/x", 404, None),
    ("2", 404, None),  # not this service's
]
LEVEL_2 = [
    ("", 301, "/space2/"),
    ("?a=b", 301, "/space2/"),
    ("/", 200, "root - - -1 -7"),
    ("/user/5", 200, "user 5 - 0 5"),
    ("/user/5/", 200, "user 5 - 0 5"),
    ("/user/5/zzz", 200, "user 5 - 0 5"),
    ("/user/a%2Bb", 200, "user a+b - -1 -7"),
    ("/user/5/posts/me", 200, "both 5 me 0 5"),
    ("/user", 404, None),
    ("/user/", 404, None),
    ("/foo/", 200, "foo - - -1 -7"),
    ("/foo/more", 200, "foo - - -1 -7"),
    ("/foo", 301, "/space2/foo/"),
    ("/foobar", 404, None),
    ("/bar", 200, "bar - - -1 -7"),
    ("/bars", 200, "bar - - -1 -7"),
    ("/5", 404, None),  # variables alone never match
    ("/page.txt", 200, "a page of the service"),
]


@pytest.fixture(scope="module")
def server(start_shared, tmp_path_factory):
    folder = tmp_path_factory.mktemp("services")
    duda.build(folder, "space1")
    duda.build(folder, "space1", name="forced", flags=["-DFORCE", "-DNO_ROOT"])
    duda.build(folder, "space2", level=2)
    for name, content in FILES.items():
        (folder / "html" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "html" / name).write_text(content)
    return start_shared(**duda.config(folder, "forced", *(duda.service(name, DocumentRoot=folder / "html") for name in ("space1", "space2"))))


@pytest.mark.parametrize("name, path, status, what", [("space1", *case) for case in LEVEL_1] + [("space2", *case) for case in LEVEL_2])
def test_paths(server, name, path, status, what):
    answer = server.get(f"/{name}{path}")
    assert answer.status == status, answer
    if status == 301:
        assert answer.header("Location").endswith(what), answer
    elif what is not None:
        assert answer.body == what.encode()


@pytest.mark.parametrize("path, status, what", [
    ("/apples", 301, "/forced/apples/"),
    ("/apples/red", 301, "/forced/apples/red/"),
    ("/apples?a=b", 200, "apples"),
    ("/apples/", 200, "apples"),
    ("", 404, None),
    ("/item/all", 200, "builtin"),
])
def test_redirects_that_a_service_forces(server, path, status, what):
    answer = server.get(f"/forced{path}")
    assert answer.status == status, answer
    assert what is None or (answer.header("Location") or answer.body.decode()).endswith(what)


def test_files_of_a_service_are_the_server_s(server):
    answer = server.get("/space1/page.txt", headers={"Range": "bytes=2-5"})
    assert (answer.status, answer.body) == (206, b"page")
    again = server.get("/space1/page.txt", headers={"If-None-Match": answer.header("ETag")})
    assert again.status == 304 and server.request("/space1/page.txt", "DELETE").status == 405
    assert server.get("/space1/.secret").status in (403, 404)
