# SPDX-License-Identifier: Apache-2.0
"""docs/duda/tutorial.md: its files make the service that it describes, and its commands print what it shows."""

import re
import subprocess

import pytest

from harness import browser, dudac, process

pytestmark = [pytest.mark.plain, pytest.mark.once("a page of the documentation")]

PAGE = (process.TREE / "docs" / "duda" / "tutorial.md").read_text()
FILES = re.findall(r"^`(\S+)`:\n\n```\w+\n(.*?)^```", PAGE, re.M | re.S)
COMMANDS = [tuple(part.split("\n", 1)) for block in re.findall(r"^```console\n(.*?)^```", PAGE, re.M | re.S)
            for part in re.split(r"^\$ ", block, flags=re.M)[1:]]


def commands(program):
    return [(line.split()[1:] if program == "dudac" else line, shown) for line, shown in COMMANDS if line.startswith(program + " ")]


def write_files(tmp_path):
    assert len(FILES) == 4
    for name, text in FILES:
        (tmp_path / name).write_text(text)


def begin(tmp_path):
    """What comes before the service runs."""
    examine, make, _, _ = commands("dudac")
    assert [examine[0], make[0]] == [["doctor"], ["new", "notes"]]
    for words, _ in (examine, make):
        done = dudac.run(tmp_path, *words)
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_service_is_written_while_it_runs(tmp_path):
    begin(tmp_path)
    watch, _ = commands("dudac")[2]
    with dudac.running(tmp_path, *watch) as run:
        write_files(tmp_path)
        run.wait_for(lambda: run.get("/notes/note").status == 200, "the service of the page is not loaded")
        asks = commands("curl")
        assert len(asks) == 4
        for command, shown in asks:
            command = command.replace("localhost:2001", f"127.0.0.1:{run.port}").replace("curl ", "curl --silent --max-time 30 ", 1)
            done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, timeout=dudac.WITHIN, check=False)
            assert (done.returncode, done.stdout) == (0, shown), done.stderr
        assert "Nothing yet." in browser.document(tmp_path, f"http://127.0.0.1:{run.port}/notes/")


@pytest.mark.skipif(process.is_sanitized(), reason="tests are linked without the sanitizer of the library")
def test_the_tests_pass(tmp_path):
    begin(tmp_path)
    write_files(tmp_path)
    words, shown = commands("dudac")[3]
    done = dudac.run(tmp_path, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith(shown) and "warning" not in done.stderr
