# SPDX-License-Identifier: Apache-2.0
"""The parser of the json package beside Python's: they accept the same texts, except for stated differences, and mean the same."""

import json
import math
import os
import random
import struct
import subprocess

import pytest

from harness import duda

SEEDS = range(4)
TEXTS = 4000
DEPTH = 512     # of arrays and objects within each other

TOKENS = [b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b"\\u", b"\\ud834", b"\\udd1e", b"\\u0000", b"null", b"tru", b"NaN", b"-",
          b"-0", b"0", b"01", b"1e", b"1e400", b"-1e-400", b"9007199254740993", b"18446744073709551616", b".5", b" ", b"\t", b"\n",
          b"\r", b"\f", b"\x00", b"\x1f", b"\x7f", b"\x80", b"\xc3\xa9", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"/**/", b"'"]
STRINGS = ["", "a", "key", "\u00e9", "\u20ac", "\U0001d11e", "\ud800", "\x00", "\n", '"', "\\", "\x7f", "\u2028", "long " * 20]


class Refused(Exception):
    """Not a text of JSON."""


def refuse(text):
    raise Refused(text)


def double(text):
    value = float(text)
    return refuse(text) if math.isinf(value) else value


def integer(text):
    """Exact to 64 bits, else a double."""
    if len(text) > 400:
        return double(text)
    value = int(text)
    return value if -2**63 <= value < 2**64 else double(text)


def parse(text):
    """What Python makes of it: objects as lists of members, which may be there twice."""
    try:
        return json.loads(text.decode("utf-8"), object_pairs_hook=lambda members: ("object", members), parse_constant=refuse,
                          parse_float=double, parse_int=integer)
    except (ValueError, RecursionError) as error:
        raise Refused(text) from error


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        for key, member in value[1]:
            yield key
            yield from strings(member)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)


def depth(text):
    """Of brackets outside of strings."""
    most = now = 0
    is_string = is_escaped = False
    for byte in text.decode():
        if is_string:
            is_string, is_escaped = is_escaped or byte != '"', byte == "\\" and not is_escaped
        else:
            is_string = byte == '"'
            now += (byte in "[{") - (byte in "]}")
            most = max(most, now)
    return most


# What Python accepts, and we refuse.
STATED = {
    "U+0000 is in a string: ours are C strings": lambda text, value: any("\0" in one for one in strings(value)),
    "half of a surrogate pair is in a string: that is no UTF-8":
        lambda text, value: any("\ud800" <= c <= "\udfff" for one in strings(value) for c in one),
    "more levels than ours": lambda text, value: depth(text) > DEPTH,
}


def number(dice):
    return dice.choice((
        lambda: repr(dice.uniform(-1e3, 1e3)), lambda: str(dice.randrange(-10**dice.randrange(1, 22), 10**dice.randrange(1, 22))),
        lambda: repr(struct.unpack("d", dice.randbytes(8))[0]).replace("inf", "1").replace("nan", "2"),
        lambda: f"{dice.randrange(10**18)}.{dice.randrange(10**18)}e{dice.randrange(-330, 330)}",
        lambda: f"{dice.choice((2**53, 2**63, 2**64)) + dice.randrange(-2, 3)}"))()


def document(dice, room=4):
    kind = dice.randrange(6 if room else 4)
    if kind == 0:
        return dice.choice(("null", "true", "false"))
    if kind == 1:
        return number(dice)
    if kind < 4:
        return json.dumps(dice.choice(STRINGS), ensure_ascii=dice.random() < 0.5)
    blank = dice.choice(("", " ", "\n\t"))
    items = [document(dice, room - 1) for _ in range(dice.randrange(5))]
    if kind == 4:
        return "[" + f"{blank},{blank}".join(items) + blank + "]"
    return "{" + ",".join(f"{json.dumps(dice.choice(STRINGS))}{blank}:{blank}{item}" for item in items) + "}"


def text(dice):
    """Most are changed a little."""
    made = bytearray(document(dice).encode("utf-8", "surrogatepass"))
    for _ in range(dice.choice((0, 0, 1, 1, 2, 5))):
        at = dice.randrange(len(made) + 1)
        if dice.random() < 0.5:
            made[at:at] = dice.choice(TOKENS)
        else:
            del made[at:at + dice.randrange(1, 4)]
    return bytes(made)


@pytest.fixture(scope="module")
def ask(tmp_path_factory):
    """Gives what our parser prints for each text; None: it refuses."""
    source = duda.HEADERS.parent
    program = tmp_path_factory.mktemp("json") / "json_texts"
    engine = ("character", "decimal", "number", "read", "write")
    files = [*(source / "json").glob("*.c"), *(source.parent / "kit" / "json" / f"{name}.c" for name in engine)]
    subprocess.run([os.environ.get("CC", "cc"), "-std=gnu11", "-O1", "-g", "-Wall", "-Werror", "-D_GNU_SOURCE", "-DDUDA_INSIDE",
                    f"-I{source.parents[1] / 'include'}", f"-I{source.parent}", f"-I{source}", f"-I{duda.HEADERS}", str(duda.SOURCES / "json_texts.c"),
                    *map(str, files), "-lm", "-o", str(program)], check=True, timeout=120)

    def run(texts):
        asked = b"".join(struct.pack("=I", len(one)) + one for one in texts)
        said = subprocess.run([str(program)], input=asked, stdout=subprocess.PIPE, check=True, timeout=120).stdout
        answers, at = [], 0
        while at < len(said):
            size, = struct.unpack_from("=I", said, at)
            answers.append(said[at + 4:at + 4 + size] or None)
            at += 4 + size
        assert len(answers) == len(texts)
        return answers

    return run


def same(a, b):
    """A double is printed as its shortest digits, which may look like another integer, such as 53686159883982330."""
    if isinstance(a, (list, tuple)) and type(a) is type(b) and len(a) == len(b):
        return all(map(same, a, b))
    return a == b or (isinstance(a, float) and isinstance(b, int) and a == float(b))


def compare(one, printed):
    """@return the difference that explains what we refuse; "" if both agree."""
    try:
        value = parse(one)
    except Refused:
        assert printed is None, f"accepted by us alone: {one}"
        return ""
    if printed is None:
        reasons = [name for name, explains in STATED.items() if explains(one, value)]
        assert reasons, f"accepted by Python alone: {one}"
        return reasons[0]
    assert same(value, parse(printed)), f"{one} means something else: {printed}"
    return ""


@pytest.mark.parametrize("seed", SEEDS)
def test_random_texts(ask, seed):
    dice = random.Random(seed)
    texts = [text(dice) for _ in range(TEXTS)]
    answers = ask(texts)
    for one, printed in zip(texts, answers, strict=True):
        compare(one, printed)
    assert TEXTS / 10 < sum(printed is None for printed in answers) < TEXTS * 9 / 10


@pytest.mark.parametrize("one, difference", [
    (b'["\\u0000"]', 0), (b'{"a\\u0000b":1}', 0), (b'"\\ud800"', 1), (b'["\\udd1e\\ud834"]', 1), (b"[" * 513 + b"]" * 513, 2)])
def test_stated_differences(ask, one, difference):
    assert compare(one, ask([one])[0]) == list(STATED)[difference]
