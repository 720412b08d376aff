# SPDX-License-Identifier: Apache-2.0
"""Programs that tests use: those of the system, and helpers compiled when they are needed."""

import ctypes
import functools
import glob
import os
import pathlib
import resource
import shutil
import subprocess
import tempfile
import threading

from harness import compiled, executable

HELPERS = pathlib.Path(__file__).resolve().parents[1] / "helpers"


def require(name):
    """The path of a program. A missing one fails the test: tools/deps --test brings them all."""
    path = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    assert path, f"{name} is not installed: run tools/deps --test"
    return path


def require_root(reason):
    assert os.geteuid() == 0, f"{reason}: run this test as root"


def run(*words, timeout=30, **kwargs):
    """Run a client to its end; the completed process is returned."""
    return subprocess.run([require(words[0]), *map(str, words[1:])], timeout=timeout, capture_output=True,
                          stdin=subprocess.DEVNULL, **kwargs)


@functools.cache
def _build_folder():
    return tempfile.TemporaryDirectory(prefix="monkey-helpers-")


@functools.cache
def helper(source, *options):
    """Compile a C file of helpers/: a program, or a shared object for the server when its name says so (`x.so.c`)."""
    target = pathlib.Path(_build_folder().name) / source.removesuffix(".c")
    flags = ["-shared", "-fPIC", *executable.word_size()] if target.suffix == ".so" else []
    compiled.make([os.environ.get("CC", "cc"), "-O1", "-Wall", "-Werror", *flags, *options], [HELPERS / source], target, ["-ldl"])
    return str(target)


def libfaketime():
    found = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
    assert found, "libfaketime is not installed: run tools/deps --test"
    return found[0]


def raise_descriptor_limit(wanted):
    """For this process and those that it starts later."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < wanted and os.geteuid() == 0:
        hard = wanted
    assert hard >= wanted, f"at most {hard} descriptors are allowed here, {wanted} are needed"
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def in_network_namespace(work):
    """
    Call work() in a thread that has a network of its own with only a loopback, and return its result. A namespace
    belongs to a thread, and what the thread starts inherits it: processes too.
    """
    require_root("a network namespace of its own is needed")
    outcome = {}

    def enter():
        CLONE_NEWNET = 0x40000000
        try:
            libc = ctypes.CDLL(None, use_errno=True)
            if libc.unshare(CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), "unshare(CLONE_NEWNET)")
            subprocess.run([require("ip"), "link", "set", "lo", "up"], check=True, timeout=10)
            outcome["result"] = work()
        except BaseException as fault:
            outcome["fault"] = fault

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    if "fault" in outcome:
        raise outcome["fault"]
    return outcome["result"]
