# SPDX-License-Identifier: Apache-2.0
"""The executable under test, and what was built with it."""

import functools
import os
import pathlib
import re
import subprocess

from harness import carriers

# Options where no configuration says it: root stays root, because the folders of tests are root's alone.
AS_ROOT = ["--user", "root"] if os.geteuid() == 0 else []
TREE = pathlib.Path(__file__).resolve().parents[3]
SANITIZERS = {
    "ASAN_OPTIONS": "abort_on_error=0:exitcode=99:detect_stack_use_after_return=1:strict_string_checks=1",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    "TSAN_OPTIONS": "exitcode=66:second_deadlock_stack=1:ignore_noninstrumented_modules=1",
    "LSAN_OPTIONS": "exitcode=23",
}


def _chosen():
    return pathlib.Path(os.environ.get("MONKEY", TREE / "build" / "monkey")).resolve()


def _in_memory():
    return _chosen().parent / "tests" / "memory" / "monkey-memory"


def _asked():
    return _chosen().parent / "tests" / "memory" / "monkey-asking"


def _with_plugins():
    """The executable that was built with plugins; the one that is asked loads them too."""
    return _chosen() if carriers.is_asked() else pathlib.Path(binary())


@functools.cache
def word_size():
    """What the compiler is told for a shared object that this server loads."""
    with open(binary(), "rb") as file:
        return ["-m32"] if file.read(5)[4] == 1 else []


def kind():
    """Of the build under test, as tools/build names it; one from elsewhere counts as a release."""
    folder = _chosen().parent.name
    return folder.removeprefix("build-") if folder.startswith("build-") else "release"


def is_once_elsewhere(item):
    """Is a test in another kind of build only? Its mark says why."""
    mark = item.get_closest_marker("once")
    return mark is not None and kind() not in ("release", *mark.kwargs.get("and_in", ()))


def serves_in_memory():
    """Was an executable that serves in memory built beside the one under test? A build with --tests has it."""
    return _in_memory().is_file()


def binary():
    """The executable under test: MONKEY, or the one of the build tree; beside it is one that serves in memory."""
    path = _in_memory() if carriers.is_memory() else _asked() if carriers.is_asked() else _chosen()
    assert path.is_file(), f"{path} is missing: build first, or name the executable in MONKEY"
    return str(path)


def plugin(name):
    """What a Load line says for a plugin: the file built with the executable under test, or the name of a built-in one."""
    folder = _with_plugins().parent
    files = [path for path in (folder / "plugins" / f"monkey-{name}.so", folder / f"monkey-{name}.so") if path.is_file()]
    if files:
        return files[0]
    return name if name in built_in_plugins() else None


@functools.cache
def built_in_plugins():
    return re.search(r"^plugins\s+(.*)$", run("--build").stdout, re.M)[1].split()


def environment(extra=None):
    env = {**os.environ, **carriers.environment(), **(extra or {})}
    for name, value in SANITIZERS.items():
        env[name] = ":".join(filter(None, [value, os.environ.get(name)]))
    env.pop("NOTIFY_SOCKET", None)
    env.pop("LISTEN_FDS", None)
    return env


def is_sanitized():
    """Was the executable built with a sanitizer? Its library tells by the symbols it needs."""
    needed = pathlib.Path(binary()).read_bytes()
    return any(name in needed for name in (b"__asan_init", b"__tsan_init", b"__ubsan_handle"))


def run(*arguments, timeout=30, env=None, **kwargs):
    """Run the executable to its end, as for --test."""
    return subprocess.run([_with_plugins(), *map(str, arguments)], env=environment(env), timeout=timeout,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, **kwargs)
