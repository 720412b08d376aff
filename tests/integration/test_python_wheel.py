# SPDX-License-Identifier: Apache-2.0
"""The package as a wheel: one file, which pip installs without a compiler."""

import subprocess
import sys
import zipfile

import pytest

from harness import process, python

pytestmark = [pytest.mark.slow, pytest.mark.once("pip builds it")]


@pytest.mark.limit(300)
def test_a_wheel_has_all_of_the_package(tmp_path):
    python.skip_unless_loadable()
    python.pip("wheel", "--wheel-dir", tmp_path)
    wheel, = tmp_path.glob("monkey-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.startswith("monkey/")]
        archive.extractall(tmp_path / "site")
    sources = {f"monkey/{path.name}" for path in (process.TREE / "python" / "monkey").glob("*.py*") if path.suffix != ".pyc"}
    assert sources | {"monkey/py.typed"} == {name for name in names if not name.endswith(".so")}
    assert len([name for name in names if name.endswith(".so")]) == 1
    done = subprocess.run([sys.executable, "-m", "monkey", "--version"], env={"PYTHONPATH": str(tmp_path / "site")}, capture_output=True,
                          text=True, timeout=60, check=False)
    assert done.returncode == 0 and done.stdout.startswith("monkey "), done.stderr
    assert wheel.name.split("-")[1] == done.stdout.split()[1]
