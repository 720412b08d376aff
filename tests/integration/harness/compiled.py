# SPDX-License-Identifier: Apache-2.0
"""
What tests compile: equal text compiles once in a run of tools/test, whose environment names a folder for it in COMPILED.

    compiled.make(["cc", "-O1", "-shared"], [source], target)
"""

import hashlib
import os
import pathlib
import shutil
import subprocess

WITHIN = 120  # seconds of a compiler


def _key(words, sources):
    """Of the words and of each file that a compiler may read because of them."""
    folders = [pathlib.Path(word[2:]) for word in words if word.startswith("-I")] + [source.parent for source in sources]
    headers = [path for folder in folders for path in sorted(folder.rglob("*.h"))]
    digest = hashlib.sha256(repr(words).encode())
    for path in [*sources, *headers]:
        text = path.read_bytes()
        digest.update(f"{path.name} {len(text)} ".encode() + text)
    return digest.hexdigest()


def make(words, sources, target, libraries=()):
    """Compile to target: words are the compiler and its options, without -o and the sources."""
    words, sources, target = [str(word) for word in words], [pathlib.Path(source) for source in sources], pathlib.Path(target)
    command = [*words, "-o", str(target), *map(str, sources), *libraries]
    folder = os.environ.get("COMPILED")
    if not folder:
        subprocess.run(command, check=True, timeout=WITHIN)
        return
    kept = pathlib.Path(folder) / _key([*words, *libraries], sources)
    if not kept.exists():
        subprocess.run(command, check=True, timeout=WITHIN)
        fresh = kept.with_name(f"{kept.name}.{os.getpid()}")  # others may compile the same at this time
        shutil.copy(target, fresh)
        fresh.rename(kept)
    else:
        shutil.copy(kept, target)
