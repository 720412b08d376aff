# SPDX-License-Identifier: Apache-2.0
"""`dudac build`: a service as the file that a server opens."""

import getopt
import pathlib
import shutil

from .building import Builder
from .failure import Failure
from .options import Misuse, level_number
from .places import Cache


def parse(words):
    """path, file (None: named after the service), level and kind of PATH [-o FILE] [-V LEVEL] [--release]. Raises Misuse."""
    try:
        found, rest = getopt.gnu_getopt(words, "o:V:", ["release"])
    except getopt.GetoptError as error:
        raise Misuse(str(error)) from None
    if len(rest) != 1:
        raise Misuse("build takes one path")
    options = dict(found)
    return (rest[0], pathlib.Path(options["-o"]) if "-o" in options else None,
            level_number(options["-V"]) if "-V" in options else None, "release" if "--release" in options else "plain")


def put(source, file):
    """In place of what is there at once: a server may have that open. Raises Failure."""
    fresh = file.with_name(f".{file.name}.fresh")
    try:
        shutil.copyfile(source, fresh)
        fresh.chmod(0o755)
        fresh.replace(file)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise Failure(f"{file}: {error.strerror}") from None


def build_files(places, words):
    """Exit code 0. Raises Misuse and Failure."""
    path, file, level, kind = parse(words)
    with Cache() as cache:
        services = Builder(places, cache, path, level, kind).build()
        if file and not file.is_dir() and len(services) != 1:
            raise Failure(f"{path} has {len(services)} services: -o takes a folder for them")
        for service in services:
            target = file if file and not file.is_dir() else (file or pathlib.Path()) / f"{service.name}.duda"
            put(service.file, target)
            print(f"{target} is ready")
    return 0
