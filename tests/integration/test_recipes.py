# SPDX-License-Identifier: Apache-2.0
"""docs/recipes: each page is in the index, is short, and has a configuration without a fault. What they do: test_recipes_*.py."""

import re

import pytest

from harness import process, written
from harness.config import Config
from harness.recipes import Recipe

FOLDER = process.TREE / "docs" / "recipes"
PAGES = sorted(path.stem for path in FOLDER.glob("*.md") if path.stem != "README")
PLUGINS = ("tls", "http2", "rewrite", "compress", "file", "mandril", "fastcgi", "logger", "proxy_reverse", "limit", "status")

pytestmark = [
    pytest.mark.skipif(not all(process.plugin(name) for name in PLUGINS), reason="not all plugins are built"),
    pytest.mark.once("pages of the documentation"),
]


def test_the_index_has_each_page():
    index = re.findall(r"\]\(([\w-]+)\.md\)", (FOLDER / "README.md").read_text())
    assert sorted(index) == PAGES and len(PAGES) >= 9


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_short_and_has_its_parts(name):
    page = written.page(f"recipes/{name}")
    assert len(page.splitlines()) <= 100
    assert re.search(r"\A# .*\n\nGoal: ", page) and "\n## Check\n" in page and "\n## What goes wrong\n" in page


@pytest.mark.parametrize("name", PAGES)
def test_a_configuration_has_no_fault(tmp_path, name):
    """With other folders alone; nothing is bound by --test."""
    recipe = Recipe(name, tmp_path)
    for names in re.findall(r"\bkeys/([\w.]+)/cert\.pem", recipe.files["monkey.conf"]):
        recipe.certify(*re.search(rf"ServerName ({names}.*)", recipe.files["monkey.conf"])[1].split())
    config = Config(tmp_path)
    config.write(**recipe.config())
    result = process.run("--configdir", config.folder, "--test")
    output = result.stdout + result.stderr
    assert result.returncode == 0 and result.stdout.startswith("configuration is fine\n"), output
    assert "warning" not in output, output
