# The commands that people and CI type. `make` alone lists them.
.DEFAULT_GOAL := help
.PHONY: help packages build test lint demo bench simulate fuzz completions man clean

help:            ## list these commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' Makefile

packages:        ## install the Debian packages that are missing (asks for root only then)
	@scripts/packages

build: packages  ## build the release binaries into .build/release
	swift build -c release

demo: packages   ## a small repair shop, its upstream and the daemon, until Ctrl-C; ARGS="--rows 100000" for more
	@scripts/demo $(ARGS)

# One at a time: some tests hold sockets open on purpose, and on two cores they would starve each other.
test: packages   ## run every test
	swift build --build-tests
	swift test --skip-build --no-parallel

simulate: packages ## run SEEDS (2000) bad days from FIRST (1) against engine and store, or replay one: SEED=n
	@scripts/simulate $(if $(SEED),--seed $(SEED),--seeds $(or $(SEEDS),2000) --first $(or $(FIRST),1))

lint:            ## formatting, imports, line counts
	swift format lint --strict -rp Sources Tests Package.swift
	scripts/import-fence
	scripts/file-sizes

bench: packages  ## measure against the floor and print ratios; needs wrk
	@scripts/bench $(ARGS)

fuzz:            ## fuzz the HTTP parser for SECONDS (60)
	Fuzz/run $(or $(SECONDS),60)

completions: build ## shell completions into .build/share
	scripts/completions

man: build       ## man pages into .build/share/man
	scripts/manual

clean:           ## remove what was built
	rm -rf .build
