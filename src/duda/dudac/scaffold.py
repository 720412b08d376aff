# SPDX-License-Identifier: Apache-2.0
"""`dudac new`: a folder with a service to begin with."""

import pathlib
import re

from .failure import Failure
from .options import Misuse

TEMPLATES = pathlib.Path(__file__).parent / "templates"
COMMON = "common"  # files of all templates
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,62}")


def template_names():
    return sorted(folder.name for folder in TEMPLATES.iterdir() if folder.is_dir() and folder.name != COMMON)


def parse(words):
    """(path, template) of PATH [--template TEMPLATE]; without one, that of the service's name if there is one. Raises Misuse."""
    words, template = list(words), None
    if "--template" in words:
        at = words.index("--template")
        template = "".join(words[at + 1:at + 2])
        del words[at:at + 2]
    if len(words) != 1 or words[0].startswith("-"):
        raise Misuse("new takes one name, and --template TEMPLATE")
    path, known = pathlib.Path(words[0]), template_names()
    if template is None:
        template = path.name if path.name in known else "hello"
    if template not in known:
        raise Misuse(f"there is no template '{template}'; there are {', '.join(known)}")
    return path, template


def copy(template, folder, name):
    for file in sorted((TEMPLATES / template).rglob("*")):
        target = folder / file.relative_to(TEMPLATES / template)
        if file.is_dir():
            target.mkdir(parents=True, exist_ok=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(file.read_text().replace("@NAME@", name))


def new_service(words):
    """Exit code 0. Raises Misuse and Failure."""
    folder, template = parse(words)
    if not NAME.fullmatch(folder.name):
        raise Failure(f"'{folder.name}' is no name of a service: letters, digits, _ and -, a letter first")
    try:
        folder.mkdir(parents=True)
        copy(COMMON, folder, folder.name)
        copy(template, folder, folder.name)
    except FileExistsError:
        raise Failure(f"{folder} exists already") from None
    except OSError as error:
        raise Failure(f"{folder}: {error.strerror}") from None
    print(f"{folder} is ready. Run it, and build it anew whenever a file is saved: dudac watch {folder}")
    return 0
