# The commands that people and CI type. `make` alone lists them.
.DEFAULT_GOAL := help
.PHONY: help packages build check test test-all lint demo bench bench-setup simulate fuzz sanitize fuzz-api torture completions man deb boot \
    clean

help:            ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' Makefile

packages:        ## install the Debian packages that are missing (asks for root only then)
	@scripts/packages

build: packages  ## build the release binaries into .build/release
	scripts/release-build

demo: packages   ## an upstream and the daemon on it, until Ctrl-C; SCHEMA=propdocs for another system, ARGS="--rows 100000" for more
	@scripts/demo $(if $(SCHEMA),--schema $(SCHEMA)) $(ARGS)

check: packages  ## the quick loop: lint, the fence, and the fast tests of the modules you edited; TESTS="CacheStoreTests" for others
	@scripts/check $(TESTS)

test: packages   ## run every test; FILTER="PusherTests" for some
	@scripts/test $(FILTER)

test-all: packages ## run every test with every draw of the randomized suites
	@scripts/test --all $(FILTER)

simulate: packages ## run SEEDS (2000) bad days from FIRST (1) against engine and store, or replay one: SEED=n
	@scripts/simulate $(if $(SEED),--seed $(SEED),--seeds $(or $(SEEDS),2000) --first $(or $(FIRST),1))

lint:            ## check formatting, the import fence, file sizes, and that each log line is explained
	swift format lint --strict -rp Sources Tests Package.swift
	scripts/import-fence --check
	scripts/file-sizes
	scripts/log-lines

bench: packages  ## measure against floors and rivals, write docs/benchmarks.md; ARGS="--smallest" to see that it works
	@scripts/bench $(ARGS)

bench-setup:     ## install what is measured against: nginx, wrk, and rivals from PyPI
	@scripts/bench-setup

fuzz: packages   ## fuzz what reads strangers' bytes for SECONDS (60) each; TARGETS="request schema page list cursor"
	Fuzz/run $(or $(SECONDS),60) $(TARGETS)

sanitize: packages ## run the tests, or FILTER's, under the thread and the address sanitizer, each built in a folder of its own
	scripts/sanitize $(FILTER)

fuzz-api: packages ## fuzz the local API from its own description: CASES (10000) requests from SEED (1)
	@scripts/fuzz-api --cases $(or $(CASES),10000) --seed $(or $(SEED),1)

torture: build   ## hurt the built daemon (crashes, power cuts, disks, …) for hours; ARGS="--small crashes" for less
	Tests/Torture/run $(or $(ARGS),--full)

completions: build ## shell completions into .build/share
	scripts/completions

man: build       ## man pages into .build/share/man
	scripts/manual

deb: completions man ## the Debian package into .build/deb; ARGS="--check" asks lintian about it
	scripts/deb $(ARGS)

boot: deb        ## prove the package on a Debian booted in a container; needs root
	Tests/Boot/run $(ARGS)

clean:           ## remove what was built
	rm -rf .build
