# Everything a command needs, it installs: only Python, make and a network are assumed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OLDEST := .venv-oldest
PEERS := .venv-peers
RELEASE := .venv-release
# the versions that are known to work together, for everything but the oldest ones
LOCK := $(if $(wildcard constraints.txt),-c constraints.txt)
INSTALLED := $(VENV)/.installed-
# numba does not see edits of a function that a cached kernel calls in another file: one cache per state of the sources
export NUMBA_CACHE_DIR := $(CURDIR)/.numba_cache/$(shell find src -name "*.py" | sort | xargs cat | cksum | cut -d' ' -f1)

# two at a time, a file in one process: what it has fitted it keeps; one thread each, as those that wait for a core spin
PYTEST := env OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
TOGETHER := -n 2 --dist loadfile

.PHONY: demo kernels newcomer test test-full test-scale test-oldest docs phrases bench bench-scale lint dist lock torture clean

demo: $(INSTALLED)demo
	$(BIN)/countarfactuals demo

# what a newcomer does, in an environment of its own
newcomer:
	PYTHON=$(PYTHON) examples/newcomer.sh

test: $(INSTALLED)test lint
	$(PYTEST) $(BIN)/python -m pytest -q $(TOGETHER)

# everything, 10,000 cases per property, and once more with the oldest supported pandas and NumPy
test-full: $(INSTALLED)test lint test-oldest
	$(PYTEST) $(BIN)/python -m pytest -q $(TOGETHER) -m "not scale" --hypothesis-profile=full

# on clusters of Spark and Ray on this machine; without Java the tests of Spark are skipped and say so
test-scale: $(INSTALLED)scale
	$(BIN)/python -m pytest -q -rs -m scale tests

test-oldest: $(OLDEST)/.installed
	$(PYTEST) $(OLDEST)/bin/python -m pytest -q $(TOGETHER) -p no:cacheprovider tests src

$(OLDEST)/.installed: pyproject.toml oldest.txt
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check -c oldest.txt -e ".[test]"
	touch $@

# the site, in docs/_build/html; links between pages are checked, and nothing is fetched
docs: $(INSTALLED)docs
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

# complete a file of phrases: what is new is added without a translation; another language by FILE=nl.po
phrases: $(INSTALLED)demo
	$(BIN)/python -m countarfactuals.language.extraction $(or $(FILE),src/countarfactuals/language/catalogues/de.po)

# which kernels are compiled ahead: heard while everything is used once
kernels: $(INSTALLED)test
	$(BIN)/python tests/kernels.py

lint: $(INSTALLED)test
	$(BIN)/ruff check . && $(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# PAPER=<folder> adds the published sets, SHORT=1 takes few real tables and seeds
bench: $(INSTALLED)bench $(PEERS)/.installed
	$(BIN)/python benchmarks/run.py --peers $(PEERS)/bin/python $(if $(PAPER),--paper $(PAPER)) $(if $(SHORT),--short)

bench-scale: $(INSTALLED)test
	$(BIN)/python benchmarks/bench_scale.py
	$(BIN)/python benchmarks/bench_scale.py --rows 1000000 3000000 10000000 --parquet

# faults and load, as a table of figures: 40 minutes; SHARE=0.1 does a tenth of it
torture: $(INSTALLED)test
	$(PYTEST) $(BIN)/python -W ignore -m tests.torture --share $(or $(SHARE),1)

# sdist, wheel and list of parts in dist/, tried in clean environments of every Python at hand
dist: $(RELEASE)/.installed
	$(RELEASE)/bin/python release/dist.py

# constraints.txt anew: the newest versions that go together, for every Python and system
lock: $(RELEASE)/.installed
	$(RELEASE)/bin/uv pip compile pyproject.toml --quiet --upgrade --universal --python-version 3.11 --all-extras \
		--no-header --no-annotate --no-emit-index-url -o constraints.txt

$(RELEASE)/.installed: release/tools.txt
	$(PYTHON) -m venv $(RELEASE)
	$(RELEASE)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	touch $@

$(PEERS)/.installed: benchmarks/peers.txt
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check -r benchmarks/peers.txt
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps NICEx==0.2.3
	touch $@

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(INSTALLED)%: $(VENV)/bin/python pyproject.toml $(wildcard constraints.txt)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(LOCK) -e ".[$*]"
	touch $@

$(INSTALLED)demo: $(VENV)/bin/python pyproject.toml $(wildcard constraints.txt)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(LOCK) -e ".[plot]"
	touch $@

clean:
	rm -rf $(VENV) $(OLDEST) $(PEERS) $(RELEASE) dist .numba_cache .mypy_cache .pytest_cache .ruff_cache
