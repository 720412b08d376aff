# SPDX-License-Identifier: Apache-2.0
"""The library in projects of CMake, from an installation, and of Meson, as a subproject."""

import os
import re
import shlex
import shutil
import subprocess

import pytest
from test_example_embed import running

from harness import installed, process

pytestmark = [pytest.mark.slow, pytest.mark.limit(300), pytest.mark.once("it compiles for itself")]

LIBRARIES = ["web", "websocket", "upstream", "old"]

# A call of each library, and none of the library below it: bringing that along is the package's work.
CALLS = {
    "web": '#include <monkey/web.h>\nint main(void) { mk_router_free(NULL); return 0; }\n',
    "websocket": '#include <monkey/websocket.h>\nint main(void) { mk_ws_handle_put(NULL); return 0; }\n',
    "upstream": '#include <monkey/upstream.h>\nint main(void) { mk_spool_free(NULL); return 0; }\n',
    "old": '#include <libmonkey.h>\n#include <monkey/mk_lib.h>\nint main(void) { return mk_destroy(NULL) == 0; }\n',
}


def run(*words, env=None, cwd=None):
    done = subprocess.run([str(word) for word in words], env=env, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=280, check=False)
    assert done.returncode == 0, f"{words}\n{done.stdout[-4000:]}"
    return done.stdout


def answers(env, program, folder):
    with running(env, program, folder) as ask:
        assert ask("GET", "/")[::2] == (200, b"Hello\n")


# -- CMake


@pytest.fixture(scope="module")
def installation(tmp_path_factory):
    if not shutil.which("cmake"):
        pytest.skip("cmake is not here")
    return installed.Installation(tmp_path_factory.mktemp("image"))


def project(folder, text, sources):
    folder.mkdir()
    (folder / "CMakeLists.txt").write_text(f"cmake_minimum_required(VERSION 3.12)\nproject(shop C)\n{text}")
    for name, source in sources.items():
        (folder / name).write_text(source)
    return folder


def configure(installation, folder):
    compiler, *flags = shlex.split(re.search(r"^CC=(.*)$", installation.chosen, re.M)[1])
    sanitizer = re.search(r"-Db_sanitize=(\S+)", installation.chosen)
    flags += [f"-fsanitize={sanitizer[1]}"] if sanitizer else []
    where = next(installation.image.rglob("monkeyConfig.cmake")).parent
    return subprocess.run(["cmake", "-G", "Ninja", "-S", folder, "-B", folder / "build", f"-DCMAKE_C_COMPILER={compiler}",
                           f"-DCMAKE_C_FLAGS={' '.join(flags)}", f"-Dmonkey_DIR={where}"], env=installation.env,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, check=False)


def test_cmake_builds_a_program_with_each_library(installation, tmp_path):
    hello = (process.TREE / "examples" / "embed" / "hello.c").read_text()
    text = "find_package(monkey 2.0 REQUIRED COMPONENTS web websocket upstream old)\n"
    text += "find_package(monkey 2.0 REQUIRED)\n"  # a second time, as by a library of the project
    for name in LIBRARIES:
        text += f"add_executable({name} {name}.c)\ntarget_link_libraries({name} PRIVATE monkey::{name})\n"
    text += "add_executable(hello hello.c)\ntarget_link_libraries(hello PRIVATE monkey::web)\n"
    folder = project(tmp_path / "shop", text, {**{f"{name}.c": source for name, source in CALLS.items()}, "hello.c": hello})
    done = configure(installation, folder)
    assert done.returncode == 0, done.stdout
    run("cmake", "--build", folder / "build", env=installation.env)
    for name in LIBRARIES:
        run(folder / "build" / name, env=installation.env)
    answers(installation.env, folder / "build" / "hello", tmp_path)


@pytest.mark.parametrize("words, sentence", [
    ("3.0 REQUIRED", r"compatible\s+with requested version"),
    ("2.0 REQUIRED COMPONENTS wob", "no component wob"),
])
def test_cmake_refuses_what_is_not_there(installation, tmp_path, words, sentence):
    done = configure(installation, project(tmp_path / "shop", f"find_package(monkey {words})\n", {}))
    assert done.returncode != 0
    assert re.search(sentence, done.stdout), done.stdout


# -- Meson

MESON = """
project('shop', 'c', default_options: ['warning_level=2'])
foreach name, of : {'hello': 'monkey-web', 'web': 'monkey-web', 'websocket': 'monkey-websocket', 'upstream': 'monkey-upstream',
                    'old': 'libmonkey'}
  executable(name, name + '.c', dependencies: dependency(of, fallback: 'monkey'))
endforeach
"""


@pytest.mark.parametrize("kind", ["shared", "static"])
def test_meson_builds_programs_with_a_subproject(tmp_path, kind):
    (tmp_path / "subprojects").mkdir()
    (tmp_path / "subprojects" / "monkey").symlink_to(process.TREE)
    (tmp_path / "meson.build").write_text(MESON)
    (tmp_path / "hello.c").symlink_to(process.TREE / "examples" / "embed" / "hello.c")
    for name, source in CALLS.items():
        (tmp_path / f"{name}.c").write_text(source)
    folder = tmp_path / "build"
    run("meson", "setup", folder, "--wrap-mode=forcefallback", f"-Ddefault_library={kind}", "-Doptimization=0", "-Ddebug=false", cwd=tmp_path)
    run("ninja", "-C", folder, "hello", *LIBRARIES)
    for name in LIBRARIES:
        run(folder / name)
    answers(dict(os.environ), folder / "hello", tmp_path)


LOADS = """
#include <monkey/server.h>
#include <stdio.h>

static void show(void *arg, const char *text, size_t len)
{
    (void)arg;
    fwrite(text, 1, len, stdout);
}

int main(void)
{
    struct mk_config *config;
    int err = mk_config_new(&config, NULL);

    if (err == 0)
        err = mk_config_set(config, "PLUGINS", "Load", "tls", "shop");
    if (err == 0)
        err = mk_config_set(config, "SERVER", "Listen", "127.0.0.1:0", "shop");
    if (err == 0)
        err = mk_config_set(config, "HOST", "DocumentRoot", "/", "shop");
    if (err == 0)
        err = mk_config_check(config);
    mk_config_faults(config, show, NULL);
    mk_config_free(config);
    return err != 0;
}
"""


def test_a_static_subproject_has_the_plugins_that_it_names(tmp_path):
    """Nothing refers to them by name, so a linker that takes only what is asked for would leave them out."""
    (tmp_path / "subprojects").mkdir()
    (tmp_path / "subprojects" / "monkey").symlink_to(process.TREE)
    (tmp_path / "meson.build").write_text("project('shop', 'c')\nexecutable('shop', 'shop.c', dependencies: dependency('monkey', fallback: 'monkey'))\n")
    (tmp_path / "shop.c").write_text(LOADS)
    run("meson", "setup", "build", "--wrap-mode=forcefallback", "-Ddefault_library=static", "-Dmonkey:static_plugins=tls", "-Doptimization=0",
        "-Ddebug=false", cwd=tmp_path)
    run("ninja", "-C", "build", "shop", cwd=tmp_path)
    run(tmp_path / "build" / "shop")
