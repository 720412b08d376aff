# SPDX-License-Identifier: Apache-2.0
"""dudac: builds web services in C and runs them on this machine. The command is dudac.in, its parts are here."""
