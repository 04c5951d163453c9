# The commands for developers and CI. `make` alone lists them.
.DEFAULT_GOAL := help
.PHONY: help packages build check test test-all lint demo bench bench-setup simulate simulate-fleet simulate-crowd model fuzz sanitize fuzz-api page-test torture histories completions man deb \
    release boot interop conventions fleet feed standby guides mutants clean

help:            ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' Makefile

packages:        ## install missing Debian packages (needs root only if one is missing)
	@scripts/packages

build: packages  ## build the release binaries into .build/release
	scripts/release-build

demo: packages   ## run an upstream and the daemon until Ctrl-C; SCHEMA=propdocs for another, ARGS="--rows 100000" for more
	@scripts/release-build repairminder-sync >&2 && exec .build/release/repairminder-sync demo $(if $(SCHEMA),--schema $(SCHEMA)) $(ARGS)

check: packages  ## the quick loop: lint, the fence, and the fast tests of the modules you edited; TESTS="CacheStoreTests" for others
	@scripts/check $(TESTS)

test: packages   ## run every test; FILTER="PusherTests" for some
	@scripts/test $(FILTER)

test-all: packages ## run every test with every draw of the randomized suites
	@scripts/test --all $(FILTER)

simulate: packages ## simulate SEEDS (2000) bad days from FIRST (1), or replay one: SEED=n
	@scripts/simulate $(if $(SEED),--seed $(SEED),--seeds $(or $(SEEDS),2000) --first $(or $(FIRST),1))

simulate-fleet: packages ## simulate a week of 1000 machines at one upstream, and print its figures
	FLEET_DAYS=7 swift test --filter 'SimulationTests.FleetTests'

simulate-crowd: packages ## simulate 50 daemons that write the same records on one upstream: SEEDS (20) bad days from FIRST (1)
	CROWD_SEEDS=$(or $(SEEDS),20) FIRST_SEED=$(or $(FIRST),1) swift test --filter 'SimulationTests.CrowdTests'

model:           ## check the model of the protocol (docs/model) completely; needs the Debian package spin
	@docs/model/run

lint:            ## check formatting, imports, file sizes, undocumented log lines, shell scripts
	swift format lint --strict -rp Sources Tests Package.swift
	scripts/import-fence --check
	scripts/file-sizes
	scripts/log-lines
	scripts/shell-lint

bench: packages  ## measure against floors and competitors, write docs/benchmarks.md; ARGS="--smallest" to try it
	@scripts/bench $(ARGS)

bench-setup:     ## install what the benchmarks compare with: nginx, wrk, competitors from PyPI
	@scripts/bench-setup

fuzz: packages   ## fuzz the parsers of untrusted input, SECONDS (60) each; TARGETS="request schema page list cursor"
	Fuzz/run $(or $(SECONDS),60) $(TARGETS)

sanitize: packages ## run the tests (or those of FILTER) under the thread and the address sanitizer
	scripts/sanitize $(FILTER)

fuzz-api: packages ## fuzz the local API from its OpenAPI document: CASES (10000) requests from SEED (1)
	@scripts/fuzz-api --cases $(or $(CASES),10000) --seed $(or $(SEED),1)

torture: build   ## inject faults into the built daemon (crashes, power cuts, …) for hours; ARGS="--small crashes" for less
	Tests/Torture/run $(or $(ARGS),--full)

conventions: build ## drive the built daemon against servers of other conventions; ARGS="drf rails" for some
	Tests/Conventions/run $(ARGS)

fleet: build     ## let 12 built daemons write the same records on one upstream under faults; ARGS="--seed 7" for the choices of a run
	Tests/Fleet/run $(ARGS)

interop: build   ## let other programs judge the built daemon: REDbot, promtool, slowhttptest, …; ARGS="slow" for some
	Tests/Interop/run $(ARGS)

feed: build      ## feed daemons into a PostgreSQL that is killed in between (Debian: postgresql); ARGS="--kills 200 killed" for more
	Tests/Feed/run $(ARGS) || [ $$? -eq 77 ]

standby: build   ## take over between two daemons 100 times, with three members of etcd (Debian: etcd-server; root); ARGS=--small for 12
	Tests/Standby/run $(ARGS) || [ $$? -eq 77 ]

guides: build    ## follow guides by their commands: fleets, hooks, scripts, standby (Debian: minisign, etcd-server, etcd-client); ARGS="hooks" for some
	Tests/Guides/run $(ARGS)

page-test: packages ## tell the story of the page in Chromium (Debian: chromium, chromium-driver); ARGS="offline conflict" for some
	@Tests/Page/run $(ARGS) || [ $$? -eq 77 ]

histories:       ## test the checker of the fault tests' histories, or run it on FILES
	Tests/Torture/histories/$(if $(FILES),check $(FILES),test_checker.py)

mutants: packages ## change N (100) operators drawn from SEED (1), one at a time: a test must fail each time; ARGS="--list", "--only INDEX"
	@scripts/mutants --count $(or $(N),100) --seed $(or $(SEED),1) $(ARGS)

completions: build ## write shell completions to .build/share
	scripts/completions

man: build       ## write man pages to .build/share/man
	scripts/manual

release: completions man ## pack the package, a tarball, an SBOM, checksums and an apt repository in .build/dist; KEY= signs, ARGS="--check" checks
	@scripts/packages apt-utils binutils dpkg-dev gnupg
	scripts/release $(if $(KEY),--key $(KEY)) $(ARGS)

deb: completions man ## build the Debian package in .build/deb; ARGS="--check" runs lintian
	@scripts/packages binutils dpkg-dev
	scripts/deb $(ARGS)

boot: deb        ## test the package on a Debian booted in a container; needs root
	Tests/Boot/run $(ARGS)

clean:           ## remove all build output
	rm -rf .build
