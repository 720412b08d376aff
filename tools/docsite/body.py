# SPDX-License-Identifier: Apache-2.0
"""What a page is between its first heading and its end, of whatever it was made."""

import html
import re
from typing import NamedTuple


class Heading(NamedTuple):
    level: int  # 2 or more: the title is the first
    name: str  # its id
    text: str


class Body(NamedTuple):
    title: str
    summary: str  # one sentence
    html: str
    headings: list
    terms: list = []  # (name, text) of further places that a search finds, such as the keys of a configuration


def plain(text):
    """HTML without its elements."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", text)).split())
