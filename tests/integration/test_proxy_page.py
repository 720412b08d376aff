# SPDX-License-Identifier: Apache-2.0
"""The page of statistics in a browser: on a desk and in a hand, by day and by night."""

import pytest

from harness import browser
from harness.backend import backends, proxy, servers

pytestmark = pytest.mark.once("a page in a browser")


@pytest.mark.parametrize("name, size, dark", [
    ("desk", (1280, 620), False), ("desk_dark", (1280, 620), True), ("phone", (500, 844), False),
    ("phone_dark", (500, 844), True),
])
def test_it_looks_like_something(start, tmp_path, name, size, dark):
    with backends(3) as three:
        server = start(extra=proxy(f"Name shop\nMatch ^/\n{servers(three, [2, 1, 1])}\nStatisticsURL /stats\n"
                                   "HealthCheck / 300ms"))
        for _ in range(20):
            server.get("/")
        three[1].stop()
        for _ in range(8):
            server.get("/")
        picture = browser.screenshot(tmp_path, f"http://127.0.0.1:{server.port}/stats", f"backends_{name}", *size, dark=dark)
        assert picture.size == size and picture.bytes > 8000
        assert (sum(picture.corner) < 3 * 0x40) == dark
        text = browser.document(tmp_path, f"http://127.0.0.1:{server.port}/stats")
        assert text.count("<tr>") == 4 and 'class="offline"' in text
