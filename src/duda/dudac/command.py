# SPDX-License-Identifier: Apache-2.0
"""The command: its options, and what each asks for."""

import sys

from . import options as words_of
from .build_file import build_files
from .doctor import examine
from .failure import Failure
from .options import HELP, Misuse
from .package import package_service
from .places import forget_builds, is_home_chosen
from .routes import show_routes
from .routes_openapi import is_document_wanted, show_document
from .running import run_service
from .scaffold import new_service
from .testing import test_service
from .watching import watch_service


def banner(places):
    print(f"dudac {places.version}: builds and runs web services in C\n", flush=True)


def remove_cache(option):
    if option == "-r" and is_home_chosen():
        raise Failure("-r removes nothing where DUDAC_HOME is set; use -R")
    forget_builds()


def run_options(places, words):
    """What options of 2014 ask for. Raises Misuse and Failure."""
    if words == ["doctor"]:
        return examine(places)
    commands = {"new": new_service, "build": lambda rest: build_files(places, rest),
                "routes": lambda rest: show_document(places, rest) if is_document_wanted(rest) else show_routes(rest), "package": lambda rest: package_service(places, rest),
                "test": lambda rest: test_service(places, rest)}
    if words[:1] and words[0] in commands:
        return commands[words[0]](words[1:])
    serve = run_service
    if words[:1] in (["run"], ["watch"]):
        serve = watch_service if words[0] == "watch" else run_service
        words = ["-w", *words[1:]]
    options = words_of.parse(words)
    for warning in options.warnings:
        print(f"dudac: warning: {warning}", file=sys.stderr)
    if options.wants:
        print(HELP if options.wants == "help" else f"Version {places.version}", end="\n")
        return 0
    if options.does_update and options.is_forced:
        raise Failure("-F is for -w; the installed server is not built by -g or -s")
    if options.removes:
        remove_cache(options.removes)
    if options.does_update:
        print(f"The installed server is used: {places.server}")
    return serve(places, options) if options.path is not None else 0


def main(words, places):
    """Run a command line; its exit code: 0, 1 after a failed step, 2 for words that are not understood."""
    if not is_document_wanted(words):  # which is all that is printed then
        banner(places)
    try:
        return run_options(places, words)
    except Misuse as misuse:
        print(HELP)
        print(f"dudac: {misuse}", file=sys.stderr)
        return 2
    except Failure as failure:
        sys.stdout.flush()
        print(f"dudac: {failure}", file=sys.stderr)
        return 1
