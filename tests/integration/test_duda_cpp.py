# SPDX-License-Identifier: Apache-2.0
"""A service in C++17."""

import os
import shlex
import shutil
import subprocess

import pytest

from harness import duda, executable

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def compiler(tmp_path):
    """With its arguments for the word size of the server."""
    found = [*shlex.split(os.environ.get("CXX", "c++")), *executable.word_size()]
    probe = tmp_path / "probe.cc"
    probe.write_text("#include <map>\nint main() { return 0; }\n")
    if not shutil.which(found[0]) or subprocess.run([*found, "-o", str(tmp_path / "probe"), str(probe)], capture_output=True,
                                                    timeout=120, check=False).returncode != 0:
        pytest.skip("needs a compiler for C++")
    return found


def compile_service(folder, level=3):
    duda.plugin()  # or the test is skipped
    folder.mkdir()
    return subprocess.run([*compiler(folder), "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared",
                           f"-DDUDA_API_LEVEL={level}", f"-I{duda.HEADERS}", "-Wl,-Bsymbolic", "-o", str(folder / "cplusplus.duda"),
                           str(duda.SOURCES / "cplusplus.cc")], capture_output=True, text=True, timeout=120, check=False)


def test_a_service_in_cpp(start, tmp_path):
    done = compile_service(tmp_path / "services")
    assert done.returncode == 0, done.stderr
    server = start(**duda.config(tmp_path / "services", "cplusplus", duda={"PackagesRoot": duda.packages()}))
    for n, largest in ((b"7", b"7"), (b"3", b"7")):
        answer = server.request("/cplusplus/numbers/some", "POST", headers=FORM, body=b"n=" + n)
        assert answer.status == 201 and answer.body == largest and answer.header("X-Language") == "C++"
    assert answer.header("X-Count") == "2"
    assert server.request("/cplusplus/numbers/some", "POST", headers=FORM, body=b"n=x").status == 400
    assert server.get("/cplusplus/numbers").body == b'{"some":2}'
    assert server.request("/cplusplus/numbers/some", "DELETE").status == 204
    assert server.get("/cplusplus/numbers").body == b'{"dropped":1}'


@pytest.mark.parametrize("level", [1, 2])
def test_levels_before_are_c_alone(tmp_path, level):
    done = compile_service(tmp_path / "services", level)
    assert done.returncode != 0 and "services in C++ need DUDA_API_LEVEL 3" in done.stderr
