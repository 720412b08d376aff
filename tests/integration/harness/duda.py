# SPDX-License-Identifier: Apache-2.0
"""
Services of the tests: C files of tests/integration/duda, compiled as their authors do.

    server = start(**duda.config(tmp_path, "hello"))
    assert server.get("/hello/").body == b"Hello"
"""

import os
import pathlib

import pytest

from harness import compiled, executable
from harness.config import section

TESTS = pathlib.Path(__file__).resolve().parents[1]
SOURCES = TESTS / "duda"
HEADERS = TESTS.parents[1] / "src" / "duda" / "headers"


def plugin():
    """The line of plugins.load; a build that opens no shared objects has no services."""
    path = executable.plugin("duda")
    if path is None:
        pytest.skip("this build opens no shared objects")
    return f"[PLUGINS]\n    Load {path}\n"


def packages():
    """The folder of the packages of the tree."""
    return pathlib.Path(executable.binary()).parent / "src" / "duda" / "packages"


def require_package(name):
    """A test of a package that this build has not is skipped."""
    if not (packages() / f"{name}.dpkg").exists():
        pytest.skip(f"this build has no package {name}")


def build(folder, *sources, name=None, level=1, ending="duda", flags=("-fcommon",)):
    """Compile these sources to folder/NAME.duda. A source is a file of tests/integration/duda without its ending, or C text."""
    plugin()  # or the test is skipped
    folder.mkdir(parents=True, exist_ok=True)
    name = name or sources[0]
    paths = []
    for number, source in enumerate(sources):
        path = SOURCES / f"{source}.c"
        if "\n" in source:
            path = folder / f"{name}.{number}.c"
            path.write_text(source)
        paths.append(path)
    target = folder / f"{name}.{ending}"
    fresh = folder / f"{name}.fresh"  # a loaded file is replaced, not written to
    compiled.make([os.environ.get("CC", "cc"), "-std=gnu11", "-O1", "-g", "-Wall", "-Werror", "-fPIC", "-shared", *executable.word_size(),
                   *flags, f"-DDUDA_API_LEVEL={level}", f"-I{HEADERS}", "-Wl,-Bsymbolic"], paths, fresh)
    fresh.rename(target)
    return target


def service(name, **keys):
    """A section [WEB_SERVICE] of a site."""
    return section("WEB_SERVICE", "\n".join([f"Name {name}"] + [f"{key} {value}" for key, value in keys.items()]))


def settings(folder, **keys):
    """duda.conf; services and packages lie in folder."""
    lines = {"ServicesRoot": folder, "PackagesRoot": folder, **keys}
    return {"plugins/duda/duda.conf": section("DUDA", "\n".join(f"{key} {value}" for key, value in lines.items()))}


def config(folder, *services, duda=None, extra=None, site="", **rest):
    """Arguments of `start` for a site with these services: names, or sections as of service()."""
    sections = "".join(s if s.startswith("[") else service(s) for s in services)
    return {"site": sections + site,
            "extra": {"plugins.load": plugin(), **settings(folder, **(duda or {})), **(extra or {})}, **rest}


def serve_package(start, folder, package, source, level, *flags, names=("db",)):
    """A server of one worker with services of this source, under these names, that use a package."""
    require_package(package)
    for name in names:
        build(folder, source, name=name, level=level, flags=("-fcommon", *flags))
    return start(**config(folder, *names, server="Workers 1", duda={"PackagesRoot": packages()}))
