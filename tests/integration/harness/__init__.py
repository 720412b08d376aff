# SPDX-License-Identifier: Apache-2.0
"""What the integration tests stand on: a server process, raw connections, a strict response parser."""
