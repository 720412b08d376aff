# SPDX-License-Identifier: Apache-2.0
"""Query strings and cookies of a service."""

import pytest

from harness import duda


@pytest.fixture(scope="module")
def server(start_shared, tmp_path_factory):
    folder = tmp_path_factory.mktemp("services")
    for level in (1, 2):
        duda.build(folder, "inputs", name=f"inputs{level}", level=level)
    return start_shared(**duda.config(folder, "inputs1", "inputs2"))


@pytest.mark.parametrize("query, said", [
    ("", "0 a=NULL -1 -1 NULL NULL"),
    ("?", "0 a=NULL -1 -1 NULL NULL"),
    ("?a=1&b=2", "2 a=1 0 -1 NULL 1 2 NULL"),
    ("?a=&b", "1 a= -1 0 NULL  NULL"),  # without `=` it does not count
    ("?=x&a=1=2&a=3", "2 a=1=2 -1 -1 NULL 1=2 3 NULL"),
    ("?b=%20+&&&", "1 a=NULL -1 -1 NULL %20+ NULL"),  # as sent
])
def test_query_strings(server, query, said):
    assert server.get(f"/inputs1/query{query}").body == said.encode()


def test_a_query_string_has_at_most_32_variables(server):
    answer = server.get("/inputs1/query?" + "&".join(f"v{i}={i}" for i in range(100)))
    assert answer.body.startswith(b"32 ") and answer.body.endswith(b" 31 NULL")


@pytest.mark.parametrize("field, said", [
    ("k1=v1", "0 v1 0"),
    ("xk1=v9; k1=v1", "0 v1 0"),
    ("k1=v12;k2=v1", "0 v12 -1"),
    ("xk1=v1", "-1  -1"),
    ("", "-1  -1"),
])
def test_cookies_of_a_request(server, field, said):
    assert server.get("/inputs1/show", headers={"cOOkie": field}).body == said.encode()


@pytest.mark.parametrize("level, path", [(1, "/inputs1"), (2, "/")])
def test_cookies_of_an_answer(server, level, path):
    answer = server.get(f"/inputs{level}/set")
    assert answer.all("Set-Cookie") == [f"one=1; path={path}", f"two=2; path={path}; expires=Tue, 01 Jan 2030 00:00:00 GMT",
                                        f"three=deleted; path={path}; expires=Fri, 12 Sep 1980 11:43:00 GMT"]
    assert answer.body == b"-1" and answer.header("X-Evil") is None
