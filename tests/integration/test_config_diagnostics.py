# SPDX-License-Identifier: Apache-2.0
"""`--test`: every fault of every file in one run, each with its place, its line and what was expected."""

import re

import pytest

from harness import executable, process
from harness.config import Config, section


@pytest.fixture
def check(tmp_path):
    """check(...) writes a configuration, runs --test and returns (exit code, output)."""
    def check(**config):
        written = Config(tmp_path)
        written.write(**config)
        result = process.run("--configdir", written.folder, "--test")
        return result.returncode, result.stdout + result.stderr
    return check


def test_good_configuration_passes(check):
    code, _ = check(host="Header X-A b", handlers="Match ^/echo echo", error_pages="404 404.html")
    assert code == 0


FAULTS = [
    ("misspelt key", {"server": "Tiemout 5"}, "monkey.conf", r"Tiemout.*Timeout"),
    ("unknown key", {"server": "Frobnicate 5"}, "monkey.conf", r"Frobnicate"),
    ("not a boolean", {"server": "KeepAlive maybe"}, "monkey.conf", r"KeepAlive.*maybe|maybe"),
    ("not a number", {"server": "Workers many"}, "monkey.conf", r"Workers"),
    ("not a time", {"server": "Timeout 5 parsecs"}, "monkey.conf", r"Timeout"),
    ("not a size", {"server": "MaxBodySize huge"}, "monkey.conf", r"MaxBodySize"),
    ("negative", {"server": "MaxHeaders -1"}, "monkey.conf", r"MaxHeaders"),
    ("above the range", {"server": "Workers 100000"}, "monkey.conf", r"Workers.*256|256"),
    ("not a name of the list", {"server": "Scheduler Unfair"}, "monkey.conf", r"Fair.*ReusePort"),
    ("key twice", {"server": "Timeout 5\nTimeout 6"}, "monkey.conf", r"Timeout"),
    ("unknown section", {"extra": {"monkey.conf": "[SERVRE]\n    Workers 1\n"}}, "monkey.conf", r"SERVRE.*SERVER"),
    ("section not closed", {"extra": {"monkey.conf": "[SERVER\n    Workers 1\n"}}, "monkey.conf", r"\]"),
    ("key outside a section", {"extra": {"monkey.conf": "    Workers 1\n"}}, "monkey.conf", r"section"),
    ("other indentation", {"extra": {"monkey.conf": "[SERVER]\n    Workers 1\n  Timeout 5\n"}}, "monkey.conf", r"indent"),
    ("key without value", {"server": "Timeout"}, "monkey.conf", r"Timeout"),
    ("key of [HOST]", {"host": "DocumentRot /"}, "sites/default", r"DocumentRot.*DocumentRoot"),
    ("document root missing", {"host": "DocumentRoot /no/such/dir"}, "sites/default", r"/no/such/dir"),
    *((f"UserDir {value}", {"server": f"UserDir {value}"}, "monkey.conf", "UserDir.*within a home")
      for value in ("/srv/www", "../public", "a/../../b", ".", "a//b")),
    ("not a CPU", {"server": "CPUAffinity 0 x"}, "monkey.conf", r"CPUAffinity.*\"x\""),
    ("not a host name", {"host": "ServerName a.*.b"}, "sites/default", r"ServerName.*a\.\*\.b"),
    ("not a status", {"error_pages": "99 x.html"}, "sites/default", r"99"),
    ("not a redirect status", {"host": "Redirect / 200"}, "sites/default", r"200|301"),
    ("unknown plugin", {"handlers": "Match x nosuchplugin"}, "sites/default", r"nosuchplugin"),
    ("a path for a plugin", {"handlers": "Match x ../plugins/cgi"}, "sites/default", r"\.\./plugins/cgi.*there is no such plugin"),
    ("not a pattern", {"handlers": "Match [ echo"}, "sites/default", r"Match"),
    ("fault in a further site", {"sites": {"other": "[HOST]\n    Nope 1\n"}}, "sites/other", r"Nope"),
    ("not a type", {"extra": {"monkey.mime": "[MIMETYPES]\n    html nonsense\n"}}, "monkey.mime", r"nonsense"),
    ("plugin to load", {"extra": {"plugins.load": "[PLUGINS]\n    Load /no/such/plugin.so\n"}}, "plugins.load", r"/no/such/plugin.so"),
    ("include of nothing", {"extra": {"monkey.conf": "@INCLUDE nowhere.conf\n[SERVER]\n    Workers 1\n"}}, "monkey.conf", r"nowhere.conf"),
    *((f"Path {path}", {"extra": {"sites/default": f"[HOST]\n    DocumentRoot /tmp\n[LOCATION]\n    Path {path}\n"}},
       "sites/default", fault)
      for path, fault in (("/downloads/*", r"for a pattern write Match"), ("^/x", "for a pattern write Match"),
                          ("/(a|b)", r"a regular expression begins with"))),
    ("control byte", {"server": "PidFile /tmp/\x01"}, "monkey.conf", r""),
]


@pytest.mark.parametrize("config, file, hint", [pytest.param(*rest, id=name) for name, *rest in FAULTS])
def test_fault_has_place_and_hint(check, config, file, hint):
    code, output = check(**config)
    assert code == 1
    lines = [line for line in output.splitlines() if re.search(rf"{re.escape(file)}:\d+:\d+: ", line)]
    assert lines, output
    assert any(re.search(hint, line, re.I) for line in lines), output


def test_place_is_right(check):
    text = "[SERVER]\n    Workers 1\n    # a comment\n    Tiemout 15\n"
    _, output = check(extra={"monkey.conf": text})
    assert re.search(r"monkey\.conf:4:5: ", output), output
    assert "    Tiemout 15" in output


def test_place_of_a_document_root_is_its_line(check):
    text = "[HOST]\n    ServerName a.b\n[ERROR_PAGES]\n    404 x\n[HOST]\n    DocumentRoot /no/such/dir\n"
    _, output = check(sites={"other": text})
    assert re.search(r"sites/other:6:18: error: DocumentRoot: /no/such/dir: ", output), output


def test_a_name_of_two_sites_is_told_with_both(check):
    site = "[HOST]\n    DocumentRoot /\n    ServerName {}\n"
    _, output = check(sites={"one": site.format("a.b *.c"), "two": site.format("x *.C A.B")})
    for name in ("a.b", ".c"):
        told = re.search(rf'sites/(one|two):3:16: error: ServerName: "{re.escape(name)}" also belongs to \S+/sites/(one|two)', output)
        assert told and told[1] != told[2], output


def test_place_counts_crlf_lines(check):
    text = "[SERVER]\r\n    Workers 1\r\n    Tiemout 15\r\n"
    _, output = check(extra={"monkey.conf": text})
    assert re.search(r"monkey\.conf:3:5: ", output), output


def test_place_of_a_fault_in_an_included_file(check):
    code, output = check(extra={"monkey.conf": "@INCLUDE more/*.conf\n", "more/a.conf": "[SERVER]\n    Oops 1\n"})
    assert code == 1
    assert re.search(r"more/a\.conf:2:5: ", output), output


def test_include_cycle_is_a_fault(check):
    code, output = check(extra={"monkey.conf": "@INCLUDE a.conf\n", "a.conf": "@INCLUDE monkey.conf\n"})
    assert code == 1
    assert re.search(r"(monkey|a)\.conf:1:", output), output


def test_all_faults_of_all_files_in_one_run(check):
    code, output = check(
        server="Tiemout 5\nWorkers many\nKeepAlive maybe", host="DocumentRot /x\nRedirect / 999", handlers="Match x nosuchplugin",
        sites={"a": "[HOST]\n    Nope 1\n", "b": "[HSOT]\n    ServerName b\n"}, extra={"monkey.mime": "[MIMETYPES]\n    html nonsense\n"})
    assert code == 1
    for word in ("Tiemout", "Workers", "KeepAlive", "DocumentRot", "Redirect", "nosuchplugin", "Nope", "HSOT", "nonsense"):
        assert word in output, f"{word} is missing in:\n{output}"


def test_faults_keep_the_server_from_starting(start):
    server = start(server="Tiemout 5\nKeepAlive maybe", wait=False)
    assert server.expect_exit() != 0
    assert "Tiemout" in server.log() and "maybe" in server.log()
    assert "listening" not in server.log()


def test_bytes_of_a_line_are_shown_escaped(check):
    """A configuration that somebody else wrote must not speak to the terminal."""
    _, output = check(server="ErrorLog stderr\nTiemout \x1b[31mred")
    assert "\x1b" not in output


def test_names_are_known_in_any_case_and_blanks_are_trimmed(check):
    text = "[server]\n\tworkers 1   \n\tKEEPALIVE Yes\t\n\tlisten 127.0.0.1:0\n"
    code, output = check(extra={"monkey.conf": text})
    assert code == 0, output


@pytest.mark.parametrize("value", ["on", "off", "yes", "no", "true", "false", "ON", "No", "True"])
def test_booleans(check, value):
    assert check(server=f"KeepAlive {value}")[0] == 0


@pytest.mark.parametrize("value", ["15", "500ms", "15s", "2m", "1h", "1d"])
def test_times(check, value):
    assert check(server=f"Timeout {value}")[0] == 0


@pytest.mark.parametrize("value", ["100000", "64K", "8M", "1G", "0"])
def test_sizes(check, value):
    assert check(server=f"MaxBodySize {value}")[0] == 0


def test_missing_default_site_is_a_fault(check, tmp_path):
    written = Config(tmp_path)
    written.write()
    (written.folder / "sites" / "default").unlink()
    result = process.run("--configdir", written.folder, "--test")
    assert result.returncode == 1
    assert "default" in result.stdout + result.stderr


def test_missing_directory_is_a_fault(tmp_path):
    result = process.run("--configdir", tmp_path / "nowhere", "--test")
    assert result.returncode == 1
    assert "nowhere" in result.stdout + result.stderr


# -- what looks right, and cannot work

SPA = "[HOST]\n    ServerName spa.test\n    DocumentRoot /\n"
SENTENCES = [
    # id, what is written, the place, level, the sentence
    ("comment behind a value", {"host": "ServerName spa.test # the spa"}, "sites/default:3:25", "error",
     r"a comment needs a line of its own; write \\# for a # that belongs to the value"),
    ("comment behind a path", {"host": "DocumentRoot /tmp # here"}, "sites/default:2:23", "error", r"a comment needs a line of its own"),
    ("comment behind a number", {"server": "Timeout 5 # short"}, "monkey.conf:*:15", "error", r"a comment needs a line of its own"),
    ("comment behind a field", {"host": "Header X-Content-Type-Options nosniff #safe"}, "sites/default:3:43", "error",
     r"a comment needs a line of its own"),
    *((f"unknown variable in a field {name}", {"host": f"Header X-Host the {name} of $host"}, "sites/default:3:12", "error",
       rf'Header: unknown variable "{re.escape(name[:2] if name[1] == "{" else name)}"; {more}')
      for name, more in (("$hosts", r'did you mean "\$host"\?'), ("$Host", r'did you mean "\$host"\?'),
                         ("${host", r"monkey\.conf\(5\) lists those there are"), ("$http_user_agent", r"monkey\.conf\(5\) lists"))),
    ("variable in a field of TLS", {"host": "Header Strict-Transport-Security max-age=5;x=$host"}, "sites/default:3:12", "error",
     r'Header: "\$host" would be sent unchanged: this field is the same in all answers'),
    ("variable of Apache in a field", {"host": "Header X-Host %{HTTP_HOST}e"}, "sites/default:3:12", "error",
     r'Header: "%\{" would be sent unchanged: monkey.conf'),
    *((f"name {name}", {"host": f"ServerName a.test {name}"}, "sites/default:3:16", "error",
       rf'ServerName: "{re.escape(name)}" is neither a name nor \*\.name; {more}')
      for name, more in (("https://b.test", "it has no scheme, port or path"), ("b.test:443", "it has no scheme, port or path"),
                         ("b.test,", "it has no scheme, port or path"), ("b.test.", "it has no dot at its end"),
                         ("~^www", "an expression is none"),
                         ("_", "the default site answers all other names"), (".b.test", r"\.a\.test is written a\.test \*\.a\.test"))),
    ("name in UTF-8", {"host": "ServerName bücher.example"}, "sites/default:3:16", "error",
     r"write it as clients send it, such as xn--bcher-kva\.example"),
    ("variables in a redirect", {"host": "Redirect https://$remote_addr/"}, "sites/default:3:14", "error",
     r'Redirect: expected a path, or a URL whose host has no variables but \$host, \$http_host and \$server_port, got'),
    ("redirect without a scheme", {"host": "Redirect a.test"}, "sites/default:3:14", "error",
     r'Redirect: expected a URL and perhaps a status, such as https://example\.org/ 308, got "a\.test"'),
    ("error page elsewhere", {"error_pages": "404 https://x/"}, "sites/default:4:9", "error",
     r'404: expected a file below the document root, such as /404\.html, got "https://x/"'),
    ("error page that is not there", {"error_pages": "404 /not-there.html"}, "sites/default:4:9", "warning",
     r"404: there is no file \S+/root/not-there\.html; the built-in page is sent instead"),
    ("site without a name", {"sites": {"lost": "[HOST]\n    DocumentRoot /\n"}}, "sites/lost:1:1", "warning",
     r"no request reaches this site: \[HOST\] has no ServerName"),
    ("site without anything", {"sites": {"lost": "# to do\n"}}, "sites/lost", "error", r"\[HOST\] needs a DocumentRoot"),
    ("error log in a missing folder", {"server": "ErrorLog /no/such/folder/error.log"}, "monkey.conf:*:14", "error",
     r"ErrorLog: there is no folder /no/such/folder"),
    ("key of another section", {"host": "Timeout 5"}, "sites/default:3:5", "error",
     r'unknown key "Timeout" in \[HOST\]: it belongs to \[SERVER\]'),
    ("key of a site in monkey.conf", {"server": "documentroot /"}, "monkey.conf:*:5", "error",
     r'unknown key "documentroot" in \[SERVER\]: it belongs to \[HOST\]'),
    ("section of another file", {"site": "[SERVER]\n    Timeout 5\n"}, "sites/default:3:1", "error",
     r"unknown section \[SERVER\]: it belongs in monkey\.conf"),
    ("section of a site above all sites", {"extra": {"monkey.conf": "[HANDLERS]\n    Match x echo\n"}}, "monkey.conf:1:1", "error",
     r"unknown section \[HANDLERS\]: it belongs in a site, below its \[HOST\]"),
    ("misspelt plugin", {"extra": {"plugins.load": "[PLUGINS]\n    Load dirlist\n"}}, "plugins.load:2:10", "error",
     r'Load: cannot load "\S+monkey-dirlist\.so": No such file or directory; did you mean "dirlisting"\?'),
    ("misspelt name of a list", {"server": "Scheduler ReusePrt"}, "monkey.conf:*:15", "error",
     r'Scheduler: expected Fair or ReusePort, got "ReusePrt"; did you mean "ReusePort"\?'),
    ("port that does not exist", {"server": "Listen 70000"}, "monkey.conf:*:12", "error",
     r'Listen: expected a port from 1 to 65535, .*got "70000"'),
    ("user that does not exist", {"server": "User nosuchuser"}, "monkey.conf:*:10", "error",
     r'User: there is no account "nosuchuser"'),
    ("compression", {"host": "Gzip on"}, "sites/default:3:5", "error",
     r'unknown key "Gzip" in \[HOST\]: a section \[COMPRESS\] does this'),
    ("alias", {"host": "Alias /a /srv/a"}, "sites/default:3:5", "error", r'unknown key "Alias" in \[HOST\]: it is in \[FILE\]'),
    # of Monkey 1
    ("old TLS section", {"site": "[SSL]\n    CertificateFile a\n"}, "sites/default:3:1", "error",
     r"unknown section \[SSL\]: it is \[TLS\] now"),
    ("old plugin liana_ssl", {"extra": {"plugins.load": "[PLUGINS]\n    Load /usr/lib/monkey/monkey-liana_ssl.so\n"}},
     "plugins.load:2:10", "error", r'Load: the plugin "liana_ssl" is called "tls" now: Load tls'),
    ("old plugin polarssl", {"extra": {"plugins.load": "[PLUGINS]\n    Load polarssl\n"}}, "plugins.load:2:10", "error",
     r'Load: the plugin "polarssl" is called "mbedtls" now: Load mbedtls'),
    ("path of an old installation", {"extra": {"plugins.load": "[PLUGINS]\n    Load /usr/lib/monkey/monkey-dirlisting.so\n"}},
     "plugins.load:2:10", "error", r"No such file or directory; the name alone is enough: Load dirlisting"),
    ("quoted path", {"host": 'DocumentRoot "/tmp"'}, "sites/default:2:18", "error",
     r'DocumentRoot: expected a path.*got ""/tmp""; values are written without quotes'),
    ("quoted word", {"server": 'KeepAlive "on"'}, "monkey.conf:*:15", "error",
     r'KeepAlive: expected on or off, got ""on""; values are written without quotes'),
    ("quoted name", {"host": 'ServerName "a.test"'}, "sites/default:3:16", "error",
     r'ServerName: .*a\.test.*; values are written without quotes'),
    ("quoted URL", {"host": 'Redirect "https://a.test/"'}, "sites/default:3:14", "error", r"; values are written without quotes"),
    ("a glob", {"handlers": "Match /*.php echo"}, "sites/default:4:11", "warning",
     r'Match: "/\*\.php" is a regular expression: .*\\\.php\$'),
    *((f"{text} of {place}", config, at, "warning", rf"Match: \"{re.escape(text)}\" is a regular expression: ")
      for text in ("/img/*", '"^/img"', "~^/img")
      for place, config, at in (("[HANDLERS]", {"handlers": f"Match {text} echo"}, "sites/default:4:11"),
                                ("[LOCATION]", {"site": f"[LOCATION]\n    Match {text}\n    Header X-A b\n"}, "sites/default:4:11"))),
]


@pytest.mark.parametrize("config, place, level, sentence", [pytest.param(*rest, id=name) for name, *rest in SENTENCES])
def test_what_cannot_work_is_told_with_its_place(check, config, place, level, sentence):
    if "No such file" in sentence and "dirlisting" in process.built_in_plugins():
        pytest.skip("plugins are built in, so no file of one is looked for")
    code, output = check(**config)
    found = re.escape(f"{place}: {level}: ").replace(r"\*", r"\d+")  # monkey.conf has lines of the harness before those of a test
    lines = [line for line in output.splitlines() if re.search(found, line)]
    assert lines and re.search(sentence, lines[0]), output
    assert code == (1 if level == "error" else 0)


def test_warnings_are_counted(check):
    _, output = check(error_pages="404 /not-there.html")
    assert "configuration is fine, with 1 warning\n" in output


def test_a_refused_error_page_is_looked_for_nowhere(check):
    code, output = check(error_pages="404 https://x/")
    assert code == 1 and "there is no file" not in output, output


def test_error_page_of_an_application_is_its_own(check):
    code, output = check(handlers="Match ^/ echo", error_pages="404 /made-by-it")
    assert code == 0 and output.startswith("configuration is fine\n"), output


PLUGIN_FAULTS = [
    ("auth", {"site": "[AUTH]\n    Location /x\n    Users /no/such/file\n"}, "sites/default:5:11", r"Users: /no/such/file: "),
    ("auth", {"site": "[AUTH]\n    Location /x\n    Title a\"b\n    Users /dev/null\n"}, "sites/default:5:11", r"Title: "),
    ("auth", {"site": "[AUTH]\n    Location x\n    Users /dev/null\n"}, "sites/default:4:14", r"Location: expected a path"),
    ("tls", {"site": "[TLS]\n    CertificateFile /no/a\n    RSAKeyFile /no/b\n"}, "sites/default:4:21", r"CertificateFile: /no/a"),
    ("tls", {"site": "[TLS]\n    CertificateFile /no/a\n    RSAKeyFile /no/b\n"}, "sites/default:5:16", r"KeyFile: /no/b"),
    ("logger", {"site": "[LOGGER]\n    AccessLog /no/such/folder/a.log\n"}, "sites/default:4:15",
     r"AccessLog: there is no folder /no/such/folder"),
    ("proxy_reverse", {"extra": {"plugins/proxy_reverse/a.conf": "[PROXY_ENTRY]\n    Match ^/\n    ServerList a\n"
                                                                 "    LoadBalancer roundrobbin\n"}}, "a.conf:4:18",
     r'LoadBalancer: expected Naive, .* got "roundrobbin"; did you mean "RoundRobin"\?'),
    ("proxy_reverse", {"extra": {"plugins/proxy_reverse/a.conf": "[PROXY_ENTRY]\n    Match ^/\n    ServerList a:99999\n"}},
     "a.conf:3:16", r"with a port from 1 to 65535"),
    ("fastcgi", {"extra": {"plugins/fastcgi/a.conf": "[FASTCGI_SERVER]\n    ServerName a\n    ServerAddr a:99999\n"}},
     "a.conf:3:16", r"with a port from 1 to 65535"),
    ("fastcgi", {"extra": {"plugins/fastcgi/a.conf": "[FASTCGI_SERVER]\n    ServerAddr a:1\n    ServerName a\n"
                                                     "[FASTCGI_LOCATION]\n    Mount /\n    ServerNames b\n"}},
     "a.conf:6:17", r"ServerNames: there is no \[FASTCGI_SERVER\] b"),
]


@pytest.mark.parametrize("plugin, config, place, sentence", PLUGIN_FAULTS)
def test_faults_of_plugins_point_at_the_key(check, plugin, config, place, sentence):
    if not process.plugin(plugin):
        pytest.skip(f"{plugin} is not built")
    extra = {**config.get("extra", {}), "plugins.load": section("PLUGINS", f"Load {plugin}")}
    code, output = check(**{**config, "extra": extra})
    lines = [line for line in output.splitlines() if f"{place}: error: " in line]
    assert code == 1 and any(re.search(sentence, line) for line in lines), output


@pytest.mark.parametrize("host", [r"Header X-Note see \#5", "Header X-Note 'a # b'", "Header X-Price $5 or 5% {net}", "ServerName [::1] a_b.test"])
def test_values_that_only_look_so_are_fine(check, host):
    assert check(host=host) == (0, "configuration is fine\n")


def test_a_hash_of_the_value_is_sent(start):
    assert start(host=r"Header X-Note see \#5", files={"a": "x"}).get("/a").header("X-Note") == "see #5"


NGINX = "# a site\nserver {\n    listen 80;\n    server_name a.test; # it\n    location / { root /srv; }\n}\n"
APACHE = 'Listen 80\nServerRoot "/etc/apache2"\n<VirtualHost *:80>\n    ServerName a.test\n</VirtualHost>\n'
CADDY = "a.test {\n    root * /srv\n    file_server\n}\n"


@pytest.mark.parametrize("text, said", [(NGINX, "nginx: see docs/from-nginx.md"), (APACHE, "Apache: see docs/from-apache.md"),
                                        (CADDY, "Caddy: see monkey.conf(5)")])
def test_a_file_of_another_server_is_one_error(check, text, said):
    code, output = check(sites={"other": text})
    assert code == 1 and f"sites/other: error: this file was written for {said}" in output, output
    assert output.count(" error: ") <= 2, output


def test_more_files_than_a_configuration_may_have_are_one_error(check):
    code, output = check(sites={f"site{i}": f"[HOST]\n    ServerName a{i}.test\n    DocumentRoot /\n" for i in range(4200)})
    assert code == 1 and output.count(" error: ") == 1, output[:2000]
    assert "a configuration has at most 4096 files" in output


def test_lines_that_no_request_reaches_are_told(check):
    entry = "[PROXY_ENTRY]\n    Name app\n    ServerList 127.0.0.1:9\n"
    extra = {"plugins.load": "[PLUGINS]\n    Load proxy_reverse\n    Load mandril\n", "plugins/proxy_reverse/proxy_reverse.conf": entry}
    code, output = check(handlers="Match ^/early echo\nMatch ^/ proxy_reverse app\nMatch ^/x mandril\nMatch @late echo\nMatch ^/late echo",
                         extra=extra)
    assert code == 0 and output.count("warning: ") == 1, output
    assert re.search(r"sites/default:8:11: warning: Match: no request comes here, since line 5 has its paths", output), output


@pytest.mark.parametrize("first, second, is_said", [
    ("^/api", "^/api", True), ("^/api", "^/API", True), (r"\.php$", r"\.php$", True),
    ("^/api", "@api", False), ("^/api/v2", "^/api", False),
    ("^/api", "^/api/v2", True), ("^/api", "^/API/v2$", True), ("^/api/", "^/api/v2/.*$", True), ("^/api.*", "^/api/v2", True),
    ("/api", "^/v1/api/x", True), (r"^/a\.b", r"^/a\.b/c", True),
    ("^/api$", "^/api/v2", False), ("^/api", "/api/v2", False), ("^/api", "^/v1/api", False), ("^/api/", "^/api", False),
    (r"^/a\.b", "^/a.b/c", False), ("^/a.b", r"^/a\.b/c", False), ("^/api", "^/api/v2|^/b", False), ("^/ap(i|p)", "^/api/v2", False),
    ("^/api?", "^/api/v2", False), ("^/api", "^/api*", False), ("^/api+", "^/api/v2", False), ("^/v[0-9]", "^/v1/x", False),
])
def test_a_line_whose_paths_an_earlier_one_has_is_told(check, first, second, is_said):
    code, output = check(handlers=f"Match {first} echo\nMatch ^/other echo\nMatch {second} echo")
    assert code == 0 and output.count("warning: ") == is_said, output
    if is_said:
        assert re.search(r"sites/default:6:11: warning: Match: no request comes here, since line 4 has its paths", output), output


def test_a_location_whose_paths_an_earlier_one_has_is_told(check):
    """Of expressions the first counts, of paths the longest."""
    site = "".join(f"[LOCATION]\n    {key}\n    Header X-A b\n" for key in (
        "Match ^/api", "Match ^/api/v2", "Match ^/ap", r"Match \.css$", r"Match \.(css|js)$", "Path /x", "Path /x/y", r"Match \.css$"))
    code, output = check(site=site)
    assert code == 0 and output.count("warning: ") == 2, output
    first = int(re.search(r"sites/default:(\d+):11: warning: Match: no request comes here, since line (\d+) has", output)[1])
    assert f"sites/default:{first}:11: warning: Match: no request comes here, since line {first - 3} has its paths" in output
    assert f"sites/default:{first + 18}:11: warning: Match: no request comes here, since line {first + 6} has its paths" in output


@pytest.mark.skipif(not executable.plugin("compress"), reason="this build has no such plugin")
def test_a_handler_that_may_pass_hides_no_other(check):
    code, output = check(handlers="Match ^/api compress\nMatch ^/api/v2 echo", extra={"plugins.load": "[PLUGINS]\n    Load compress\n"})
    assert code == 0 and "warning: " not in output, output
