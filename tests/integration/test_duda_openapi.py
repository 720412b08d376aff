# SPDX-License-Identifier: Apache-2.0
"""Services keep to the documents that they publish: Schemathesis makes right and wrong requests from them."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

from harness import duda, dudac
from harness.executable import TREE

pytestmark = [pytest.mark.slow, pytest.mark.plain("a client that knows no other carriers"), pytest.mark.once("services that dudac builds")]

WITHIN = 240  # seconds
# Methods that the server knows: others are 501 before a service is found (RFC 9110, 9.1), where the suite expects 405.
CONFIGURATION = """
[phases.coverage]
unexpected-methods = ["GET", "PUT", "POST", "PATCH", "DELETE"]
"""


def suite():
    """What tools/deps --test installs."""
    program = pathlib.Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "monkey" / "schemathesis" / "st"
    if not program.is_file():
        pytest.skip("the suite is not there: tools/deps --test")
    return program


@pytest.fixture(params=["todo", "rest"])
def folder(request, tmp_path):
    """An example, and what `dudac new` makes."""
    for package in ("json", "sqlite"):
        duda.require_package(package)
    if request.param == "todo":
        shutil.copytree(TREE / "examples" / "duda" / "todo", tmp_path / "todo")  # it makes files there
    else:
        assert dudac.run(tmp_path, "new", "rest", "--template", "rest").returncode == 0
    return tmp_path / request.param


def test_a_service_keeps_to_its_document(folder, tmp_path):
    program = suite()
    (tmp_path / "suite.toml").write_text(CONFIGURATION)
    with dudac.running(tmp_path, "-p", "0", "-w", folder) as run:
        place = next(path for path in (f"/{folder.name}/openapi.json", f"/{folder.name}/api/openapi.json") if run.get(path).status == 200)
        ran = subprocess.run([program, "--config-file", tmp_path / "suite.toml", "run", f"http://127.0.0.1:{run.port}{place}",
                              "--checks", "all", "--max-examples", "60", "--seed", "7", "--max-redirects", "0", "--no-color"],
                             cwd=tmp_path, capture_output=True, text=True, timeout=WITHIN, check=False)
        assert ran.returncode == 0, ran.stdout[-6000:] + ran.stderr[-2000:]
        selected, tested = (int(re.search(rf"{word}: (\d+)", ran.stdout)[1]) for word in ("Selected", "Tested"))
        assert selected == tested > 2 and int(re.search(r"(\d+) generated", ran.stdout)[1]) > 100
        assert run.interrupt() == 0
