# SPDX-License-Identifier: Apache-2.0
"""Packages that services load: their state is the service's own."""

import hashlib
import hmac
import re

import pytest

from harness import duda

SERVICE = """
#include "webservice.h"
struct duda_api_counter {
    int (*next)(void);
};
DUDA_OBJ struct duda_api_counter *counter, *again;
DUDA_REGISTER("a", "b");
static void answer(duda_request_t *dr)
{
    response->http_status(dr, 200);
    response->printf(dr, "%d", counter ? counter->next() : -1);
    response->end(dr, NULL);
}
int duda_main()
{
    duda_load_package(counter, "PACKAGE");
    duda_load_package(again, "PACKAGE");
    if (again != counter || counter->next() != 1)
        return 1;
    map->static_add_ref("/", answer);
    return 0;
}
"""


@pytest.fixture
def services(tmp_path):
    folder = tmp_path / "services"
    duda.build(folder, "counter", ending="dpkg")
    for name in ("one", "two", "three"):
        duda.build(folder, SERVICE.replace("PACKAGE", "counter"), name=name)
    return folder


def test_a_package_has_a_state_for_each_service(start, services):
    server = start(**duda.config(services, "one", "two", "three"))
    assert [server.get(f"/{name}/").body for name in ("one", "one", "two", "one", "three")] == [b"2", b"3", b"2", b"4", b"2"]


def test_a_missing_package_is_said_and_its_service_skipped(start, services):
    duda.build(services, SERVICE.replace("PACKAGE", "nothing"), name="bad")
    server = start(**duda.config(services, "bad", "one"))
    assert server.get("/one/").body == b"2" and server.get("/bad/").status == 404
    assert re.search(r"service 'bad': package 'nothing': .*nothing\.dpkg", server.log())


FILES = ("""
#include "webservice.h"
DUDA_REGISTER("a", "b");
int store_open(void);
int duda_main()
{
    return store_open();
}
""", """
#include "webservice.h"
struct duda_api_counter {
    int (*next)(void);
};
DUDA_OBJ struct duda_api_counter *counter;
static void answer(duda_request_t *dr)
{
    response->http_status(dr, 200);
    response->printf(dr, "%d", counter->next());
    response->end(dr, NULL);
}
int store_open(void)
{
    duda_load_package(counter, "PACKAGE");
    map->static_add_ref("/", answer);
    return 0;
}
""")


@pytest.mark.parametrize("package, status", [("counter", 200), ("nothing", 404)])
def test_any_file_of_a_service_loads_packages(start, services, package, status):
    duda.build(services, *(text.replace("PACKAGE", package) for text in FILES), name="files")
    server = start(**duda.config(services, "files", "one"))
    assert server.get("/files/").status == status
    assert server.get("/one/").body == b"2"


def test_a_file_that_is_no_package(start, services):
    (services / "text.dpkg").write_text("no shared object")
    duda.build(services, "\nint nothing;\n", name="empty", ending="dpkg")
    for name in ("text", "empty"):
        duda.build(services, SERVICE.replace("PACKAGE", name), name=f"with_{name}")
    server = start(**duda.config(services, "with_text", "with_empty", "one"))
    assert server.get("/one/").body == b"2"
    assert re.search(r"package 'empty': .* has no duda_package_main\(\)", server.log())
    assert re.search(r"package 'text': .*text\.dpkg", server.log())


# ---- the packages of the tree


def test_base64(start, tmp_path):
    duda.build(tmp_path, "packaged_base64", name="coder")
    server = start(**duda.config(tmp_path, "coder", duda={"PackagesRoot": duda.packages()}))
    assert server.get("/coder/encode?hello").text == "aGVsbG8= 8"
    assert server.get("/coder/encode?").text == " 0"
    assert server.get("/coder/decode?aGVsbG8=").text == "hello 5"
    assert server.get("/coder/decode?aGVsbG8").text == "none"


def test_json(start, tmp_path):
    duda.build(tmp_path, "packaged_json", name="tree")
    server = start(**duda.config(tmp_path, "tree", duda={"PackagesRoot": duda.packages()}))
    posted = server.request("/tree/echo", "POST", body=b' { "a" : [1.50, "\\u00e9/"] } ')
    assert (posted.status, posted.text) == (200, '{"a":[1.5,"é/"]}')
    refused = server.request("/tree/echo", "POST", body=b"[1] x")
    assert (refused.status, refused.text) == (400, "x")
    assert (server.get("/tree/echo").status, server.get("/tree/echo").text) == (400, "none")
    assert server.get("/tree/build").text == '{\n\t"List":\t[null, true, false, true, 42],\n\t"size":\t5,\n\t"text":\t"List"\n}'
    assert server.get("/tree/constant").text == '{\n\t"a":\t0.5\n} {"a":0.5}'


def test_json_of_level_3(start, tmp_path):
    duda.build(tmp_path, "packaged_json3", name="tree", level=3)
    server = start(**duda.config(tmp_path, "tree", duda={"PackagesRoot": duda.packages()}))
    refused = server.request("/tree/patch", "POST", body=b'{"a":1,\n "a":2}')
    assert (refused.status, refused.text) == (400, "2:8: the object has a key twice")
    patched = server.request("/tree/patch", "POST", body=b'{"a":null,"b":{"c":[18446744073709551615]}}')
    assert (patched.status, patched.text) == (200, '{"id":9223372036854775807,"b":{"c":[18446744073709551615]}} 18446744073709551615')
    assert server.get("/tree/write").text == '{"list":[-9223372036854775808,0.5,true,null,"\u00e9"],"tree":{"n":18446744073709551615}}'
    assert server.get("/tree/wrong").text == "all refused"
    assert server.request("/tree/body", "PATCH", body=b'{"n": 7}').text == "7"
    answer = server.get("/tree/answer")
    assert (answer.status, answer.text, answer.header("Content-Type")) == (201, '{"tags":["a", {}],"none":null}', "application/json")
    answer = server.get("/tree/answer?broken=1")
    assert answer.status == 500 and answer.header("Content-Type") == "application/problem+json"
    assert server.get("/tree/late").text == "1"
    for text, detail in ((b'{"n": 7', "a comma or } is expected"), (b"", "there is no body")):
        refused = server.request("/tree/body", "POST", body=text)
        assert refused.status == 400 and detail in refused.text


@pytest.mark.parametrize("source, level, path", [("packaged_json", 1, "echo"), ("packaged_json3", 3, "body")])
def test_a_body_of_json_has_so_many_values(start, tmp_path, source, level, path):
    duda.build(tmp_path, source, name="tree", level=level)
    server = start(**duda.config(tmp_path, "tree", duda={"PackagesRoot": duda.packages()}))
    for count, status in ((250_000, 200), (250_001, 400)):
        text = b"[" + b"0," * (count - 2) + b"0]"
        assert server.request(f"/tree/{path}", "POST", body=text).status == status


BODIES = [b"abc", b"a" * 55, b"a" * 56, b"a" * 63, b"a" * 64, b"a" * 111, b"a" * 112, b"a" * 128, bytes(range(256)) * 40]


@pytest.mark.parametrize("level", [1, 3])
def test_digests(start, tmp_path, level):
    duda.build(tmp_path, "packaged_sha", name="sha", level=level)
    server = start(**duda.config(tmp_path, "sha", duda={"PackagesRoot": duda.packages()}))
    for body in BODIES:
        assert server.request("/sha/one", "POST", body=body).text == hashlib.sha1(body).hexdigest()
        assert server.request("/sha/two", "POST", body=body).text == hashlib.sha256(body).hexdigest()
        if level == 3:
            expected = [hashlib.new(name, body).hexdigest() for name in ("sha1", "sha256", "sha512")]
            expected += [hmac.new(body, body, name).hexdigest() for name in ("sha1", "sha256", "sha512")]
            assert server.request("/sha/pieces", "POST", body=body).text == "".join(expected)
    if level == 3:
        assert server.get("/sha/nothing").text == hashlib.sha256(b"").hexdigest()
        assert server.get("/sha/empty").text == hashlib.sha512(b"").hexdigest()


def test_kv(start, tmp_path):
    duda.build(tmp_path, "packaged_kv", name="kv")
    server = start(**duda.config(tmp_path, "kv", duda={"PackagesRoot": duda.packages()}))
    assert server.get("/kv/entries").text == "right"
    assert server.get("/kv/cursors").text == "a0 b1 c2 d3 dcba -a1 -b1 -c1 -d1 0 0 -10 0 -10"
    assert server.get("/kv/wrong").text == "all refused"
    assert [server.get("/kv/count").text for _ in range(3)] == ["x", "xx", "xxx"]


def test_kv_of_level_3(start, tmp_path):
    stored = tmp_path / "stored"
    duda.build(tmp_path, "packaged_kv", name="kv", level=3, flags=("-fcommon", f'-DSTORE="{stored}"'))
    config = duda.config(tmp_path, "kv", duda={"PackagesRoot": duda.packages()})
    server = start(**config)
    assert server.get("/kv/bounded").text == "right"
    assert server.get("/kv/count").text == "x"
    assert server.get("/kv/save").text == "saved"
    assert server.get("/kv/count").text == "xx"
    server.kill()
    server = start(**config)
    assert server.get("/kv/count").text == "xx"  # as it was saved, and one more
    server.kill()
    stored.write_bytes(b"no store")
    server = start(**config)
    assert server.get("/kv/count").status == 404
    assert "not a whole file of a store" in server.log()
