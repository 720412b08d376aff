# SPDX-License-Identifier: Apache-2.0
"""`--dump`: the effective settings with where each came from, as text that can be read again."""

import re

import pytest

from harness import process
from harness.config import Config

FULL = dict(
    server="""
        Listen 127.0.0.1:0
        Listen unix:/tmp/never-opened
        Workers 3
        Timeout 1500ms
        MaxRequestSize 16
        MaxBodySize 10M
        Indexfile index.html index.htm
        LogLevel debug:http,conn
        TrustedProxies 10.0.0.0/8
        CPUAffinity 0 1 0
    """,
    host="""
        ServerName example.org *.example.org
        Header X-A some value
        Header X-B see \\#5 or#6
        Header Server
        CacheControl *.css max-age=60
        TryFiles $uri $uri/ /index.html
        Precompressed on
    """,
    handlers="Match ^/echo echo\nMatch \\.x$ echo",
    error_pages="404 /404.html\n403 /403.html",
    sites={"b": "[HOST]\n    ServerName b.org\n    Redirect https://example.org/ 302\n"},
)


def dump(folder):
    result = process.run("--configdir", folder, "--dump")
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def settings(text):
    """The dump without its comments."""
    lines = [re.sub(r"\s+# .*", "", line).rstrip() for line in text.splitlines()]
    return [line for line in lines if line.strip() and not line.lstrip().startswith("#")]


def as_configuration(folder, text):
    """Make a configuration directory of a dump; `# file NAME` or `# sites/NAME` comments part it."""
    config = Config(folder)
    config.write()
    parts = re.split(r"(?m)^# ?-* ?(?:file )?\S*?(monkey\.conf|monkey\.mime|plugins\.load|sites/[\w.-]+)\b.*$", text)
    for name, part in zip(parts[1::2], parts[2::2]):
        (config.folder / name).write_text(part)
    return config.folder


def test_dump_shows_every_setting(tmp_path):
    config = Config(tmp_path)
    config.write(**FULL)
    text = dump(config.folder)
    for word in ("Listen 127.0.0.1:0", "Workers 3", "ServerName example.org *.example.org", "Header X-A some value", "Precompressed on",
                 "TryFiles $uri $uri/ /index.html", "CacheControl *.css max-age=60", "Match ^/echo echo", "404 /404.html",
                 "Redirect https://example.org/ 302", "KeepAliveTimeout 5", "SymLink off"):
        assert re.search(r"(?m)^\s+" + re.escape(word).replace(r"\ ", r"\s+"), text), f"{word} is missing in:\n{text}"


def test_dump_tells_where_a_value_came_from(tmp_path):
    config = Config(tmp_path)
    config.write(**FULL)
    text = dump(config.folder)
    assert re.search(r"(?m)Workers 3.*monkey\.conf:\d+|monkey\.conf:\d+.*\n\s+Workers 3", text), text
    assert re.search(r"(?m)KeepAliveTimeout 5.*default|default.*\n\s+KeepAliveTimeout 5", text), text


def test_dump_shows_the_command_line(tmp_path):
    config = Config(tmp_path)
    config.write()
    result = process.run("--configdir", config.folder, "--workers", 7, "--dump")
    assert re.search(r"Workers 7.*command line|command line.*\n\s+Workers 7", result.stdout), result.stdout


def test_dump_of_a_broken_configuration_fails(tmp_path):
    config = Config(tmp_path)
    config.write(server="Tiemout 5")
    assert process.run("--configdir", config.folder, "--dump").returncode != 0


@pytest.mark.parametrize("config", [{}, FULL], ids=["defaults", "full"])
def test_dump_can_be_read_again(tmp_path, config):
    """dump -> configuration -> the same dump"""
    written = Config(tmp_path / "first")
    written.write(**config)
    first = dump(written.folder)
    again = as_configuration(tmp_path / "second", first)
    assert settings(dump(again)) == settings(first)


def test_media_types_of_the_file_are_counted_and_not_repeated(tmp_path):
    config = Config(tmp_path)
    config.write()
    text = dump(config.folder)
    assert "text/css" not in text
    assert f"# 6 types as in {config.folder}/monkey.mime; monkey --dump MIMETYPES shows them" in text


def dump_of(folder, section):
    result = process.run("--configdir", folder, "--dump", section)
    return result.returncode, result.stdout, result.stderr


def test_one_section_of_all_files(tmp_path):
    config = Config(tmp_path)
    config.write(**FULL)
    code, text, _ = dump_of(config.folder, "mimetypes")
    assert code == 0 and text.startswith("# monkey.mime\n[MIMETYPES]\n") and "    css text/css\n" in text and text.count("[") == 1
    code, text, _ = dump_of(config.folder, "HOST")
    assert code == 0 and re.findall(r"(?m)^(?:\[.*|# \S*/sites/.*)$", text) == [
        f"# {config.folder}/sites/default", "[HOST]", f"# {config.folder}/sites/b", "[HOST]"]
    assert "ServerName b.org" in text and "Workers" not in text


def test_a_section_that_is_not_there(tmp_path):
    config = Config(tmp_path)
    config.write()
    assert dump_of(config.folder, "FASTCGI_SERVER") == (1, "", "monkey: there is no section [FASTCGI_SERVER] in this configuration\n")


def changed(folder, *section):
    result = process.run("--configdir", folder, "--dump", "--changed", *section)
    return result.returncode, result.stdout, result.stderr


def test_only_what_is_not_as_by_default(tmp_path):
    config = Config(tmp_path)
    config.write(**FULL)
    code, text, _ = changed(config.folder)
    assert code == 0 and "# default" not in text
    assert set(settings(text)) < set(settings(dump(config.folder)))
    assert "Workers 3" in text and "ServerName b.org" in text and "SymLink" not in text


def test_a_default_that_is_written_is_not_changed(tmp_path):
    """in whatever unit it is written"""
    config = Config(tmp_path)
    config.write(server="Timeout 15000ms\nMaxBodySize 8192K\nMaxRequestSize 32\nKeepAlive ON\nScheduler reuseport\n"
                        "KeepAliveTimeout 6\nMaxHeaders 101", host="Indexfile index.html", handlers="", error_pages="")
    code, text, _ = changed(config.folder, "SERVER")
    words = [line.split()[0] for line in settings(text)]
    assert code == 0 and {"KeepAliveTimeout", "MaxHeaders"} <= set(words)
    assert not {"Timeout", "MaxBodySize", "MaxRequestSize", "KeepAlive", "Scheduler"} & set(words), text


def test_what_is_changed_of_one_section(tmp_path):
    config = Config(tmp_path)
    config.write(**FULL)
    code, text, _ = changed(config.folder, "HOST")
    assert code == 0 and text.count("[HOST]") == 2 and "[SERVER]" not in text and "Workers" not in text
    assert changed(config.folder, "NOTHING")[0] == 1


def test_a_section_without_changes_is_not_named(tmp_path):
    config = Config(tmp_path)
    config.write()
    code, text, _ = changed(config.folder)
    assert code == 0 and "[HANDLERS]" not in text and "[ERROR_PAGES]" not in text
