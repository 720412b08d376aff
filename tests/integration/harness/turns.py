# SPDX-License-Identifier: Apache-2.0
"""Does a server rest? Its own count of turns tells, which no other program on the machine makes larger."""

import re
import time

FEW = 20  # of asking, and what was still on its way; a loop that spins makes thousands in the time that it gets


def turns_in(metrics):
    """Turns of the loops of all workers. metrics: in the format of Prometheus, of the plugin status or of the shell."""
    return sum(int(count) for count in re.findall(r"(?m)^monkey_loop_turns_total\S* (\d+)", metrics))


def made_in(seconds, metrics):
    """Those of so many seconds, with those of asking twice. metrics() returns the text."""
    before = turns_in(metrics())
    time.sleep(seconds)
    return turns_in(metrics()) - before
