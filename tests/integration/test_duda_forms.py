# SPDX-License-Identifier: Apache-2.0
"""What a service of level 3 reads of a request: the query, forms, bodies and fields."""

import pytest

from harness import duda, http
from harness.client import eventually

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
MULTIPART = {"Content-Type": "multipart/form-data; boundary=cut"}


@pytest.fixture(scope="module")
def server(start_shared, tmp_path_factory):
    folder = tmp_path_factory.mktemp("services")
    duda.build(folder, "inputs3", level=3)
    return start_shared(**duda.config(folder, "inputs3"))


def part(name, value, filename=None, kind=None):
    more = f'; filename="{filename}"' if filename is not None else ""
    head = f'--cut\r\nContent-Disposition: form-data; name="{name}"{more}\r\n'
    return (head + (f"Content-Type: {kind}\r\n" if kind else "") + "\r\n").encode() + value + b"\r\n"


def multipart(*parts):
    return b"".join(parts) + b"--cut--\r\n"


@pytest.mark.parametrize("query, said", [
    ("", "a=NULL n=-1"),
    ("?a=b%20c+d&n=12", "a=b c d n=12 [a|b c d] [n|12]"),
    ("?a&=x&n=12x", "a= n=-1 [a|] [|x] [n|12x]"),
    ("?a=%zz&b=1", "a=NULL n=-1 [b|1]"),
    ("?a=1&a=2&&", "a=1 n=-1 [a|1] [a|2]"),
    ("?%61=%C3%A9", "a=\u00e9 n=-1 [a|\u00e9]"),
    ("?a=x%00y", "a=NULL n=-1"),
])
def test_queries_are_decoded(server, query, said):
    assert server.get("/inputs3/query" + query).body == said.encode()


@pytest.mark.parametrize("path", ["/form", "/old"])
@pytest.mark.parametrize("body, said", [
    (b"a=b%20c+d&n=-3", "a=b c d n=-3 file=NULL [a|b c d|-|5|0] [n|-3|-|2|0]"),
    (b"a&n=&=x&b=%zz", "a= n=-1 file=NULL [a||-|0|0] [n||-|0|0] [|x|-|1|0]"),
    (b"", "a=NULL n=-1 file=NULL"),
])
def test_urlencoded_forms(server, path, body, said):
    answer = server.request("/inputs3" + path, "POST", headers=FORM, body=body)
    assert answer.body == said.encode()


def test_a_body_of_another_type_is_no_form(server):
    answer = server.request("/inputs3/form", "POST", headers={"Content-Type": "text/plain"}, body=b"a=1")
    assert answer.body == b"a=NULL n=-1 file=NULL"


def test_multipart_forms(server):
    body = multipart(part("a", b"one"), part("n", b"7"), part("file", b"bytes", "x.txt", "text/plain"),
                     part("large", b"x" * 40000, "y.bin"), part("none", b"", ""))
    answer = server.request("/inputs3/form", "POST", headers=MULTIPART, body=body)
    assert answer.body == (b"a=one n=7 file=x.txt [a|one|-|3|0] [n|7|-|1|0] [file|bytes|text/plain|5|0] "
                           b"[large|...|-|40000|1] [none||-|0|0]")


@pytest.mark.parametrize("body, status", [
    (multipart(part("a", b"1"))[:-4], 400),
    (multipart(*[part(f"n{i}", b"1") for i in range(1001)]), 413),
])
def test_multipart_forms_that_are_refused(server, body, status):
    assert server.request("/inputs3/form", "POST", headers=MULTIPART, body=body).status == status


@pytest.mark.parametrize("path", ["/form", "/old"])
@pytest.mark.parametrize("body, status", [
    (b"&".join(b"n%d=1" % i for i in range(1000)), 200),
    (b"&".join(b"n%d=1" % i for i in range(1001)), 413),
    (b"a&" * 500000, 413),
    (b"&" * 500000 + b"a=1", 200),  # no pairs
])
def test_urlencoded_forms_have_so_many_fields(server, path, body, status):
    assert server.request("/inputs3" + path, "POST", headers=FORM, body=body).status == status


def test_a_query_has_so_many_pairs_for_a_description(server):
    """What is no form is not counted."""
    assert server.request("/inputs3/body", "POST", headers={"Content-Type": "text/plain"}, body=b"a&" * 5000).status == 200


def test_the_fields_of_a_form_count_as_memory(start, tmp_path):
    """They are as large as its body, which lies in a file itself."""
    duda.build(tmp_path / "services", "inputs3", level=3)
    config = duda.config(tmp_path / "services", "inputs3")
    server = start(server="Workers 1\nMaxMemory 4M\n", **config)
    body = b"a=" + b"x" * (6 << 20)
    with server.connect() as connection:
        connection.send(http.request("/inputs3/held", "POST", headers=[*FORM.items()], body=body))
        assert eventually(lambda: "made room: MaxMemory" in server.log(), within=60)


@pytest.mark.parametrize("size", [0, 5, 100000])
def test_a_file_is_saved_where_none_is(server, tmp_path, size):
    target, content = tmp_path / "saved", bytes(i % 251 for i in range(size))
    body = multipart(part("file", content, "../evil"))
    answer = server.request(f"/inputs3/save?to={target}", "POST", headers=MULTIPART, body=body)
    assert answer.status == 201 and target.read_bytes() == content
    answer = server.request(f"/inputs3/save?to={target}", "POST", headers=MULTIPART, body=body)
    assert answer.status == 500 and answer.body == b"File exists" and target.read_bytes() == content


@pytest.mark.parametrize("query, parts", [("?to=/nowhere/x", [part("file", b"1", "x")]), ("", [part("file", b"1", "x")]),
                                          ("?to=/nowhere/x", [part("a", b"1")])])
def test_a_file_that_cannot_be_saved(server, query, parts):
    assert server.request("/inputs3/save" + query, "POST", headers=MULTIPART, body=multipart(*parts)).status == 500


def test_bodies(server):
    assert server.request("/inputs3/body", "PUT", body=b"text").body == b"4 text"
    assert server.request("/inputs3/body", "POST", headers=FORM, body=b"a=%20").body == b"5 a=%20"
    assert server.get("/inputs3/body").body == b"0 NULL"
    answer = server.request("/inputs3/body", "POST", headers=MULTIPART, body=multipart(part("a", b"1")))
    assert answer.body == b"0 NULL"


def test_fields_are_without_a_blank(server):
    assert server.get("/inputs3/field", headers={"X-One": "1 2"}).body == b"[1 2] [1 2] [1 2] [NULL]"


def test_what_a_request_has_is_ended_with_it(server):
    def counted():
        return int(server.get("/inputs3/count").body.split()[0])

    assert server.get("/inputs3/count").body.endswith(b" 0 -1")
    assert eventually(lambda: counted() >= 5)
