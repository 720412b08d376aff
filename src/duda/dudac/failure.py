# SPDX-License-Identifier: Apache-2.0
"""What ends a command, with a sentence for its user and exit code 1."""


class Failure(Exception):
    """A step failed; the text says which and why. detail: what a compiler or the server said of it, which was printed already."""

    def __init__(self, sentence, detail=""):
        super().__init__(sentence)
        self.detail = detail
