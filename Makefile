# make demo and make test each work alone on a fresh clone with Python 3.11+ and make: they create .venv and install.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test test-fast test-slow lint stats bench clean

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("memspan needs Python 3.11 or newer, got %d.%d" % sys.version_info[:2] if sys.version_info < (3, 11) else 0)'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) -e .
	touch $@

.venv/installed-dev: .venv/installed
	$(PIP) -e '.[dev,bench,models,hf,rl]'
	touch $@

.venv/installed-models: .venv/installed
	$(PIP) -e '.[models]'
	touch $@

demo: .venv/installed-models
	$(BIN)/memspan demo

lint: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports --no-cache

test: lint
	$(BIN)/python -m pytest -n 2

# The slowest tests are those that train, draw whole reports or run the documentation: whole folders and files.
FAST_SKIPS := presentation training cli bench reproductions objectives diagnostics test_documents.py test_extension.py sampling
test-fast: .venv/installed-dev
	$(BIN)/python -m pytest -n 2 $(foreach part,$(FAST_SKIPS),--ignore=tests/$(part))

test-slow: .venv/installed-dev
	$(BIN)/python -m pytest -n 2 -m 'slow or not slow'

stats: .venv/installed-dev
	$(BIN)/python tests/code_stats.py

bench: .venv/installed-dev
	$(BIN)/memspan bench

clean:
	rm -rf .venv memspan-demo
