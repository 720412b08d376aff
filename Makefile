# SPDX-License-Identifier: Apache-2.0
#
# The commands of this tree. On a fresh Debian each brings what it needs first (tools/deps).

PREFIX ?= /usr/local

.DEFAULT_GOAL := build
.PHONY: run docs test test-all build compile bench contest lint fuzz size static install uninstall clean

# Serve the welcome site on http://localhost:2001/ until Ctrl-C, and at /docs/ what `make docs` wrote. ARGS="--port 8080" adds options.
run: compile
	@echo "Serving htdocs/$(if $(WITH_DOCS), and the documentation (/docs/))$(if $(ARGS),, on http://localhost:2001/); Ctrl-C stops it"
	@exec build/monkey $(WITH_DOCS) $(ARGS)

# Unless ARGS name another configuration.
WITH_DOCS = $(if $(filter -c% -s% -o% --configdir% --serverconf% --one-shot%,$(ARGS)),,$(if $(wildcard build/docs/html.conf),-s $(CURDIR)/build/docs/html.conf))

# The manual pages and guides as a site, which needs no server.
docs:
	@tools/deps --docs
	@tools/docs_site build/docs/html
	@echo "build/docs/html/index.html is the first page; make run serves them at http://localhost:2001/docs/"

# The gate: what decides whether a change is right, in at most 15 minutes. TESTS=word runs only the steps whose name has that word.
test:
	@tools/deps --test
	@tools/test $(TESTS)

# Everything: the gate, then other compilers and sanitizers, carriers, faults, crowds, lint, memory, and what measures.
test-all:
	@tools/deps --test --static
	@tools/test --all $(TESTS)

# build/monkey, its two libraries and the plugins, ready to run in place.
build: compile
	@echo "build/monkey is ready. make run: serve the welcome page; make test: test it; make install: to $(PREFIX)"

compile:
	@tools/deps
	@tools/build release

# Side by side with other servers on this machine; the table goes to docs/benchmarks.md.
bench:
	@tools/deps --bench
	@tools/build release
	@bench/run $(ARGS)

# Every web server of this machine in turns, measured by wr; the page goes to build/contest/. ARGS=--quick: a look.
contest:
	@tools/deps --bench
	@tools/build release
	@bench/contest/contest $(ARGS)

lint:
	@tools/deps --test
	@tools/lint

# Each target for FUZZ_SECONDS (600) of CPU time.
fuzz:
	@tools/deps --test
	@tools/fuzz $(TESTS)

# Sizes and memory at rest beside their budgets.
size:
	@tools/deps --static
	@tools/build release
	@tools/build static
	@tools/size

# build-static/monkey: one file that needs nothing else, against musl.
static:
	@tools/deps --static
	@tools/build static

# To PREFIX (/usr/local); DESTDIR is honoured. Scripts say what they did in a file, because meson may not show it.
install: compile
	@tools/build release --prefix=$(PREFIX)
	@report=$$(mktemp) && export MONKEY_INSTALL_REPORT=$$report && \
	    { meson install -C build --no-rebuild; code=$$?; cat $$report; rm -f $$report; exit $$code; }

# What the last install has put there, but for the configuration.
uninstall:
	@packaging/uninstall build $$(sed -n 's/^prefix=//p' build/.chosen)

clean:
	rm -rf build build-*
