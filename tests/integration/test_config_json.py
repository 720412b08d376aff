# SPDX-License-Identifier: Apache-2.0
"""`--test --json`: the result for programs, by docs/test-result.schema.json."""

import json

import jsonschema
import pytest

from harness import process
from harness.config import Config
from harness.executable import AS_ROOT

SCHEMA = json.loads((process.TREE / "docs/test-result.schema.json").read_text())


def check(folder, *arguments):
    """(exit code, result)"""
    done = process.run("--configdir", folder, "--test", "--json", *arguments)
    result = json.loads(done.stdout)
    jsonschema.validate(result, SCHEMA)
    assert result["is_fine"] == (done.returncode == 0) and done.stderr == "", done
    return done.returncode, result["faults"]


@pytest.fixture
def config(tmp_path):
    config = Config(tmp_path)
    config.write()
    return config


def test_fine(config):
    assert check(config.folder) == (0, [])


def test_each_error_and_warning(config):
    config.write(server='Tiemout 5\nWorkers many', extra={"plugins/mandril/mandril.conf": "[RULES]\n    Deny_IP 10.0.0.0/8\n"})
    code, faults = check(config.folder)
    assert code == 1
    lines = (config.folder / "monkey.conf").read_text().splitlines()
    key, value = (next(i for i, line in enumerate(lines, 1) if word in line) for word in ("Tiemout", "Workers many"))
    assert [fault for fault in faults if fault["severity"] == "error"] == [
        {"severity": "error", "message": 'unknown key "Tiemout" in [SERVER]; did you mean "Timeout"?', "line": key,
         "file": str(config.folder / "monkey.conf"), "column": lines[key - 1].index("Tiemout") + 1, "text": lines[key - 1]},
        {"severity": "error", "message": 'Workers: expected a whole number from 0 to 256, got "many"', "line": value,
         "file": str(config.folder / "monkey.conf"), "column": lines[value - 1].index("many") + 1, "text": lines[value - 1]}]


def test_a_warning_alone_is_fine(config):
    config.write(extra={"plugins/mandril/mandril.conf": "[RULES]\n    Deny_IP 10.0.0.0/8\n"})
    code, faults = check(config.folder)
    assert code == 0 and [fault["severity"] for fault in faults] == ["warning"]


def test_texts_of_any_bytes(config):
    """RFC 8259 7 and 8.1: what is no UTF-8 becomes U+FFFD, and a character is not cut where texts are long."""
    for text, shown in ((b'"\\\x01\xff', '"\\\x01\ufffd'), ("x" * 255 + "ä€😀" * 200, None)):
        text = text if isinstance(text, bytes) else text.encode()
        config.write()
        with open(config.folder / "monkey.conf", "ab") as file:
            file.write(b"[SERVER]\n    Tiemout " + text + b"\n")
        code, faults = check(config.folder)
        assert code == 1
        assert any(fault["text"].endswith(shown or text.decode()) for fault in faults if "text" in fault), faults


def test_an_account_that_there_is_not(config):
    config.write(server="User nobody-of-that-name")
    code, faults = check(config.folder)
    assert code == 1 and faults[-1]["message"] == 'User: there is no account "nobody-of-that-name"' and faults[-1]["line"] > 0
    code, faults = check(config.folder, "--user", "nor-of-this-one")
    assert code == 1 and faults[-1]["file"] == "command line" and "line" not in faults[-1]


def test_a_configuration_that_is_missing(tmp_path):
    code, faults = check(tmp_path / "nowhere")
    assert code == 1 and all("nowhere" in fault["message"] for fault in faults) and "file" in faults[0]


@pytest.mark.skipif(not AS_ROOT, reason="only root becomes another user")
def test_a_folder_that_the_user_may_not_enter(config):
    config.write(server="User nobody")
    config.folder.parent.chmod(0o700)
    code, faults = check(config.folder)
    assert code == 0 and any("may not enter" in fault["message"] and fault["severity"] == "warning" for fault in faults), faults


@pytest.mark.parametrize("option, needs", [("--json", "--test or --explain"), ("--changed", "--dump")])
def test_an_option_alone_is_refused(config, option, needs):
    done = process.run("--configdir", config.folder, option)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"monkey: option {option} needs {needs}; see monkey --help\n")
