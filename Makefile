# Everything a command needs, it installs: only Python, make and a network are assumed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OLDEST := .venv-oldest
PEERS := .venv-peers
INSTALLED := $(VENV)/.installed-
# numba does not see edits of a function that a cached kernel calls in another file: one cache per state of the sources
export NUMBA_CACHE_DIR := $(CURDIR)/.numba_cache/$(shell find src -name "*.py" | sort | xargs cat | cksum | cut -d' ' -f1)

# two at a time, a file in one process: what it has fitted it keeps
TOGETHER := -n 2 --dist loadfile

.PHONY: demo newcomer test test-full test-oldest docs bench bench-scale lint clean

demo: $(INSTALLED)demo
	$(BIN)/countarfactuals demo

# what a newcomer does, in an environment of its own
newcomer:
	PYTHON=$(PYTHON) examples/newcomer.sh

test: $(INSTALLED)test lint
	$(BIN)/python -m pytest -q $(TOGETHER)

# everything, 10,000 cases per property, and once more with the oldest supported pandas and NumPy
test-full: $(INSTALLED)test lint test-oldest
	$(BIN)/python -m pytest -q $(TOGETHER) -m "full or not full" --hypothesis-profile=full

test-oldest: $(OLDEST)/.installed
	$(OLDEST)/bin/python -m pytest -q $(TOGETHER) -p no:cacheprovider tests src

$(OLDEST)/.installed: pyproject.toml oldest.txt
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check -c oldest.txt -e ".[test]"
	touch $@

# the site, in docs/_build/html; links between pages are checked, and nothing is fetched
docs: $(INSTALLED)docs
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

lint: $(INSTALLED)test
	$(BIN)/ruff check . && $(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# PAPER=<folder> adds the published sets, SHORT=1 takes few real tables and seeds
bench: $(INSTALLED)bench $(PEERS)/.installed
	$(BIN)/python benchmarks/run.py --peers $(PEERS)/bin/python $(if $(PAPER),--paper $(PAPER)) $(if $(SHORT),--short)

bench-scale: $(INSTALLED)test
	$(BIN)/python benchmarks/bench_scale.py

$(PEERS)/.installed: benchmarks/peers.txt
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check -r benchmarks/peers.txt
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps NICEx==0.2.3
	touch $@

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(INSTALLED)%: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[$*]"
	touch $@

$(INSTALLED)demo: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[plot]"
	touch $@

clean:
	rm -rf $(VENV) $(OLDEST) $(PEERS) .numba_cache .mypy_cache .pytest_cache .ruff_cache
