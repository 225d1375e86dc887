# The five things one does with this repository. Each can be typed on a fresh machine.
#
#   make demo     build, start a node, load it, print response times
#   make test     every test there is
#   make build    target/release/basalt
#   make lint     formatting, clippy, and the repository's own rules
#   make bench    this program and Apache Cassandra under the same load, two days in all; CELL=apm-W.synced for a part: bench/README.md
#   make bench-quick   the same in 20 minutes
#   make bench-micro   what single paths cost
#   make fuzz     each fuzz target for FUZZ_SECONDS
#   make differential   random statements on Basalt and on a stock Cassandra (JDK 17, Maven), DIFFERENTIAL="--seconds 600"
#   make oracle-record  asks a stock Cassandra anew for all that the tests expect of one
#   make torture  crashes, rubbish and large scans at the size that is promised: a quarter of an hour
#
# One profile (release) and one target folder serve them all, so that nothing is compiled twice. `make build PROFILE=dist`, and bench
# with the same word, take the profile of packages: quicker programs, minutes of compiling.

SHELL := /bin/bash
export PATH := $(PATH):$(HOME)/.cargo/bin
TARGET := $(or $(CARGO_TARGET_DIR),target)
FUZZ_SECONDS ?= 60
PROFILE = release
BUILT = $(abspath $(TARGET))/$(PROFILE)/basalt

.PHONY: build demo test lint bench bench-quick bench-micro fuzz differential oracle-record torture deps rocksdb
.DEFAULT_GOAL := build

build: rocksdb
	cargo build --locked --profile $(PROFILE) --workspace --bins

demo: build
	$(BUILT) demo

test: build
	cargo test --locked --release --workspace
	BASALT_BIN=$(BUILT) tests/drivers/run.sh
	tests/report/run.sh
	python3 -m unittest discover -s bench/tests
	BASALT_BIN=$(BUILT) tests/hlog/run.sh
	BASALT_BIN=$(BUILT) tests/instructions/run.sh

lint: rocksdb
	cargo fmt --all --check
	cargo clippy --locked --release --workspace --all-targets -- -D warnings
	cargo test --locked --release -p basalt-tidy

# Without CELL every cell; what is recorded already is not made again. `BENCH="--size trial --keep-void"`: to try it out.
bench: build
	BASALT_BIN=$(BUILT) bench/bench.py run $(CELL) $(BENCH)

bench-quick: build
	BASALT_BIN=$(BUILT) bench/bench.py quick $(BENCH)

bench-micro: rocksdb
	cargo bench --locked --workspace --benches

fuzz: rocksdb
	scripts/fuzz.sh $(FUZZ_SECONDS)

differential: build
	BASALT_BIN=$(BUILT) oracle/differential.sh $(or $(DIFFERENTIAL),--seconds 240)

oracle-record:
	oracle/record.sh

# The tests of tests/crash and the scan of tests/drivers, which `make test` runs in small.
torture: build
	BASALT_CRASH_ROUNDS=$(or $(BASALT_CRASH_ROUNDS),50) BASALT_FULL_DISK_ROUNDS=$(or $(BASALT_FULL_DISK_ROUNDS),12) \
	  BASALT_STORM_FRAMES=$(or $(BASALT_STORM_FRAMES),1000000) \
	  cargo test --locked --release -p basalt-crash-tests -- --nocapture
	BASALT_SCAN_ROWS=$(or $(BASALT_SCAN_ROWS),1000000) BASALT_BIN=$(BUILT) \
	  tests/drivers/run.sh scan

# Installs what is missing when it may, says what it needs when it may not; silent when all is there.
deps:
	@scripts/deps.sh

# RocksDB's C++, once per machine: docs/decisions/0001-building-rocksdb.md.
rocksdb: deps
	@scripts/rocksdb.sh >/dev/null
