# SPDX-License-Identifier: Apache-2.0
"""What a failure says: lines for the end of a run, which is all that some machines show of it."""

import re

from testing.commands import REASON_LENGTH

# What names a failure in the output of a step: pytest's summary, Meson's tests and cases, a sanitizer's last line, the
# rows of a table that are above their bound, and the line of a compiler.
REASON = re.compile(
    r"^(?:(?:FAILED|ERROR) \S+\.py|--- |\[  FAILED  \] |SUMMARY: |FAILED: ).*$"
    r"|^.*(?:SUMMARY: \w+Sanitizer: ).*$"
    r"|^.*\S {2,}above$"
    r"|^\S+:\d+:(?:\d+:)? (?:fatal )?error: .*$",
    re.M)
FRAME = re.compile(r"^ *#\d+ 0x[0-9a-f]+ in (\S+) \S*?((?:src|tests|fuzz|examples)/\S+)", re.M)
REASONS_MAX = 30


def first_frame(text):
    """Where our own code stands in the first report of a sanitizer."""
    begin = re.search(r"Sanitizer: |runtime error: ", text)
    frame = begin and FRAME.search(text, begin.start())
    return [f"in {frame[1]} at {frame[2]}"] if frame else []


def reasons(word, step, text):
    found = list(dict.fromkeys(match[0].strip() for match in REASON.finditer(text))) + first_frame(text)
    lines = found or text.strip().splitlines()[-3:]
    left_out = [f"... and {len(lines) - REASONS_MAX} lines more"] if len(lines) > REASONS_MAX else []
    return [f"{word}: {step.name}: {line[:REASON_LENGTH]}" for line in lines[:REASONS_MAX] + left_out]
