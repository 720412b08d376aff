# SPDX-License-Identifier: Apache-2.0
"""tools/tidy reads what changed and nothing else, and a fault is told each time."""

import json
import os
import pathlib
import shutil
import subprocess

import pytest

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
GOOD = "int half(int number);\n\nint half(int number)\n{\n    return number / 2;\n}\n"
BAD = GOOD.replace("    return", "    if (number > 2)\n        return 1;\n    else\n        return 0;\n    return")

pytestmark = pytest.mark.skipif(not shutil.which("clang-tidy"), reason="clang-tidy is not installed")


@pytest.fixture
def tidy(tmp_path):
    """Reads source.c of the folder; gives the output and what was remembered before it and after."""
    folder = tmp_path / "src"  # whose headers are read as well
    folder.mkdir()
    command = "clang -Iprogram.p -MD -MQ x.o -MF x.d -o x.o -c source.c"
    entry = {"directory": str(folder), "command": command, "file": "source.c"}
    (tmp_path / "compile_commands.json").write_text(json.dumps([entry, {**entry, "command": command.replace("program", "other")}]))
    remembered = tmp_path / "remembered"

    def run(name="source.c"):
        result = subprocess.run([TOP / "tools/tidy", tmp_path, folder / name], env={**os.environ, "MONKEY_TIDY_CACHE": str(remembered)},
                                capture_output=True, text=True, check=False, timeout=60)
        assert (result.returncode == 0) == (result.stdout == ""), result.stderr
        return result.stdout, len(list(remembered.iterdir()))

    return run


def test_a_text_that_passed_is_remembered_once(tidy, tmp_path):
    (tmp_path / "src/source.c").write_text(GOOD)
    assert tidy() == ("", 1)
    assert tidy() == ("", 1)
    (tmp_path / "src/source.c").write_text(GOOD + "\n// another text\n")
    assert tidy() == ("", 2)


def test_a_fault_is_told_each_time(tidy, tmp_path):
    (tmp_path / "src/source.c").write_text(BAD)
    for _ in range(2):
        said, remembered = tidy()
        assert "do not use 'else' after 'return'" in said
        assert remembered == 0


def test_a_fault_of_a_header_is_told(tidy, tmp_path):
    (tmp_path / "src/source.h").write_text("#define NUMBER 1\n")
    (tmp_path / "src/source.c").write_text('#include "source.h"\n' + GOOD)
    assert tidy() == ("", 1)
    (tmp_path / "src/source.h").write_text(BAD.replace("half", "part"))
    said, _ = tidy()
    assert "do not use 'else'" in said, "the header is read anew"


def test_a_source_of_no_program_is_read_like_its_neighbour(tidy, tmp_path):
    (tmp_path / "src/other.c").write_text(BAD)
    assert "do not use 'else'" in tidy("other.c")[0]
