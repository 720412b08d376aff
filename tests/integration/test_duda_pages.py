# SPDX-License-Identifier: Apache-2.0
"""What docs/duda/README.md shows works."""

import pathlib
import re

import pytest

from harness import duda

pytestmark = pytest.mark.once("a page of the documentation")

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "duda" / "README.md"


def test_the_service_of_the_page(start, tmp_path):
    source = re.search(r"^```c\n(.*?)^```", PAGE.read_text(), re.M | re.S)[1]
    duda.build(tmp_path, source, name="hello")
    server = start(**duda.config(tmp_path, "hello"))
    answer = server.get("/hello/")
    assert (answer.status, answer.body, answer.header("content-type")) == (200, b"Hello, world\n", "text/plain")
