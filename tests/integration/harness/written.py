# SPDX-License-Identifier: Apache-2.0
"""
What pages of the documentation show, as tests use it: files, each after a line that begins with its name in backquotes, and commands.

    texts = written.moved(written.files(page), ("/srv/www", tmp_path))
    written.assert_fine(tmp_path / "conf", texts)
"""

import re

from harness import process

FILE = re.compile(r"^`([\w./-]+)`[^\n`]*:\n\n```\w*\n(.*?)^```", re.M | re.S)
COMMANDS = re.compile(r"^```sh\n(.*?)^```", re.M | re.S)


def page(name):
    """The text of a page of docs/."""
    return (process.TREE / "docs" / f"{name}.md").read_text()


def files(text):
    """name -> text"""
    return dict(FILE.findall(text))


def commands(text, word):
    """The one block of commands, but no file, that has this word."""
    found = [block for block in COMMANDS.findall(text) if word in block and not block.startswith("#!")]
    assert len(found) == 1, f"{len(found)} blocks have {word!r}"
    return found[0]


def moved(texts, *places):
    """places: (text of the page, what stands for it here); each is there."""
    for old, new in places:
        assert any(old in text for text in texts.values()), old
        texts = {name: text.replace(old, str(new)) for name, text in texts.items()}
    return texts


def assert_fine(folder, texts):
    """A configuration of these files has no fault. What --test says is returned."""
    for name, text in {"monkey.mime": "[MIMETYPES]\n    html text/html\n", **texts}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if text is not None:
            (folder / name).write_text(text)
    result = process.run("--configdir", folder, "--test")
    output = result.stdout + result.stderr
    assert result.returncode == 0 and result.stdout.startswith("configuration is fine\n"), output
    return output
