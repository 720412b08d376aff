# SPDX-License-Identifier: Apache-2.0
"""Listings of directories: what is shown of which names, in which order and form."""

import datetime
import html
import html.parser
import json
import os
import re
import urllib.parse

import pytest

from harness import http, process
from harness.config import section
from harness.executable import AS_ROOT

JSON = {"Accept": "application/json"}

NASTY = [
    b'<script>alert(1)<', b'"quoted" & \'single\'.txt', b"new\nline.txt", b"-rf", b"--", b"100%.txt", b"%41.txt",
    b"a?b#c&d=e.txt", b"javascript:alert(1)", b"x" * 255, b"inv\xff\xfe.txt", b"\xe2\x82", b"\xed\xa0\x80", b" blanks ",
    b"back\\slash", b"+plus;semi,comma", b"tab\there", b"\x7f\x01", "Ünïcödé \U0001f412.txt".encode(), b"~tilde", b"%_note_%",
]


def listing(theme="", plugins="dirlisting", shows="Listing on", **kwargs):
    """What `start` needs for a server with the plugin, which shows all folders unless `shows` is empty."""
    loads = "\n".join(f"Load {process.plugin(name)}" for name in plugins.split())
    extra = {"plugins.load": section("PLUGINS", loads), **kwargs.pop("extra", {})}
    extra["plugins/dirlisting/dirhtml.conf"] = section("DIRLISTING", f"{theme}\n{shows}")
    return {"extra": extra, **kwargs}


class Page(html.parser.HTMLParser):
    """The listing as a browser understands it: links of the body's rows, and heads of columns."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.sorts, self.tags, self.title = [], [], [], ""
        self._link = self._text = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.append((tag, attrs))
        if tag == "th":
            self.sorts.append(attrs.get("aria-sort"))
        if tag == "tr":
            self._row = attrs
        if tag == "a":
            self._link, self._text = attrs.get("href"), ""
        if tag == "title":
            self._text = ""

    def handle_data(self, data):
        if self._text is not None:
            self._text += data

    def handle_endtag(self, tag):
        if tag == "a" and self._row_is_entry():
            self.rows.append((self._text, self._link))
        if tag == "title":
            self.title = self._text
        if tag in ("a", "title"):
            self._text = None

    def _row_is_entry(self):
        return getattr(self, "_row", {}).get("class") in ("file", "directory")

    @property
    def names(self):
        return [name for name, _ in self.rows]


def page_of(server, target="/", **headers):
    response = server.get(target, headers)
    assert response.status == 200, response
    return Page(response.text)


def entries_of(server, target="/"):
    response = server.get(target, JSON)
    assert response.status == 200, response
    return json.loads(response.body)["entries"]


@pytest.fixture(scope="module")
def server(start_shared):
    server = start_shared(**listing(files={
        "plain.txt": "plain", "sub/deeper/file.txt": "x", "indexed/index.html": "the index", "sizes/b10": "1" * 10, "sizes/B9": "1" * 30,
        "sizes/a": "1" * 20, "sizes/z/x": "", "empty/.hidden": "", "hidden/.secret": "s", "hidden/.well-known/x": "x", "hidden/shown": "x",
        "links/file": "f", "links/dir/x": "x", "we <b>ird&/x": "x",
    }, server="Indexfile index.html"))
    for at, name in enumerate(("sizes/a", "sizes/B9", "sizes/b10")):
        os.utime(server.root / name, (1000000000 + at, 1000000000 + at))
    os.utime(server.root / "sizes/z", (5, 5))
    for name, target in {"link": "file", "linkdir": "dir", "dangling": "nowhere", "up": ".."}.items():
        os.symlink(target, server.root / "links" / name)
    (server.root / "nasty").mkdir()
    for name in NASTY:
        with open(os.fsencode(server.root) + b"/nasty/" + name, "wb") as file:
            file.write(name)
    return server


# -- the page


def test_a_directory_without_index_is_listed(server):
    page = page_of(server, "/sub/")
    assert page.rows == [("deeper/", "deeper/")]
    assert page.title == "Index of /sub/"


def test_an_index_file_comes_first(server):
    assert server.get("/indexed/").text == "the index"


def test_head_of_the_answer(server):
    response = server.get("/sub/")
    assert response.header("Content-Type") == "text/html; charset=utf-8"
    assert response.header("Cache-Control") == "no-cache"
    assert response.header("Vary") == "Accept"


@pytest.mark.parametrize("headers", [{}, JSON], ids=["html", "json"])
def test_head_is_get_without_body(server, headers):
    get, head = server.get("/sub/", headers), server.head("/sub/", headers)
    assert head.status == 200 and head.body == b""
    leave = ("date",)
    assert [f for f in head.fields if f[0].lower() not in leave] == [f for f in get.fields if f[0].lower() not in leave]


@pytest.mark.connection("HTTP/1.0")
def test_http_1_0_gets_it_until_close(server):
    response = http.parse_one(server.raw(http.request("/sub/", version="1.0")))
    assert response.framing == "close"
    assert response.text.rstrip().endswith("</html>")


def test_the_connection_is_kept(server):
    with server.connect() as connection:
        for _ in range(3):
            assert "deeper/" in connection.request("/sub/").text
        assert connection.request("/plain.txt").text == "plain"


def test_pipelined_listings_come_in_order(server):
    with server.connect() as connection:
        connection.send(http.request("/sub/") + http.request("/plain.txt") + http.request("/sizes/") + http.request("/sub/"))
        answers = connection.responses("GET", "GET", "GET", "GET")
    assert [Page(a.text).names for a in answers if a.body != b"plain"] == [["deeper/"], ["z/", "a", "B9", "b10"], ["deeper/"]]


@pytest.mark.parametrize("method", ["POST", "DELETE", "PUT"])
def test_other_methods_are_405(server, method):
    assert server.request("/sub/", method).status == 405


def test_parent_link_everywhere_but_at_the_top(server):
    def up(target):
        return [attrs for tag, attrs in page_of(server, target).tags if tag == "tr" and attrs.get("class") == "up"]

    assert "hidden" in up("/")[0]
    assert "hidden" not in up("/sub/")[0]


def test_the_path_is_text_and_links(server):
    page = page_of(server, "/we%20%3Cb%3Eird&/")
    assert page.title == "Index of /we <b>ird&/"
    assert not [tag for tag, _ in page.tags if tag == "b"]
    links = [attrs["href"] for tag, attrs in page_of(server, "/sub/deeper/").tags if tag == "a"]
    assert links[:2] == ["../../", "../"]


def test_an_empty_directory_is_said_to_be(server):
    response = server.get("/empty/")
    assert Page(response.text).rows == []
    assert "Empty" in response.text


def test_times_and_sizes(server):
    row = re.search(r"<tr[^>]*>[^\n]*b10[^\n]*", server.get("/sizes/").text)[0]
    assert "2001-09-09 01:46:42Z" in row
    assert 'title="10 bytes"' in row and ">10 B<" in row


def test_nothing_comes_from_elsewhere(server):
    text = server.get("/sizes/").text
    assert not re.search(r"""(src|href|action)\s*=\s*["']?(https?:)?//""", text)
    assert not re.search(r"""url\((?!["']?data:)""", text)
    assert "<script" not in text and "@import" not in text


# -- order


@pytest.mark.parametrize("query, names", [
    ("", ["z/", "a", "B9", "b10"]),
    ("?sort=name", ["z/", "a", "B9", "b10"]),
    ("?sort=name&order=desc", ["z/", "b10", "B9", "a"]),
    ("?sort=time", ["z/", "a", "B9", "b10"]),
    ("?order=desc&sort=time", ["z/", "b10", "B9", "a"]),
    ("?sort=size", ["z/", "b10", "a", "B9"]),
    ("?sort=size&order=desc", ["z/", "B9", "a", "b10"]),
    ("?sort=rubbish&order=up&x=%00%ff", ["z/", "a", "B9", "b10"]),
])
def test_order_by_query(server, query, names):
    assert page_of(server, "/sizes/" + query).names == names
    wanted = [name.rstrip("/") for name in names]
    assert [entry["name"] for entry in entries_of(server, "/sizes/" + query)] == wanted


def test_column_heads_link_to_the_other_order(server):
    page = page_of(server, "/sizes/?sort=size&order=desc")
    assert page.sorts == ["none", "none", "descending"]
    heads = [attrs["href"] for tag, attrs in page.tags if tag == "a" and attrs["href"].startswith("?")]
    assert heads == ["?sort=name&order=asc", "?sort=time&order=desc", "?sort=size&order=asc"]
    assert page_of(server, "/sizes/" + heads[2]).sorts == ["none", "none", "ascending"]


# -- JSON


def test_json_when_asked_for(server):
    response = server.get("/sizes/?sort=size", JSON)
    assert response.header("Content-Type") == "application/json"
    assert response.header("Vary") == "Accept"
    assert json.loads(response.body) == {
        "path": "/sizes/", "sort": "size", "order": "asc", "sorted": True, "entries": [
            {"name": "z", "url": "z/", "type": "directory", "size": None, "time": "1970-01-01T00:00:05Z"},
            {"name": "b10", "url": "b10", "type": "file", "size": 10, "time": "2001-09-09T01:46:42Z"},
            {"name": "a", "url": "a", "type": "file", "size": 20, "time": "2001-09-09T01:46:40Z"},
            {"name": "B9", "url": "B9", "type": "file", "size": 30, "time": "2001-09-09T01:46:41Z"},
        ]}


@pytest.mark.parametrize("accept, wants_json", [
    ("*/*", False), ("text/html,application/xhtml+xml,*/*;q=0.8", False), ("application/json, text/plain, */*", True),
    ("text/html;q=0.5, application/json", True), ("application/json;q=0", False),
])
def test_accept(server, accept, wants_json):
    assert (server.get("/sizes/", {"Accept": accept}).header("Content-Type") == "application/json") == wants_json


def test_empty_json(server):
    assert entries_of(server, "/empty/") == []


# -- names


def shown(name):
    """As a browser shows it: control bytes and invalid UTF-8 become U+FFFD, one for each byte."""
    text = "".join("\ufffd" if "\udc80" <= c <= "\udcff" else c for c in name.decode("utf-8", "surrogateescape"))
    return re.sub(r"[\x00-\x1f\x7f]", "\ufffd", text)


def test_nasty_names_are_text(server):
    page = page_of(server, "/nasty/")
    assert sorted(page.names) == sorted(shown(name) for name in NASTY)
    assert "script" not in [tag for tag, _ in page.tags]
    assert not [attrs for _, attrs in page.tags if any(name.startswith("on") for name in attrs)]


@pytest.mark.parametrize("form", ["html", "json"])
def test_nasty_names_lead_to_their_files(server, form):
    links = ([link for _, link in page_of(server, "/nasty/").rows] if form == "html" else
             [entry["url"] for entry in entries_of(server, "/nasty/")])
    assert len(links) == len(NASTY)
    with server.connect() as connection:
        for link in links:
            assert re.fullmatch(r"([A-Za-z0-9._~-]|%[0-9A-F]{2})+", link), link
            joined = urllib.parse.urljoin(f"http://localhost/nasty/", link)
            assert joined.startswith("http://localhost/nasty/")
            response = connection.request(urllib.parse.urlsplit(joined).path)
            assert response.status == 200
            assert response.body == urllib.parse.unquote_to_bytes(link)


def test_nasty_names_in_json(server):
    names = {entry["url"]: entry["name"] for entry in entries_of(server, "/nasty/")}
    for name in NASTY:
        text = name.decode("utf-8", "surrogateescape")
        wanted = "".join("\ufffd" if "\udc80" <= c <= "\udcff" else c for c in text)
        assert names[urllib.parse.quote_from_bytes(name, safe="~")] == wanted


# -- what is left out


def test_dot_files_are_not_shown(server):
    assert page_of(server, "/hidden/").names == ["shown"]
    assert server.get("/hidden/.secret").status in (403, 404)


def test_links_are_left_out_without_symlink(server):
    assert page_of(server, "/links/").names == ["dir/", "file"]
    assert server.get("/links/link").status in (403, 404)


def test_links_are_shown_with_symlink(start):
    server = start(**listing(server="SymLink on", files={"file": "four", "dir/x": "x"}))
    for name, target in {"link": "file", "linkdir": "dir", "dangling": "nowhere"}.items():
        os.symlink(target, server.root / name)
    assert page_of(server).names == ["dir/", "linkdir/", "file", "link"]
    assert {entry["name"]: entry["size"] for entry in entries_of(server)}["link"] == 4
    assert server.get("/link").text == "four"


def test_fifos_and_sockets_are_left_out(start):
    server = start(**listing(files={"file": "x"}))
    os.mkfifo(server.root / "fifo")
    assert page_of(server).names == ["file"]


# -- where it is on


def sites(handlers_a="", handlers_b="", more_b=""):
    return {"sites": {
        name: f"[HOST]\n    ServerName {name}\n    DocumentRoot ../root\n" +
        (section("HANDLERS", handlers) if handlers else "") + more
        for name, handlers, more in (("a", handlers_a, ""), ("b", handlers_b, more_b))}}


def statuses(server):
    return {host: server.request("/", host=host).status for host in ("a", "b", "localhost")}


def test_every_site_lists(start):
    server = start(**listing(files={"x": "x"}, **sites()))
    assert statuses(server) == {"a": 200, "b": 200, "localhost": 200}


def test_loading_alone_opens_no_folder(start):
    server = start(**listing(shows="", files={"x": "x"}, **sites()))
    assert statuses(server) == {"a": 403, "b": 403, "localhost": 403}


@pytest.mark.parametrize("site", [{"handlers_b": "Match . dirlisting"}, {"more_b": "[DIRLISTING]\n    Listing on\n"}],
                         ids=["by a Match line", "by Listing"])
def test_only_sites_that_say_so_list(start, site):
    server = start(**listing(shows="", files={"x": "x"}, **sites(**site)))
    assert statuses(server) == {"a": 403, "b": 200, "localhost": 403}


def test_a_site_may_say_no(start):
    server = start(**listing(files={"x": "x"}, **sites(more_b="[DIRLISTING]\n    Listing off\n")))
    assert statuses(server) == {"a": 200, "b": 403, "localhost": 200}


@pytest.mark.parametrize("shows", ["", "Listing on"])
def test_a_match_line_opens_what_matches_and_nothing_else(start, shows):
    files = {"pub/x": "x", "pub/deep/x": "x", "private/x": "x", "publican/x": "x"}
    server = start(**listing(shows=shows, files=files, handlers="Match ^/pub/ dirlisting"))
    answers = {path: server.get(path).status for path in ("/pub/", "/pub/deep/", "/private/", "/publican/", "/")}
    assert answers == {"/pub/": 200, "/pub/deep/": 200, "/private/": 403, "/publican/": 403, "/": 403}


def test_several_match_lines_add_up(start):
    files = {name + "/x": "x" for name in "abc"}
    server = start(**listing(shows="", files=files, handlers="Match ^/a/ dirlisting\nMatch ^/(b|x)+/ dirlisting"))
    assert [server.get(f"/{name}/").status for name in "abc"] == [200, 200, 403]


def test_without_the_plugin_nothing_is_listed(start):
    server = start(files={"x/y": "y"})
    assert server.get("/x/").status in (403, 404)


def test_header_lines_of_the_site_apply(start):
    server = start(**listing(files={"x": "x"}, host="Header X-Of-Site yes\nHeader Cache-Control no-store"))
    response = server.get("/")
    assert response.header("X-Of-Site") == "yes"
    assert response.header("Cache-Control") == "no-store"


# -- themes


def theme(header="<h1>%_html_title_%</h1>", entry="<p>%_target_name_%", footer="<hr>", name="mine"):
    files = {"header": header, "entry": entry, "footer": footer}
    return {f"plugins/dirlisting/themes/{name}/{part}.theme": text for part, text in files.items() if text is not None}


def test_theme_of_monkey_1_that_is_not_there(start):
    """It came with the server then."""
    server = start(**listing("Theme guineo", files={"a.txt": "x"}))
    server.wait_for_log(r"dirhtml\.conf:\d+:\d+: warning: Theme: guineo was a theme of Monkey 1; the built-in theme is used")
    assert "a.txt" in server.get("/").text


def test_theme_of_monkey_1_that_was_kept(start):
    server = start(**listing("Theme guineo", files={"a.txt": "x"}, extra=theme(header="kept", name="guineo")))
    assert server.get("/").text.startswith("kept")
    assert "warning" not in server.log()


def test_a_theme_of_the_configuration(start):
    tags = "|".join(f"%_target_{name}_%" for name in ("title", "url", "name", "time", "size", "bytes", "type"))
    server = start(**listing("Theme mine\nThemePath /look&feel", files={"a<b": "12345"},
                             extra=theme(header="%_html_title_% %_theme_path_%\n", entry=tags + "\n", footer="%_summary_%")))
    os.utime(server.root / "a<b", (0, 0))
    assert server.get("/").text == ("/ /look&amp;feel\na&lt;b|a%3Cb|a&lt;b|1970-01-01 00:00:00Z|5 B|5 bytes|file\n1 file, 5 B")


def test_the_shipped_theme_is_the_built_in_one(start):
    shipped = process.TREE / "conf/themes/default"
    texts = {part: (shipped / f"{part}.theme").read_text() for part in ("header", "entry", "footer")}
    files = {"a": "a", "b/c": "c"}
    built_in = start(**listing(files=files))
    read = start(**listing("Theme default", files=files, extra=theme(**texts, name="default")))
    for server in (built_in, read):
        for name in ("a", "b"):
            os.utime(server.root / name, (0, 0))
    assert built_in.get("/").text == read.get("/").text


def test_a_reload_takes_another_theme(start):
    server = start(**listing("Theme mine", files={"a": "a"}, extra=theme(header="first")))
    assert server.get("/").text.startswith("first")
    (server.conf / "plugins/dirlisting/themes/mine/header.theme").write_text("second")
    server.reload()
    assert server.get("/").text.startswith("second")


@pytest.mark.parametrize("conf, files, file, sentence", [
    ("Theme mine", theme(entry="<b>%_target_name_%</b>\n  %_tagret_size_%\n"), "mine/entry.theme:2:3", "no tag %_tagret_size_%"),
    ("Theme mine", theme(header="x\n%_target_url_%"), "mine/header.theme:2:1", "belongs in entry.theme"),
    ("Theme mine", theme(footer="%_json_name_%"), "mine/footer.theme:1:1", "no tag %_json_name_%"),
    ("Theme mine", theme(footer=None), "dirhtml.conf:2:11", "footer.theme: not found"),
    ("Theme other", theme(), "dirhtml.conf:2:11", "other/header.theme: not found"),
    ("Theme mine", theme(entry="x" * 65537), "dirhtml.conf:2:11", "more than 64 KB"),
    ("Theme ../mine", theme(), "dirhtml.conf:2:11", "the name of a folder"),
    ("Theme .", theme(), "dirhtml.conf:2:11", "the name of a folder"),
    ("Theme", theme(), "dirhtml.conf:2:", "the name of a folder"),
    ("Themes mine", theme(), "dirhtml.conf:2:5", 'did you mean "Theme"'),
    ("Theme mine\nTheme mine", theme(), "dirhtml.conf:3:5", "set twice"),
], ids=lambda value: value if isinstance(value, str) else "")
def test_faults_have_a_place_and_a_sentence(tmp_path, conf, files, file, sentence):
    config = process.Config(tmp_path)
    config.write(**listing(conf, extra=files))
    done = process.run("--configdir", config.folder, "--test")
    assert done.returncode == 1
    assert file in done.stderr and sentence in done.stderr, done.stderr


def test_a_theme_of_64_kb_is_good(start):
    server = start(**listing("Theme mine", files={"a": "a"}, extra=theme(header="x" * 65536)))
    assert len(server.get("/").text) == 65536 + len("<p>a<hr>")


def test_theme_path_that_is_not_set_is_worth_a_word(tmp_path):
    config = process.Config(tmp_path)
    config.write(**listing("Theme mine", extra=theme(header="%_theme_path_%")))
    done = process.run("--configdir", config.folder, "--test")
    assert done.returncode == 0
    assert "dirhtml.conf:2:11: warning" in done.stderr and "ThemePath" in done.stderr
def test_dump_shows_the_theme(tmp_path):
    config = process.Config(tmp_path)
    config.write(**listing("Theme mine\nThemePath /x", extra=theme()))
    done = process.run("--configdir", config.folder, "--dump")
    assert done.returncode == 0, done.stderr
    assert re.search(r"Theme +mine", done.stdout) and re.search(r"ThemePath +/x", done.stdout)


@pytest.mark.connection("an option of the program")
def test_one_shot_lists(tmp_path):
    """Without any configuration."""
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "a.txt").write_text("text")
    config = process.Config(tmp_path)
    config.write()
    server = process.Server(tmp_path, config, arguments=["--one-shot", tmp_path / "shared", "--port", "127.0.0.1:0", *AS_ROOT])
    try:
        server.wait_until_listening()
        assert page_of(server).names == ["a.txt"]
    finally:
        server.stop()
