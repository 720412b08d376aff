# SPDX-License-Identifier: Apache-2.0
"""The seed of fresh random tests: TEST_SEED, which a run of all tests sets once, else a number by chance."""

import functools
import os
import random


@functools.cache
def of_this_run():
    return int(os.environ.get("TEST_SEED") or random.SystemRandom().randrange(1 << 32))
