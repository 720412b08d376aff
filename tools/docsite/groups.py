# SPDX-License-Identifier: Apache-2.0
"""Which files of the tree are pages of the site, and under which heading each stands."""

import pathlib
import subprocess
import sys
from typing import NamedTuple


class Group(NamedTuple):
    name: str  # of its place on the first page
    title: str
    patterns: tuple  # of paths in the tree, in the order of the pages


# A page belongs to the group that names it, else to the first with a pattern for it. The last group takes what is left.
GROUPS = (
    Group("start", "Start", ("README.md", "docs/dynamic.md", "docs/recipes/README.md", "docs/recipes/*.md", "docs/from-*.md")),
    Group("server", "Server", ("docs/man/monkey.8", "docs/man/monkey.conf.5", "docs/man/*.1", "docs/grpc.md", "docs/tls-scan.md")),
    Group("plugins", "Plugins", ("docs/plugins.md", "docs/man/monkey-*.5")),
    Group("embedding", "Embedding", ("docs/embedding.md", "docs/web.md", "docs/python.md", "docs/older-programs.md")),
    Group("duda", "Duda: services in C", ("docs/duda/README.md", "docs/duda/tutorial.md", "docs/man/dudac.1", "docs/man/monkey-duda.5",
                                          "docs/duda/*.md")),
    Group("calls", "Reference: libraries", ("docs/man/*.3",)),
    Group("objects", "Reference: objects of services", ("docs/duda/api/*.md",)),
    Group("project", "The project", ("CHANGELOG.md", "CONTRIBUTING.md", "docs/style.md", "docs/architecture.md", "docs/glossary.md",
                                     "docs/budgets.md", "docs/benchmarks.md", "SECURITY.md", "*.md", "docs/*.md", "docs/*/*.md")),
)
SOURCES = Group("sources", "Sources", ())  # files that pages refer to


def made_manuals(tree, folder):
    """Paths that the manual pages of the headers would have in docs/man/ -> files in `folder`, which are written here."""
    maker = tree / "tools" / "make_man"
    subprocess.run([sys.executable, str(maker), str(tree), str(folder)], check=True)
    return {f"docs/man/{path.name}": path for path in sorted(folder.glob("*.3"))}


def candidates(tree, folder):
    """Path in the tree -> file, of all pages."""
    found = made_manuals(tree, folder)
    for pattern in ("*.md", "docs/**/*.md", "docs/man/*.[1-9]"):
        found.update({path.relative_to(tree).as_posix(): path for path in tree.glob(pattern)})
    return found


def place(path):
    """The index of a page's group, and of the pattern in it; None where no group has one."""
    found = [(group, pattern) for group in range(len(GROUPS)) for pattern in range(len(GROUPS[group].patterns))
             if fits(path, GROUPS[group].patterns[pattern])]
    named = [(group, pattern) for group, pattern in found if GROUPS[group].patterns[pattern] == path]
    return (named or found or [None])[0]


def fits(path, pattern):
    return path.count("/") == pattern.count("/") and pathlib.PurePosixPath(path).match(pattern)


def in_order(tree, folder):
    """(path, file, group) of all pages, and the paths that no group has."""
    found = candidates(tree, folder)
    places = {path: place(path) for path in found}
    ordered = sorted((path for path in found if places[path]), key=lambda path: (places[path], path))
    return ([(path, found[path], GROUPS[places[path][0]]) for path in ordered],
            sorted(path for path in found if not places[path]))
