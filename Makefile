# Every target makes the environment it needs in .venv; with PYTHON=/path/to/python set, that
# environment is used as it is and nothing is installed.

ifdef PYTHON
  PY := $(PYTHON)
  CORE :=
  TESTS :=
  BENCH :=
else
  PY := .venv/bin/python
  CORE := .venv/.core
  TESTS := .venv/.tests
  BENCH := .venv/.bench
endif

PIP = .venv/bin/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt
EXAMPLE := docs/example/legacy_train.py

.DEFAULT_GOAL := help
.PHONY: help test lint typecheck pytest migrate compare bench clean

help:
	@echo 'make test                      ruff, mypy --strict and pytest (the first time: about 5 GB of wheels)'
	@echo 'make migrate TARGET=path       show what the migration of path would change; WRITE=1 changes it'
	@echo 'make migrate                   the same for the bundled legacy example'
	@echo 'make compare                   the comparison of Apex amp and native AMP'
	@echo 'make bench                     how fast the migration is'
	@echo 'make clean                     remove .venv and the caches'
	@echo
	@echo 'PYTHON=/path/to/python make …  use that environment and install nothing'

test: lint typecheck pytest

lint: $(TESTS)
	$(PY) -m ruff check .

typecheck: $(TESTS)
	$(PY) -m mypy --strict migrate compare

pytest: $(TESTS)
	$(PY) -m pytest -q -n 2

# Exit code 1 says that something is left to do, which is what a dry run is for.
migrate: $(CORE)
ifdef WRITE
ifndef TARGET
	$(error WRITE=1 needs TARGET=path)
endif
endif
	@$(PY) -m migrate $(if $(WRITE),--write) "$(or $(TARGET),$(EXAMPLE))" || [ $$? -eq 1 ]

compare: $(CORE)
	@$(PY) -m compare

bench: $(BENCH)
	$(PY) tests/bench/run.py

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis

# ---------------------------------------------------------------- environments

# The first Python that is new enough and can make an environment.
.venv/.made:
	@for python in python3 python3.13 python3.12 python3.11 python3.10; do \
	  if $$python -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then \
	    echo "making .venv with $$python"; $$python -m venv .venv && touch $@; exit; \
	  fi; \
	done; \
	echo 'no Python 3.10 or newer with venv was found: install one, or set PYTHON=/path/to/python' >&2; exit 1

.venv/.core: .venv/.made pyproject.toml constraints.txt
	$(PIP) --editable .
	@touch $@

.venv/.tests: .venv/.made pyproject.toml constraints.txt
	$(PIP) --editable '.[dev,compare]'
	@touch $@ .venv/.core

.venv/.bench: .venv/.made pyproject.toml constraints.txt
	$(PIP) --editable '.[bench]'
	@touch $@ .venv/.core
