# SPDX-License-Identifier: Apache-2.0
"""
Build the extension against libmonkey: that of the build tree in MONKEY_BUILD, else the installed one that pkg-config
finds, else that of build/ beside this folder. MONKEY_CFLAGS adds flags of the compiler, such as -Werror.
"""

import glob
import os
import pathlib
import shlex
import subprocess

from setuptools import Extension, setup

TREE = pathlib.Path(__file__).resolve().parent.parent
LANGUAGE = ["-std=gnu11", "-D_GNU_SOURCE", "-fvisibility=hidden", "-Wall", "-Wextra", "-Wstrict-prototypes",
            "-Wpointer-arith", "-Wformat=2", "-Wno-missing-field-initializers"]


def of_tree(build):
    """Compiler's and linker's words for the library of a build tree."""
    build = pathlib.Path(build).resolve()
    return ([f"-I{build.parent}/include", f'-DMK_PY_PLUGIN_DIR="{build}/plugins"'], [f"-L{build}", "-lmonkey", f"-Wl,-rpath,{build}"])


def pkg_config(*words):
    done = subprocess.run(["pkg-config", *words, "monkey"], capture_output=True, text=True, check=False)
    return shlex.split(done.stdout) if done.returncode == 0 else None


def of_installation():
    """The same for an installed one; None: there is none. A library outside the system's folders is found by its path."""
    try:
        compiler, linker = pkg_config("--cflags"), pkg_config("--libs")
    except OSError:
        return None
    if compiler is None or linker is None:
        return None
    staged = os.environ.get("PKG_CONFIG_SYSROOT_DIR", "").rstrip("/")  # of a package that is being built
    folder = (pkg_config("--variable=libdir") or [""])[0].removeprefix(staged)
    return compiler, linker + ([] if folder.startswith(("/usr/lib", "/lib")) else [f"-Wl,-rpath,{folder}"])


def library():
    if "MONKEY_BUILD" in os.environ:
        return of_tree(os.environ["MONKEY_BUILD"])
    found = of_installation()
    if not found and (TREE / "build" / "libmonkey.so").exists():
        found = of_tree(TREE / "build")
    if not found:
        raise SystemExit("libmonkey is not there: install Monkey, or set MONKEY_BUILD to its build directory")
    return found


os.chdir(pathlib.Path(__file__).resolve().parent)
compiler_words, linker_words = library()
setup(ext_modules=[Extension(
    "monkey._monkey", sorted(glob.glob("src/*.c")), depends=sorted(glob.glob("src/*.h")),
    extra_compile_args=LANGUAGE + compiler_words + shlex.split(os.environ.get("MONKEY_CFLAGS", "")),
    extra_link_args=linker_words)])
