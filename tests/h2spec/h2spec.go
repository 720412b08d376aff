// SPDX-License-Identifier: Apache-2.0

// Package h2spec pins the conformance suite of HTTP/2 and what it needs, in versions that the Go of Debian 12 builds:
// tools/deps makes the program, tests/integration/test_http2.py runs it.
package h2spec

import _ "github.com/summerwind/h2spec"
