# SPDX-License-Identifier: Apache-2.0
"""The document root that every server is given: real files, the same bytes in every run."""

import os
import random

SMALL = "hello.txt"
HELLO = "hello"             # the same for the address of a handler
LOGO = "logo.png"
F200K = "f200k.bin"
F1M = "f1m.bin"
BIG = ("big1.bin", "big2.bin")
BIG_SIZE = 100 * 1000 * 1000

# A page and what it pulls in, with the sizes of a small hand-made site.
SITE = {
    "site/index.html": 4200,
    "site/about.html": 2900,
    "site/style.css": 5600,
    "site/print.css": 800,
    "site/site.js": 9300,
    "site/logo.png": 13200,
    "site/photo.jpg": 31000,
    "site/icon.svg": 1100,
    "site/favicon.ico": 1150,
    "site/robots.txt": 68,
}

SIZES = {LOGO: 13 * 1024, F200K: 200 * 1024, F1M: 1 << 20, **dict.fromkeys(BIG, BIG_SIZE), **SITE}

# Stands for the whole mix where only one canned answer is possible.
SITE_MEAN = "mean.bin"


def _fill(path, size, seed):
    chunk = random.Random(seed).randbytes(min(size, 1 << 20))
    with open(path, "wb") as out:
        while size > 0:
            size -= out.write(chunk[:size])


def words(size, seed):
    """A text that compresses as scripts and pages do."""
    chance = random.Random(seed)
    stock = ["".join(chance.choices("etaoinshrdlu(){};=<>/\"", k=chance.randint(2, 9))) for _ in range(600)]
    return " ".join(chance.choices(stock, k=size // 4)).encode()[:size]


def make(root, big=True):
    """Write the files under the directory root, which is created; big: also the 100 MB ones."""
    os.makedirs(os.path.join(root, "site"), exist_ok=True)
    for name in (SMALL, HELLO):
        with open(os.path.join(root, name), "wb") as out:
            out.write(b"Hello, world\n")
    for name, size in SIZES.items():
        if name in BIG and not big:
            continue
        _fill(os.path.join(root, name), size, name)
    _fill(os.path.join(root, SITE_MEAN), sum(SITE.values()) // len(SITE), "mean")
    for where, _, names in os.walk(root):
        os.chmod(where, 0o755)
        for name in names:
            os.chmod(os.path.join(where, name), 0o644)
