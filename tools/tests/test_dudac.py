# SPDX-License-Identifier: Apache-2.0
"""Options of dudac and the files that it writes."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "src" / "duda"))

from dudac import makefile, options, places, run_folder, stuck  # noqa: E402


def test_defaults():
    found = options.parse(["-w", "path"])
    assert (found.path, found.port, found.level, found.is_secure) == ("path", 2001, None, False)


@pytest.mark.parametrize("words, level, warns", [
    (["-V", "2", "-w", "p"], 2, False), (["-Vdst-2", "-w", "p"], 2, False), (["-V", "dst-1", "-w", "p"], 1, False),
    (["-V", "3", "-w", "p"], 3, False), (["-w", "p", "-V", "2"], None, True)])
def test_a_level_counts_before_the_path(words, level, warns):
    found = options.parse(words)
    assert found.level == level and bool(found.warnings) == warns


def test_letters_of_2014_are_accepted():
    found = options.parse(["-g", "-AXJT", "-D", "x", "-S", "-u", "-p0", "-w", "p"])
    assert (found.does_update, found.is_secure, found.shows_output, found.port, found.path) == (True, True, True, 0, "p")


@pytest.mark.parametrize("words", [[], ["-f"], ["-w"], ["-p", "x", "-w", "p"], ["-p", "65536"], ["-V", "4"], ["-M", "x"], ["p"]])
def test_what_is_not_understood(words):
    with pytest.raises(options.Misuse):
        options.parse(words)


def test_a_comma_belongs_to_a_value_where_no_key_follows():
    assert options.pairs("A=1,2,B=x=y") == {"A": "1,2", "B": "x=y"}


@pytest.mark.parametrize("overrides, line", [
    ({"Port": "99"}, "    Listen 127.0.0.1:99\n"), ({"listen": "[::1]:0"}, "    Listen [::1]:0\n"), ({}, "    Listen 127.0.0.1:7\n"),
    ({"Listen": "80"}, "    Listen 80\n"),
    ({"MaxRequestSize": "64"}, "    MaxRequestSize 64K\n"), ({"Workers": "1"}, "    Workers 1\n"),
    ({"User": "me"}, "    User me\n")])
def test_keys_of_the_server(overrides, line):
    text = run_folder.section("SERVER", run_folder.server_lines(7, overrides, False))
    assert line in text and text.count("User ") <= 1 and text.count("Listen ") == 1


def test_a_key_of_the_site():
    overrides = {"UserDir": "public"}
    assert ("UserDir", "public") in run_folder.site_lines(pathlib.Path("/x"), overrides)
    assert "UserDir" not in str(run_folder.server_lines(7, overrides, False))


def test_a_makefile_keeps_the_variables_and_names_a_level_only_where_one_is_given():
    text = makefile.text("NAME = x\n", "/out", "/the headers")
    assert "\nNAME = x\n" in text and "DUDA_API_LEVEL" not in text and "-I/the\\ headers" in text
    assert "-DDUDA_API_LEVEL=2 " in makefile.text("", "/out", "/h", level=2)


def test_a_service_finds_the_headers_of_the_server_after_its_own():
    testing = places.Testing(pathlib.Path("/public headers"), pathlib.Path("/libmonkey.so"))
    assert "-I/h -I/public\\ headers\n" in makefile.text("", "/out", "/h", testing=testing)


def test_a_thread_that_runs_is_busy(tmp_path):
    task = tmp_path / "1"
    task.mkdir()
    for state, place, is_busy in [("R", "0", True), ("S", "ep_poll", False), ("S", "0", False), ("S", "", False),
                                  ("S", "hrtimer_nanosleep", True), ("D", "folio_wait", True), ("Z", "x", False)]:
        (task / "stat").write_text(f"1 (mk-worker-0 ) R) {state} 1 2 3 4 5 6 7 8 9 10 30 4 0")
        (task / "wchan").write_text(place)
        busy = stuck._look(task)
        assert (busy is not None) == is_busy, (state, place)
        assert not busy or busy.ticks == 34


def test_a_thread_that_waits_for_a_processor_is_not_stuck():
    before = {1: stuck.Busy(False, 5), 2: stuck.Busy(False, 5), 3: stuck.Busy(True, 5), 4: stuck.Busy(False, 5)}
    now = {1: stuck.Busy(False, 5), 2: stuck.Busy(False, 90), 3: stuck.Busy(True, 5), 5: stuck.Busy(True, 9)}
    assert stuck.stuck_workers(before, now) == [2, 3]
