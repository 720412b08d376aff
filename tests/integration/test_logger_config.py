# SPDX-License-Identifier: Apache-2.0
"""Faults in the configuration of the logger, each with its place and a sentence."""

import pytest

from harness.config import Config
from harness.logs import logging
from harness.process import run


def check(folder, *arguments, **config):
    written = Config(folder)
    written.write(**logging(**config))
    done = run("--configdir", written.folder, *arguments)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("settings, sentence", [
    ("Format commun", "common, combined, json, json with names, or a format in quotes"),
    ("Format json statuss", "after json names such as timestamp, status or backend, or KEY=%VARIABLE"),
    ("LogIf statuss>=400", "got \"statuss\", did you mean status?"),
    ("LogIf status>=4x", "a status up to 599 after its sign"),
    ("LogIf status", "expected status>=400"),
    ("LogIf time>=0", "a time such as 500ms or 2s after its sign"),
    ("LogIf path>/a", "= or != after method, path and remote"),
    ("LogIf path=a", "a path or pattern such as /api/* or *.css after path="),
    ("LogIf path=^/(a", "LogIf"),
    ("LogIf remote=a.example", "an address or a network such as 10.0.0.0/8 after remote="),
    ("LogIf remote=10.0.0.1/8", "no bits behind its prefix"),
    ("LogIf remotes=10.0.0.1", "did you mean remote?"),
    ("LogIf " + "status=200 " * 9, "at most 8 conditions in a line"),
    ("LogIf status=200\n" * 33, "at most 32 lines"),
    ("Sample 100", "a part such as 1/100"),
    ("Sample 2/1", "a part such as 1/100"),
    ("Sample 1/2000000", "at most a million"),
    ("Sample 1/10 sometimes", "perhaps errors"),
    ("RotateSize 1K", "RotateSize"),
    ("RotateCount 0", "RotateCount"),
    ("RotateCount 101", "RotateCount"),
    ("RotateKeep 0", "RotateKeep"),
    ("RotateDaily weekly", "RotateDaily"),
    ("Format '%z'", "%{SSL_PROTOCOL}x %{SSL_CIPHER}x %{SSL_CLIENT_S_DN}x %{NAME}i %% after a percent sign"),
    ("Format '%{Referer i'", "}"),
    ("FlushTimeout soon", "FlushTimeout"),
    ("FlushTimeout 2h", "FlushTimeout"),
    ("Syslog perhaps", "Syslog"),
    ("MasterLogg a.log", "MasterLog"),
])
def test_a_wrong_value_has_its_place_and_a_sentence(tmp_path, settings, sentence):
    code, text = check(tmp_path, "--test", settings=settings)
    assert code == 1
    assert f"logger.conf:{1 + max(1, settings.count(chr(10)))}:" in text
    assert sentence in text


def test_a_format_of_a_site_has_its_place(tmp_path):
    code, text = check(tmp_path, "--test", log="AccessLog access.log\nFormat json statuss")
    assert code == 1
    assert "sites/default:" in text and "after json names such as timestamp" in text


def test_a_key_that_is_not_for_sites(tmp_path):
    code, text = check(tmp_path, "--test", log="MasterLog a.log")
    assert code == 1
    assert "sites/default:" in text


@pytest.mark.parametrize("site, why", [("AccessLog missing/folder/a.log", "AccessLog: there is no folder"),
                                       ("ErrorLog /proc/nothing", "cannot open the log")])
def test_a_log_that_cannot_be_opened_stops_the_start(tmp_path, site, why):
    code, text = check(tmp_path, log=site)
    assert code == 1
    assert why in text
    assert site.split()[1].rsplit("/", 1)[0] in text


def test_the_check_opens_nothing(tmp_path):
    code, text = check(tmp_path, "--test")
    assert code == 0, text
    assert not list(tmp_path.glob("**/access.log"))


def test_the_dump_shows_its_settings(tmp_path):
    code, text = check(tmp_path, "--dump", settings="Format json\nMasterLog m.log")
    assert code == 0
    for words in ("[LOGGER]", "Format json", "FlushTimeout 3", "AccessLog"):
        assert words in text
