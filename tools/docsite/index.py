# SPDX-License-Identifier: Apache-2.0
"""What a search of the site reads: titles, headings and words, each with the pages that have them."""

import re

from docsite.body import plain

WORD = re.compile(r"[^\W\d_]\w{2,}")
SHARE = 8  # words that one page of so many has tell none apart
USUAL = {"NAME", "SYNOPSIS", "DESCRIPTION", "SEE ALSO", "EXAMPLES", "OPTIONS", "FILES", "EXIT STATUS", "Types and constants"}


def words_of(text):
    return set(WORD.findall(plain(text.replace("<", " <")).lower()))


def with_numbers(pages):
    """["word word", [3, 17]]: words that few pages have, those together that the same pages have."""
    pages_of, words_of_pages = {}, {}
    for number, page in enumerate(pages):
        for word in words_of(page.body.html):
            pages_of.setdefault(word, []).append(number)
    for word in sorted(pages_of):
        words_of_pages.setdefault(tuple(pages_of[word]), []).append(word)
    return [[" ".join(words), numbers] for numbers, words in sorted(words_of_pages.items()) if len(numbers) <= max(1, len(pages) // SHARE)]


def places(pages):
    """[text, number of the page, id], without the id where it is the text."""
    for number, page in enumerate(pages):
        for name, text in [*((heading.name, heading.text) for heading in page.body.headings), *page.body.terms]:
            if text not in USUAL:
                yield [text, number] + ([name] if name != text else [])


def make(pages):
    """pages: those with a body, each with its address, the title of its group and its body."""
    return {
        "pages": [[page.body.title, page.address, page.group.title] for page in pages],
        "headings": list(places(pages)),
        "words": with_numbers(pages),
    }
