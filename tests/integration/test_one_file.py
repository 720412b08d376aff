# SPDX-License-Identifier: Apache-2.0
"""One file is enough: monkey.conf with sites and sections of plugins, which load by themselves."""

import pathlib
import re
import shutil
import subprocess

import pytest

from harness import plugins, process
from harness.config import RIGHTS, Config, section, write_files

SERVER = section("SERVER", "Listen 127.0.0.1:0\nErrorLog stderr\nWorkers 2")
USERS = "ada:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=\n"  # secret


def needs(*names):
    missing = [name for name in names if not process.plugin(name)]
    return pytest.mark.skipif(bool(missing), reason=f"this build has no plugin {', '.join(missing)}")


def one_file(text, **files):
    """The whole configuration in monkey.conf. Relative paths begin at its folder."""
    return {"extra": {"monkey.conf": text, "sites/default": None, **files}}


@pytest.fixture
def check(tmp_path):
    """check(text, ...) -> (exit code, what --test says) of a configuration in one file."""
    def of(text, *options, **files):
        written = Config(tmp_path)
        written.write(**one_file(text, **files))
        result = process.run("--configdir", written.folder, *(options or ["--test"]))
        return result.returncode, result.stdout + result.stderr
    return of


@pytest.fixture
def serve(start):
    """serve(text, ...): a server with this monkey.conf alone."""
    def of(text, files=None, **more):
        return start(files=files, **one_file(text, **more))
    return of


def site(name, root="../root", more=""):
    return f"[HOST]\n    ServerName {name}\n    DocumentRoot {root}\n{more}"


# ---- sites ----

def test_each_host_begins_a_site(serve):
    server = serve(SERVER + site("a.test", "../root/a") + "[ERROR_PAGES]\n    404 /lost.html\n" + site("b.test", "../root/b"),
                   {"a/x": "of a", "a/lost.html": "lost in a", "b/x": "of b"})
    for host, path, body in (("a.test", "/x", "of a"), ("b.test", "/x", "of b"), ("c.test", "/x", "of a"), ("a.test", "/y", "lost in a")):
        assert server.get(path, headers={"Host": host}).text == body
    assert server.get("/y", headers={"Host": "b.test"}).text != "lost in a"


def test_a_section_of_the_server_ends_a_site(check):
    """As with files of sites that are included in front of it."""
    code, output = check(site("a.test") + SERVER + "[ERROR_PAGES]\n    404 /x\n")
    assert code == 1 and "unknown section [ERROR_PAGES]: it belongs in a site, below its [HOST]" in output


def test_sites_may_be_included(serve):
    server = serve(SERVER + "@INCLUDE of/*.conf\n", {"a/x": "of a", "b/x": "of b"},
                   **{"of/1.conf": site("a.test", "../root/a"), "of/2.conf": site("b.test", "../root/b")})
    assert server.get("/x", headers={"Host": "b.test"}).text == "of b"
    assert server.get("/x", headers={"Host": "c.test"}).text == "of a"


def test_the_folder_of_sites_goes_on_working_beside(start):
    root = "../root"
    server = start(files={"a/x": "of a", "b/x": "of b", "d/x": "of the default site"}, sites={"b": site("b.test", f"{root}/b")},
                   extra={"monkey.conf": SERVER + site("a.test", f"{root}/a"), "sites/default": f"[HOST]\n    DocumentRoot {root}/d\n"})
    for host, body in (("a.test", "of a"), ("b.test", "of b"), ("c.test", "of the default site")):
        assert server.get("/x", headers={"Host": host}).text == body


def test_without_a_site_both_places_are_named(check):
    code, output = check(SERVER)
    assert code == 1 and re.search(r"cannot read the sites directory \S+/sites: .*; a site may also be a \[HOST\] in monkey\.conf", output)


def test_a_name_of_two_sites_is_reported_with_both_lines(check):
    code, output = check(SERVER + site("a.test") + site("A.test"))
    assert code == 1
    assert re.search(r'monkey\.conf:(6|9):16: error: ServerName: "a\.test" also belongs to \S+/monkey\.conf:(9|6)\n', output), output


def test_types_and_plugins_may_be_in_it(serve):
    """It has precedence over monkey.mime, and without that file over what is built in."""
    for mime in ("[MIMETYPES]\n    txt text/plain\n    css text/css\n", None):
        server = serve(SERVER + section("MIMETYPES", "txt text/x-own") + site("a.test"), {"x.txt": "text", "x.css": "css"}, **{"monkey.mime": mime})
        types = [server.get(path).header("Content-Type") for path in ("/x.txt", "/x.css")]
        assert types == ["text/x-own; charset=utf-8", "text/css; charset=utf-8"]


# ---- what is for all sites ----

@needs("auth")
def test_a_section_of_sites_above_them_is_for_all(serve):
    own = section("AUTH", "Location /own\nTitle own\nUsers users")
    server = serve(SERVER + section("AUTH", "Location /admin\nTitle all\nUsers users") + site("a.test") + site("b.test", more=own),
                   {"admin/x": "secret", "own/x": "own"}, users=USERS)
    for host, path, realm in (("a.test", "/admin/x", "all"), ("b.test", "/admin/x", "all"), ("b.test", "/own/x", "own"), ("a.test", "/own/x", None)):
        reply = server.get(path, headers={"Host": host})
        assert (reply.status, reply.header("WWW-Authenticate")) == ((401, f'Basic realm="{realm}", charset="UTF-8"') if realm else (200, None))


@needs("rewrite", "dirlisting")
def test_keys_of_a_site_have_precedence(serve):
    """Repeated keys as a whole, as between a plugin's files and a site."""
    server = serve(SERVER + section("REWRITE", "Redirect /a /all") + section("DIRLISTING", "Listing on")
                   + site("a.test") + site("b.test", more=section("REWRITE", "Redirect /b /own") + section("DIRLISTING", "Listing off")),
                   {"sub/x": "x"})

    def led(host, path):
        return server.get(path, headers={"Host": host}).header("Location")

    assert [led("a.test", "/a"), led("a.test", "/b"), led("b.test", "/a"), led("b.test", "/b")] == ["/all", None, None, "/own"]
    assert [server.get("/sub/", headers={"Host": host}).status for host in ("a.test", "b.test")] == [200, 403]


@needs("logger")
def test_a_section_may_have_keys_of_both_kinds(serve, tmp_path):
    """[LOGGER] has some for the plugin and others for sites."""
    server = serve(SERVER + section("LOGGER", f"FlushTimeout 1\nFormat '%U of %{{Host}}i'\nAccessLog {tmp_path}/all.log")
                   + site("a.test") + site("b.test", more=section("LOGGER", f"AccessLog {tmp_path}/b.log")), {"x": "x"})
    for host in ("a.test", "b.test"):
        server.get("/x", headers={"Host": host})
    server.stop()
    assert (tmp_path / "all.log").read_text() == "/x of a.test\n"
    assert (tmp_path / "b.log").read_text() == "/x of b.test\n"


@needs("limit")
def test_a_fault_for_all_sites_is_reported_once(check):
    code, output = check(SERVER + section("LIMIT", "Rate pages address never\nRte x") + site("a.test") + site("b.test"))
    assert code == 1 and output.count("error:") == 2, output
    assert re.search(r"monkey\.conf:6:\d+: error: Rate: .*\n(.*\n)*.*monkey\.conf:7:5: error: unknown key \"Rte\" in \[LIMIT\]; did you mean \"Rate\"", output)


# ---- what loads a plugin ----

NAMED = [
    ("auth", SERVER + site("a.test", more="[AUTH]\n    Location /x\n    Users users\n"), 8, "[AUTH]"),
    ("compress", SERVER + "[COMPRESS]\n" + site("a.test"), 5, "[COMPRESS]"),
    ("file", SERVER + site("a.test", more="[HANDLERS]\n    Match ^/x file\n"), 9, "Match ^/x file"),
    ("file", SERVER + site("a.test", more="    Handler file\n"), 8, "Handler file"),
    ("file", SERVER + site("a.test", more="[LOCATION]\n    Path /x\n    Handler file\n"), 10, "Handler file"),
    ("mandril", SERVER + site("a.test", more="    Deny 192.0.2.0/24\n"), 8, "Deny 192.0.2.0/24"),
    ("logger", SERVER + site("a.test", more="[LOCATION]\n    Path /x\n    AccessLog off\n"), 10, "AccessLog off"),
    ("http2", "[SERVER]\n    Listen 127.0.0.1:0 h2\n" + site("a.test"), 2, "Listen 127.0.0.1:0 h2"),
    ("tls", SERVER + section("PROXY_ENTRY", "Match ^/\nServerList 127.0.0.1:1\nTransport tls") + site("a.test"), 8, "Transport tls"),
]


@pytest.mark.parametrize("plugin, text, line, written", [pytest.param(*row, id=f"{row[0]} by {row[3]}") for row in NAMED])
def test_what_names_a_plugin_loads_it(check, plugin, text, line, written):
    if not process.plugin(plugin) or not process.plugin("proxy_reverse"):
        pytest.skip("this build has no such plugin")
    for option in ("--test", "--dump"):
        code, output = check(text, option, users=USERS)
        assert code == 0, output
        assert re.search(rf"(?m)^\[PLUGINS\]\n(    .*\n)*    # \S+/monkey\.conf:{line}: {re.escape(written)}\n    Load {plugin}\n", output), output


@pytest.mark.parametrize("plugin", ["tls", "mbedtls"])
def test_a_transport_decides_whose_section_it_is(check, plugin):
    """[TLS] is of two plugins: of that which a line names, otherwise of the usual one."""
    if not process.plugin(plugin) or not process.plugin("tls"):
        pytest.skip("this build has no such plugin")
    code, output = check(f"[SERVER]\n    Listen 127.0.0.1:0 {plugin}\n[TLS]\n" + site("a.test"))
    assert code == 1 and "needs the plugin" not in output
    _, output = check(SERVER + "[TLS]\n" + site("a.test"))
    assert "    Load tls\n" in output and "mbedtls" not in output


@needs("compress", "rewrite", "auth")
def test_plugins_are_asked_in_the_order_in_which_they_are_named(check):
    text = SERVER + site("a.test", more="[REWRITE]\n    Redirect /a /b\n[COMPRESS]\n[AUTH]\n    Location /x\n    Users users\n")
    assert re.findall(r"    Load (\w+)", check(text, users=USERS)[1]) == ["rewrite", "compress", "auth"]
    first = SERVER + section("PLUGINS", "Load auth")
    assert re.findall(r"    Load (\w+)", check(text.replace(SERVER, first), users=USERS)[1]) == ["auth", "rewrite", "compress"]


@needs("auth")
def test_sections_in_files_of_sites_load_too(start):
    server = start(site=section("AUTH", "Location /x\nUsers users"), files={"x/a": "x"}, extra={"users": USERS})
    assert server.get("/x/a").status == 401


# ---- what is wrong ----

WRONG = [
    ("misspelt", "[COMPRES]\n", "5:1", r"unknown section \[COMPRES\]; did you mean \[COMPRESS\]\?"),
    ("misspelt, of the server", "[SERVR]\n", "5:1", r"unknown section \[SERVR\]; did you mean \[SERVER\]\?"),
    ("misspelt, of a site", "[HOTS]\n", "5:1", r"unknown section \[HOTS\]; did you mean \[HOST\]\?"),
    ("nobody's", "[FROBNICATE]\n", "5:1", r"unknown section \[FROBNICATE\]\n"),
    ("misspelt handler", site("b.test", more="[HANDLERS]\n    Match ^/x fil\n"), "9:11", 
     r'Match: "fil" needs .*(; did you mean "file"\?|, because this server is linked statically)'),
    ("of other servers", "[VIRTUALHOST]\n", "5:1", r"unknown section \[VIRTUALHOST\]: a site is a \[HOST\]"),
]


@pytest.mark.parametrize("text, place, sentence", [pytest.param(*row[1:], id=row[0]) for row in WRONG])
def test_a_wrong_section_above_the_sites_has_its_place(check, text, place, sentence):
    code, output = check(SERVER + text + site("a.test"))
    assert code == 1 and re.search(rf"monkey\.conf:{place}: error: {sentence}", output), output
    assert output.count("error:") == 1, output


@needs("fastcgi")
def test_a_section_for_all_sites_within_one_is_told_where_it_belongs(check):
    code, output = check(SERVER + site("a.test", more=section("FASTCGI_SERVER", "ServerName a\nServerAddr 127.0.0.1:1")))
    assert code == 1 and re.search(r"monkey\.conf:8:1: error: \[FASTCGI_SERVER\] is for all sites: it belongs above the first \[HOST\] "
                                   r"of monkey\.conf, or in plugins/fastcgi/\n", output), output


@needs("compress", "fastcgi")
def test_a_section_in_both_places_is_an_error_that_names_both(check):
    code, output = check(SERVER + section("COMPRESS", "MinSize 1K") + site("a.test"),
                         **{"plugins/compress/old.conf": "# old\n[COMPRESS]\n    MinSize 2K\n"})
    assert code == 1 and output.count("error:") == 1, output
    assert re.search(r"monkey\.conf:5:1: error: \[COMPRESS\] is in \S+/plugins/compress/old\.conf:2 too; keep one\n", output), output


@needs("compress", "fastcgi")
def test_other_sections_of_a_plugin_may_be_in_its_files(check):
    """An empty section, as in files of an older installation, says nothing; repeated ones of monkey.conf are of one place."""
    servers = "".join(section("FASTCGI_SERVER", f"ServerName {name}\nServerAddr 127.0.0.1:1") for name in "ab")
    code, output = check(SERVER + section("COMPRESS", "MinSize 1K") + servers + site("a.test"),
                         **{"plugins/compress/old.conf": "[COMPRESS]\n    # MinSize 2K\n",
                            "plugins/fastcgi/old.conf": section("FASTCGI_LOCATION", "LocationName /x\nServerNames a b\nMatch ^/x")})
    assert code == 0, output


@pytest.fixture
def installed(tmp_path):
    """installed(files, text) -> (exit code, what --test says) of a server that has these plugins alone, as files or names."""
    def of(files, text, **more):
        home = tmp_path / "installed"
        (home / "plugins").mkdir(parents=True, exist_ok=True)
        (home / "build.ninja").touch()  # by which the executable knows that its plugins are beside it
        shutil.copy(process.binary(), home / "monkey")
        for file in files:
            shutil.copy(file, home / "plugins")
        written = Config(tmp_path)
        written.write(**one_file(text, **more))
        env = process.environment({"LD_LIBRARY_PATH": str(pathlib.Path(process.binary()).parent)})
        done = subprocess.run([home / "monkey", "--configdir", written.folder, "--test"], capture_output=True, text=True, env=env,
                              timeout=60, check=False)
        return done.returncode, done.stdout + done.stderr
    return of


def built(name):
    """The file of a plugin of the build; a server that is linked statically has none."""
    found = pathlib.Path(process.binary()).parent / "plugins" / f"monkey-{name}.so"
    if not found.is_file():
        pytest.skip(f"this build has no monkey-{name}.so")
    return found


def test_what_is_not_installed_is_an_error_with_its_file(installed):
    built("trace")
    text = SERVER + "    Listen 127.0.0.1:0 h2\n[TRACE]\n[PROXY_ENTRY]\n" + site("a.test", more="    Deny all\n[HANDLERS]\n    Match ^/x cgi\n[JWT]\n")
    code, output = installed([], text)
    assert code == 1
    missing = r'cannot load "\S+/installed/plugins/monkey-{}\.so": No such file or directory'
    for place, sentence, plugin in ((r"monkey\.conf:5:12", r'Listen: the flag "h2" needs the plugin http2: ', "http2"),
                                    (r"monkey\.conf:6:1", r'\[TRACE\] needs the plugin "trace": ', "trace"),
                                    (r"monkey\.conf:7:1", r'\[PROXY_ENTRY\] needs the plugin "proxy_reverse": ', "proxy_reverse"),
                                    (r"monkey\.conf:13:11", r'Match: "cgi" needs the plugin of that name: ', "cgi"),
                                    (r"monkey\.conf:14:1", r'\[JWT\] needs the plugin "jwt": ', "jwt")):
        assert re.search(f"{place}: error: {sentence}{missing.format(plugin)}", output), output
    assert 'monkey.conf:11:5: error: unknown key "Deny" in [HOST]: it needs the plugin "mandril", which is not loaded' in output
    assert output.count("error:") == 6, output


def test_a_section_of_two_plugins_is_of_the_one_that_is_installed(installed):
    code, output = installed([built("mbedtls")], SERVER + "[TLS]\n" + site("a.test"))
    assert code == 0 and "    Load mbedtls\n" in output, output


def test_a_plugin_of_other_origin_loads_by_a_section_of_its_name(installed):
    code, output = installed([plugins.path("old")], SERVER + "[OLD]\n    Times 3\n" + site("a.test"))
    assert code == 0 and re.search(r"monkey\.conf:5: \[OLD\]\n    Load old\n", output), output


def test_a_file_with_another_plugin_is_not_what_was_named(installed, tmp_path):
    shutil.copy(plugins.path("old"), tmp_path / "monkey-older.so")
    code, output = installed([tmp_path / "monkey-older.so"], SERVER + "[OLDER]\n" + site("a.test"))
    assert code == 1 and "unknown section [OLDER]" in output and "Load" not in output, output


# ---- reload ----

@needs("auth", "compress")
def test_a_reload_changes_sites_and_refuses_another_plugin(serve):
    text = SERVER + "[COMPRESS]\n" + site("a.test", "../root/a")
    server = serve(text, {"a/x": "of a", "b/x": "of b"}, users=USERS)

    def reload(changed, expect):
        write_files(server.conf, {"monkey.conf": changed + section("SERVER", "\n".join(f"{key} {who}" for key, who in RIGHTS.items()))})
        return server.reload(expect=expect)

    assert server.get("/x", headers={"Host": "b.test"}).text == "of a"
    reload(text + site("b.test", "../root/b"), "configuration reloaded")
    assert server.get("/x", headers={"Host": "b.test"}).text == "of b"
    log = reload(text + section("AUTH", "Location /\nUsers users"), "configuration")
    assert '[AUTH] needs the plugin "auth": the running server has not loaded it, and that needs a restart' in log.replace('\\"', '"'), log
    assert server.get("/x", headers={"Host": "b.test"}).text == "of b"
    reload(text.replace("[COMPRESS]\n", ""), "configuration reloaded")
    assert server.get("/x").status == 200


# ---- dump ----

@needs("auth", "compress", "limit", "logger")
def test_a_dump_is_one_file(check):
    """And so it reads back whole, plugins in the same order."""
    _, first = check(SERVER + section("COMPRESS", "MinSize 1K") + section("LIMIT", "Rate pages address 10/s") + section("LOGGER", "FlushTimeout 2")
                     + site("a.test", more=section("AUTH", "Location /x\nUsers users")) + site("b.test", more=section("LIMIT", "DryRun on")),
                     "--dump", users=USERS)
    _, again = check(first, "--dump", users=USERS)

    def settings(text):
        return [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]

    assert settings(again) == settings(first)
    assert len([line for line in settings(first) if line == "[HOST]"]) == 2
