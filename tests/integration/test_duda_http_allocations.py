# SPDX-License-Identifier: Apache-2.0
"""Allocation 1, 2, ... n fails while a service asks another server: an answer or an error, and the next call works."""

import itertools
from urllib.parse import urlencode

import pytest

from harness import duda, http
from harness.backend import Backend

pytestmark = [pytest.mark.slow, pytest.mark.limit(300)]

CALLS = {
    "get": ("ask", {}),
    "post": ("ask", {"body": "abc", "field": "X: y"}),
    "redirect": ("ask", {"redirects": 2, "path": "/to"}),
    "large": ("ask", {"path": "/large"}),
    "pieces": ("stream", {"path": "/large"}),
    "upload": ("upload", {"size": 50000}),
}


def answer(conn, request):
    if request.target == "/to":
        conn.answer(status="302 Found", fields="Location: /\r\n")
    else:
        conn.answer(b"y" * (100_000 if request.target == "/large" else 2), fields="Content-Type: text/x\r\n")


@pytest.mark.parametrize("name", CALLS)
def test_call(start, tmp_path, allocations, name):
    duda.build(tmp_path / "services", "asking", flags=("-fcommon", "-DMAY_FAIL"), level=3)
    path, words = CALLS[name]
    with Backend(each=answer) as backend:
        server = start(server="Workers 1", env=allocations.environment, **duda.config(tmp_path / "services", "asking"))
        words = {**words, "url": f"http://{backend.address}{words.get('path', '/')}"}
        target = f"/asking/{path}?{urlencode(words)}"
        plain = f"/asking/ask?{urlencode({'url': f'http://{backend.address}/'})}"
        assert server.get(plain).status == 200
        for number in itertools.count(1):
            allocations.arm(number)
            with server.connect() as connection:
                connection.send(http.request(target, headers={"Connection": "close"}))
                seen = connection.rest_until_cut()
            allocations.disarm()
            assert not seen or seen.startswith(b"HTTP/1.1 "), seen[:100]
            assert server.is_running(), f"allocation {number}\n{server.log()}"
            assert server.get(plain).body.startswith(b"ok|200"), f"after allocation {number}"
            if not allocations.failed:
                break
        assert number > 5
