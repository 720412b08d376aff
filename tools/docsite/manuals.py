# SPDX-License-Identifier: Apache-2.0
"""Manual pages, by mandoc."""

import html
import re
import subprocess

from docsite.body import Body, Heading, plain

MARGIN = re.compile(r'<(table|div) class="(?:head|foot)".*?</\1>\s*', re.S)  # name, section and date, above and below
HEADING = re.compile(r'<h([23]) class="S[hs]" id="([^"]+)">(.*?)</h\1>', re.S)
TERM = re.compile(r'<dt id="([^"]+)">(.*?)</dt>', re.S)
CROSS_REFERENCE = re.compile(r'<a class="Xr"[^>]*>([^<(]+\(\d\w*\))</a>|<b>([\w.-]+)</b>(\(\d\))')
ABOUT = re.compile(r'^\.Nd "?(.*?)"?$|^\.SH NAME\n.*? \\- (.*)$', re.M)


def name_of(file):
    """monkey.conf.5 is monkey.conf(5)."""
    name, _, section = file.name.rpartition(".")
    return f"{name}({section})"


def about(text):
    found = ABOUT.search(text)
    return re.sub(r"\\-", "-", found[1] or found[2]) if found else ""


def linked(shown, links):
    def replace(match):
        name = html.unescape(match[1] or match[2] + match[3])
        text = match[1] or f"<b>{match[2]}</b>{match[3]}"
        to = links.of_manual(name)
        return f'<a href="{to}">{text}</a>' if to else text

    return CROSS_REFERENCE.sub(replace, shown)


def keep_empty_lines(text):
    """Those of examples, which mandoc drops."""
    return re.sub(r"^\.nf\n.*?^\.fi$", lambda example: re.sub(r"\n(?=\n)", "\n.sp", example[0]), text, flags=re.M | re.S)


def without_breaks(shown):
    """Lines of an example that begin with blanks have another line before them."""
    return re.sub(r"<pre>.*?</pre>", lambda example: example[0].replace("<br/>\n", ""), shown, flags=re.S)


def render(file, links):
    done = subprocess.run(["mandoc", "-T", "html", "-O", "fragment"], input=keep_empty_lines(file.read_text()), capture_output=True,
                          text=True, check=False)
    if done.returncode > 4:  # what is less is for tools/check_docs
        raise ValueError(f"mandoc: {done.stderr.strip()}")
    shown = re.sub(r"<(/?)h([12])\b", lambda match: f"<{match[1]}h{int(match[2]) + 1}", MARGIN.sub("", without_breaks(done.stdout)))
    headings = [Heading(int(level), html.unescape(name), plain(text)) for level, name, text in HEADING.findall(shown)]
    terms = [(html.unescape(name), plain(text)) for name, text in TERM.findall(shown)]
    title = name_of(file)
    summary = about(file.read_text())
    return Body(title, summary[:1].upper() + summary[1:], f"<h1>{title}</h1>\n{linked(shown, links)}", headings, terms)
