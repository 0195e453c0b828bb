# Every target prints what it did and where its output is. `make help` lists them.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help verify test quick prove prove-record prove-slow prove-exhaustive prove-mutants properties simulate snapshots \
        theory theory-record theory-docs theory-setup setup chromium-setup what-setup-adds \
        bench bench-gate bench-gate-record bench-gate-setup bench-peers report experiments lint kani-setup need-cargo torture fuzz mutants digest-aarch64 wheel python-build python-test python-bench

# auto: run Kani where it is set up; required: fail where it is not; off: do not look for it.
KANI ?= auto
# auto: have Coq check the theorems where it is installed, else quote the committed record; required; off.
THEORY ?= auto
# The part of the simulated logs that make simulate draws.
SIMULATE ?= 1
OUT := target/lpf
CARGO ?= cargo
# Snapshots are reviewed by a person (`cargo insta review`), never accepted by a run.
export INSTA_UPDATE ?= no
export KANI THEORY
# Generated cases are the same in every run; another number draws others.
export PROPTEST_RNG_SEED ?= 1

# $(call stage,NAME,COMMAND): runs a stage, notes its time and outcome, goes on after a failure.
define stage
	@start=$$(date +%s); printf '\n== %s\n' '$(1)'; \
	if $(2); then outcome=ok; else outcome=FAILED; fi; \
	printf '%s\t%s\t%s\n' '$(1)' "$$outcome" "$$(( $$(date +%s) - start ))" >> $(OUT)/stages.tsv
endef

help: ## List the targets.
	@echo 'lpf-verify: evidence for the guarantees of Latent Posterior Factors'
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 26

need-cargo:
	@command -v $(CARGO) >/dev/null || { \
	  echo 'cargo is missing. Install Rust 1.89 or later (https://rustup.rs), then run this again.'; exit 1; }

# The main job computes long: all of it is built once, optimized. `make test` runs the same properties and
# snapshots with every run-time check on; RELEASE= does so here, with what `make test` has built.
RELEASE ?= --release
VERIFY_TESTS := --lib --test properties --test snapshots

verify: need-cargo ## The main job: proofs, properties, snapshots, then the ledger's verdicts and the report.
	@mkdir -p $(OUT) && : > $(OUT)/stages.tsv
	$(call stage,build,$(CARGO) build --quiet --release --bin lpf && \
	  $(CARGO) build --quiet $(RELEASE) --example prove --example theory && \
	  $(CARGO) test --quiet $(RELEASE) --no-run $(VERIFY_TESTS))
	$(call stage,prove,$(MAKE) --no-print-directory prove)
	$(call stage,theory,$(MAKE) --no-print-directory theory)
	$(call stage,properties,$(MAKE) --no-print-directory properties)
	$(call stage,snapshots,$(MAKE) --no-print-directory snapshots)
	$(call stage,experiments and report,$(MAKE) --no-print-directory report)
	@printf '\n%-24s %-8s %s\n' stage outcome seconds; \
	awk -F'\t' '{ printf "%-24s %-8s %7d\n", $$1, $$2, $$3; t += $$3; bad += $$2 != "ok" } \
	  END { printf "%-24s %-8s %7d\n", "all", bad ? "FAILED" : "ok", t; exit bad > 0 }' $(OUT)/stages.tsv
	@echo 'report: $(OUT)/report/index.html'
	@$(MAKE) --no-print-directory what-setup-adds

# Packages that are selected beside each other share what is built of their dependencies; with another selection,
# so with other features, cargo builds all of it anew. PACKAGES='$(BOTH)' lets python-test use what test has built.
BOTH := --package lpf-verify --package lpf-python
PACKAGES ?=

test: need-cargo ## All tests but those of python-test: unit, proof harnesses, properties, snapshots, end to end.
	$(CARGO) test $(PACKAGES)
	@echo 'make test: all tests passed'

# The rooms with a change in the working tree, as test filters.
ROOMS ?= $(shell git status --porcelain -- src 2>/dev/null | sed -nE 's,.* src/([a-z]+)/.*,\1::,p' | sort -u)

quick: need-cargo ## While editing: format, types, and the unit tests of the rooms that changed (ROOMS="spn:: math::" for others).
	$(CARGO) fmt --all --check
	$(CARGO) check --quiet
	@if [ -n '$(ROOMS)' ]; then \
	  CARGO_PROFILE_DEV_OPT_LEVEL=0 $(CARGO) test --quiet --lib -- $(ROOMS); \
	  echo 'make quick: $(ROOMS) passed'; \
	else echo 'make quick: no room of src has changed; name some with ROOMS="spn:: math::"'; fi

prove: need-cargo ## Proof harnesses under cargo test, then under Kani where it is set up.
	$(CARGO) run --quiet $(RELEASE) --example prove
	@echo 'make prove: outcome in $(OUT)/proofs.json'

prove-record: need-cargo ## All harnesses under Kani (ONLY=stale: those whose sources changed); writes proofs/record.json, to be committed.
	$(CARGO) run --quiet $(RELEASE) --example prove -- record $(ONLY)

prove-slow: need-cargo ## As prove, with the slow Kani harnesses too.
	KANI=required $(CARGO) run --quiet $(RELEASE) --example prove -- slow
	@echo 'make prove-slow: outcome in $(OUT)/proofs.json'

prove-exhaustive: need-cargo ## All 2^32 singles through the unary kernels (minutes).
	$(CARGO) run --quiet --release --example prove -- exhaustive

prove-mutants: need-cargo ## Deliberate faults: each must be caught by a harness (minutes); KANI=required: under Kani, writes proofs/faults.json.
	$(CARGO) run --quiet $(RELEASE) --example prove -- mutants $(ONLY)

theory: need-cargo ## Theorems checked by Coq where it is installed (theory-setup), else their record.
	$(CARGO) run --quiet $(RELEASE) --example theory
	@echo 'make theory: outcome in $(OUT)/theory.json'

theory-record: need-cargo ## All theorems from nothing; writes the record that is committed.
	$(CARGO) run --quiet $(RELEASE) --example theory -- record

theory-docs: need-cargo ## The tables of docs/theory.md, from the sources of the theorems.
	$(CARGO) run --quiet $(RELEASE) --example theory -- docs

properties: need-cargo ## Statistical properties, each with its negative control; LPF_SEED=random for a new seed.
	$(CARGO) test --quiet $(RELEASE) --test properties
	@echo 'make properties: outcome in $(OUT)/properties.json'

simulate: need-cargo ## The audit on many simulated logs: false verdicts, power, rows that decide (an hour or so; SIMULATE=0.1 a tenth).
	LPF_SIMULATE=$(SIMULATE) $(CARGO) test --release --test properties audit.
	@echo 'make simulate: all rates in $(OUT)/simulation.md'

snapshots: need-cargo ## The paper's tables and our own, against the pinned ones.
	$(CARGO) test --quiet $(RELEASE) --test snapshots
	@echo 'make snapshots: pinned tables are in snapshots/; review changes with cargo insta review'

report: need-cargo ## The ledger's verdicts, the experiments, and the report of both.
	$(CARGO) run --quiet --release -- verify
	@echo 'make report: $(OUT)/report/index.html'

experiments: need-cargo ## The paper's experiments: tables and figures as files.
	$(CARGO) run --quiet --release -- experiment all --format html --output $(OUT)/experiments
	@echo 'make experiments: one page and its figures for each in $(OUT)/experiments/'

bench: need-cargo ## Criterion benchmarks, each beside its stated peer or limit.
	$(CARGO) bench --benches
	@echo 'make bench: details in target/criterion/'

# Only the rooms that compute are built, half a minute from nothing; the counts are the same on a busy machine.
GATE := $(CARGO) build --quiet --locked --profile gate --package lpf-gate && target/gate/lpf-gate

bench-gate: need-cargo ## Instructions of each kernel under callgrind, against the committed counts (3 % either way).
	$(GATE)
	@echo 'make bench-gate: all counts hold'

bench-gate-record: need-cargo ## Counts them anew: benches/gate/counts.txt, to be committed.
	$(GATE) record

bench-gate-setup: ## Install Valgrind, which bench-gate needs (Debian, Ubuntu).
	@if command -v valgrind >/dev/null; then echo 'make bench-gate-setup: it is there'; \
	elif command -v apt-get >/dev/null; then \
	  $(ROOT) apt-get update -qq && \
	  $(ROOT) env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends valgrind libc6-dbg >/dev/null && \
	  echo 'make bench-gate-setup: installed'; \
	else echo 'Install Valgrind 3.19 or later; there is none for macOS.'; exit 1; fi

# Every peer in one environment. PyTorch comes with what it needs of CUDA, some gigabytes, without which its
# wheel does not start; what depends on PyTorch is taken without dependencies that nothing here uses.
PEERS := target/peers
$(PEERS)/made: benches/peer/peers.txt benches/peer/peers-on-torch.txt
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/pip install --quiet --disable-pip-version-check --requirement benches/peer/peers.txt
	$(PEERS)/bin/pip install --quiet --disable-pip-version-check --no-deps --requirement benches/peer/peers-on-torch.txt
	@touch $@

bench-peers: need-cargo $(PEERS)/made ## lpf beside epalea, PyTorch, netcal, scikit-learn, polars, pandas, SPFlow: benches/peer/RESULTS.md.
	$(CARGO) build --quiet --release --bin lpf
	$(CARGO) build --quiet --locked --profile gate --package lpf-gate
	$(PEERS)/bin/python benches/peer/peers.py

torture: need-cargo ## Every system call that writes refused, and the process killed at it (needs strace, minutes).
	$(CARGO) build --quiet --release --bin lpf
	tests/torture/syscalls.sh target/release/lpf

# The Python package: see python/README.md. Its environment is made anew whenever what it needs changes. One
# build is for every interpreter, and needs none.
PYTHON ?= python3
VENV := target/python
DYLIB := $(if $(filter Darwin,$(shell uname)),lib_lpf.dylib,lib_lpf.so)
lint python-build python-test: export PYO3_NO_PYTHON := 1
lint python-build python-test: export PYO3_BUILD_EXTENSION_MODULE := 1

$(VENV)/made: python/pyproject.toml
	$(PYTHON) -m venv --clear $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check 'maturin>=1.9.4,<2' pytest mypy scikit-learn mapie pandas polars pyarrow
	@touch $@

# An example, as its dependencies are those of tests.
python-build: need-cargo
	$(CARGO) build --quiet $(BOTH) --lib --example theory
	@install -m 755 target/debug/$(DYLIB) python/lpf/_lpf.abi3.so

python-test: python-build $(VENV)/made ## The Python package: its tests against peers, types, doctests, the example.
	cd python && PYTHONPATH='$(CURDIR)/python' ../$(VENV)/bin/python -m pytest
	@echo 'make python-test: all tests of the Python package passed'

wheel: need-cargo $(VENV)/made ## The wheel of the Python package, with the command lpf in it: target/wheels.
	rm -rf target/wheels target/wheel-test
	cd python && ../$(VENV)/bin/maturin build --quiet --release --out ../target/wheels
	$(PYTHON) -m venv target/wheel-test
	target/wheel-test/bin/pip install --quiet --disable-pip-version-check target/wheels/*.whl
	cd target && wheel-test/bin/lpf --version && wheel-test/bin/python -c "import lpf; print(lpf.audit([1, 0], [0.8, 0.3]))"
	@ls -sh target/wheels/*.whl; echo 'make wheel: pip install target/wheels/*.whl'

python-bench: need-cargo $(PEERS)/made ## A million rows from a DataFrame beside netcal and scikit-learn, in the environment of bench-peers.
	$(PEERS)/bin/pip install --quiet --disable-pip-version-check pytest ./python
	cd python/tests && $(abspath $(PEERS))/bin/python -m pytest -q test_metrics.py
	$(PEERS)/bin/python python/bench.py

# Seconds for each fuzz target.
FUZZ_SECONDS ?= 60
FUZZ_TARGETS := $(notdir $(wildcard tests/fuzz/corpus/*))

fuzz: need-cargo ## Coverage-guided fuzzing of every reader (needs nightly and cargo-fuzz; FUZZ_SECONDS for each).
	@for target in $(FUZZ_TARGETS); do \
	  mkdir -p "$(OUT)/fuzz/$$target"; \
	  $(CARGO) +nightly fuzz run "$$target" "$(OUT)/fuzz/$$target" "tests/fuzz/corpus/$$target" -- \
	    -max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=1024 -timeout=30 -max_len=65536 || exit 1; \
	done
	@echo 'make fuzz: no crash; what reached new code is kept in $(OUT)/fuzz/'

# A fixed sample of some 75 mutants over the numeric rooms: about one in 105.
MUTANTS_SHARD ?= 0/105

mutants: need-cargo ## A fixed sample of mutants of the numeric rooms, each to be caught by the unit tests (needs cargo-mutants and Python).
	$(PYTHON) tests/mutants/run.py $(OUT)/mutants '$(MUTANTS_SHARD)'
	@echo 'make mutants: which test caught which in $(OUT)/mutants/mutants.md'

# Debian's packages: gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user; and the target of rustup. The
# whole of the experiments takes an emulated processor hours; these sizes reach all of their code.
DIGEST_SIZES ?= --trials 2 --entities 120 --epochs 2

digest-aarch64: need-cargo ## The experiments on an emulated aarch64 processor: the same digest as here (DIGEST_SIZES= for the paper's sizes).
	rustup target add aarch64-unknown-linux-gnu
	$(CARGO) build --quiet --release --bin lpf
	CC_aarch64_unknown_linux_gnu=aarch64-linux-gnu-gcc CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
	  $(CARGO) build --quiet --release --bin lpf --target aarch64-unknown-linux-gnu
	@mkdir -p $(OUT)
	target/release/lpf experiment all $(DIGEST_SIZES) > $(OUT)/digest-here.txt
	QEMU_LD_PREFIX=/usr/aarch64-linux-gnu qemu-aarch64 target/aarch64-unknown-linux-gnu/release/lpf \
	  experiment all $(DIGEST_SIZES) > $(OUT)/digest-aarch64.txt
	cmp $(OUT)/digest-here.txt $(OUT)/digest-aarch64.txt
	@echo "make digest-aarch64: the same tables, to the last byte; $$(tail -n 1 $(OUT)/digest-aarch64.txt)"

lint: need-cargo ## Formatting, clippy and documentation; no warnings.
	$(CARGO) fmt --all --check
	$(CARGO) clippy --quiet $(BOTH) --all-targets -- -D warnings
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --quiet $(BOTH) --no-deps
	@echo 'make lint: clean'

kani-setup: need-cargo ## Install the pinned Kani.
	$(CARGO) install --locked kani-verifier --version 0.68.0
	$(CARGO) kani setup
	@echo 'make kani-setup: Kani 0.68.0'

# Debian 12's versions are the ones of the record: Coq 8.16.1, Coquelicot 3.2, Flocq 4.1, Interval 4.6.
COQ_PACKAGES := coq libcoq-coquelicot libcoq-flocq libcoq-interval
ROOT := $(shell [ "$$(id -u)" = 0 ] || echo sudo)

theory-setup: ## Install Coq and its libraries (Debian, Ubuntu; says what to do elsewhere).
	@if command -v coqc coqchk >/dev/null && [ -d "$$(coqc -where)/user-contrib/Interval" ]; then \
	  echo "make theory-setup: Coq $$(coqc --print-version | cut -d' ' -f1) is there"; \
	elif command -v apt-get >/dev/null; then \
	  $(ROOT) apt-get update -qq && \
	  $(ROOT) env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(COQ_PACKAGES) >/dev/null && \
	  echo "make theory-setup: Coq $$(coqc --print-version | cut -d' ' -f1) installed"; \
	else \
	  echo 'Coq is installed by opam here (macOS: brew install opam; elsewhere https://opam.ocaml.org/doc/Install.html):'; \
	  echo '  opam init --bare -y && opam switch create lpf 4.14.2 && eval $$(opam env --switch=lpf)'; \
	  echo '  opam repo add coq-released https://coq.inria.fr/opam/released'; \
	  echo '  opam install -y coq.8.16.1 coq-coquelicot.3.2.0 coq-flocq.4.1.0 coq-interval.4.6.1'; \
	  echo 'Without it, make theory quotes the committed record.'; exit 1; \
	fi

chromium-setup: ## Install Chromium, in which the tests open the pages (Debian, Ubuntu).
	@if command -v chromium chromium-browser google-chrome >/dev/null; then echo 'make chromium-setup: it is there'; \
	elif command -v apt-get >/dev/null; then \
	  $(ROOT) apt-get update -qq && \
	  $(ROOT) env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null && \
	  echo 'make chromium-setup: installed'; \
	else echo 'Install Chromium or Chrome (macOS: brew install --cask chromium).'; exit 1; fi

setup: need-cargo ## All optional set-up in one command: Coq, Kani, Chromium. Goes on where one cannot be had.
	@for part in theory-setup kani-setup chromium-setup; do \
	  $(MAKE) --no-print-directory $$part || missing="$${missing:-} $$part"; \
	done; \
	if [ -n "$${missing:-}" ]; then echo "make setup: not set up:$$missing"; exit 1; fi; \
	echo 'make setup: Coq, Kani and Chromium are there'

what-setup-adds:
	@add=; \
	command -v coqc >/dev/null || add="$$add, Coq (checks every theorem again instead of quoting the record)"; \
	cargo kani --version >/dev/null 2>&1 || add="$$add, Kani (proves the harnesses instead of testing them)"; \
	command -v chromium chromium-browser google-chrome >/dev/null || add="$$add, Chromium (the tests open the pages in it)"; \
	if [ -n "$$add" ]; then echo "make setup would add: $${add#, }"; fi
