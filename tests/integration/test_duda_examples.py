# SPDX-License-Identifier: Apache-2.0
"""The services of examples/duda, each as dudac builds and runs it."""

import pytest

from harness import dudac
from harness.executable import TREE

pytestmark = pytest.mark.plain


@pytest.fixture
def service(tmp_path, request):
    name = request.node.name.removeprefix("test_")
    with dudac.running(tmp_path, "-p", "0", "-w", TREE / "examples" / "duda" / name) as run:
        assert "warning" not in run.errors()

        def ask(target, method="GET", **kwargs):
            return run.request(f"/{name}{target}", method, **kwargs)

        yield ask
        assert run.interrupt() == 0


def test_books(service):
    key = {"X-Key": "secret"}
    assert service("/api/books").body == b""
    assert service("/api/books", "POST", body=b"Emma").status == 403
    added = service("/api/books", "POST", headers=key, body=b"Emma")
    assert added.status == 201 and added.header("Location") == "/books/api/books/1"
    assert service("/api/books", "POST", headers=key).status == 400
    assert service("/api/books/1").body == b"Emma\n" and service("/api/books").body == b"1 Emma\n"
    tag = service("/api/books/1").header("ETag")
    assert service("/api/books/1", headers={"If-None-Match": tag}).status == 304
    form = {**key, "Content-Type": "application/x-www-form-urlencoded"}
    assert service("/api/books", "POST", headers=form, body=b"title=War+and+Peace").body == b"War and Peace\n"
    assert service("/api/books?x", "GET").body == b"1 Emma\n2 War and Peace\n"
    assert service("/api/books/3").status == 404 and service("/api/books/one").status == 404
    refused = service("/api/books/1", "PUT")
    assert refused.status == 405 and refused.header("Allow") == "DELETE, GET, HEAD, OPTIONS"
    assert service("/api/books/1", "DELETE", headers=key).status == 204 and service("/api/books/1").status == 404
