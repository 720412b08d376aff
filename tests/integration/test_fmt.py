# SPDX-License-Identifier: Apache-2.0
"""The program monkey-fmt: files in their place, and what it refuses."""

import os
import pathlib
import subprocess

import pytest

from harness import process

SHIPPED = sorted(path for folder in ("conf", "examples/sites", "examples/from-nginx") for path in (process.TREE / folder).rglob("*")
                 if (path.suffix in (".conf", ".load", ".mime") or path.parent.name == "sites") and path.is_file() and path.stem != "nginx")


def run(*arguments, **kwargs):
    tool = pathlib.Path(process.binary()).parent / "tools" / "monkey-fmt"
    if not tool.is_file():
        pytest.skip("monkey-fmt is not built here")
    return subprocess.run([tool, *arguments], capture_output=True, text=True, timeout=30, **kwargs)


def test_the_shipped_files_have_its_form():
    assert len(SHIPPED) >= 8
    done = run("--check", *SHIPPED)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_file_is_formatted_in_its_place(tmp_path):
    file, link = tmp_path / "a.conf", tmp_path / "link.conf"
    file.write_text("[A]\n  x  1\n")
    file.chmod(0o640)
    link.symlink_to(file)
    checked = run("--check", link)
    assert (checked.returncode, checked.stdout) == (1, f"{link}\n")
    assert run(link).returncode == 0
    assert file.read_text() == "[A]\n    x 1\n" and link.is_symlink()
    assert file.stat().st_mode & 0o7777 == 0o640
    inode = file.stat().st_ino
    assert run(link).returncode == 0 and file.stat().st_ino == inode  # nothing to do, nothing written
    assert sorted(os.listdir(tmp_path)) == ["a.conf", "link.conf"]


def test_standard_input_goes_to_standard_output():
    done = run(input="[A]\n x 1\n[B]\n")
    assert (done.returncode, done.stdout) == (0, "[A]\n    x 1\n\n[B]\n")


def test_what_does_not_parse_stays(tmp_path):
    good, bad = tmp_path / "good.conf", tmp_path / "bad.conf"
    good.write_text("[A]\n x 1\n")
    bad.write_text("[A]\n x 1\ny 2\n")
    done = run(bad, good)
    assert done.returncode == 2
    assert done.stderr == f"{bad}:3: error: a key that is not indented\n"
    assert bad.read_text() == "[A]\n x 1\ny 2\n" and good.read_text() == "[A]\n    x 1\n"


def test_other_errors(tmp_path):
    assert "No such file" in run(tmp_path / "none").stderr
    assert run(tmp_path).returncode == 2
    (tmp_path / "large").write_bytes(b"#" + b"\n" * (4 << 20))
    assert "File too large" in run(tmp_path / "large").stderr
    assert run("--what").returncode == 2
    assert run("--help").stdout.startswith("usage: monkey-fmt")
