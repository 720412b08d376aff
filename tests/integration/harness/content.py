# SPDX-License-Identifier: Apache-2.0
"""Contents of files and bodies."""

import random


def noise(size, seed=0):
    """Bytes that repeat nowhere, and are the same each time; a large one costs no more than some milliseconds."""
    return random.Random(seed).randbytes(size)
