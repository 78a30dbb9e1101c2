# `make help` lists what there is. Two targets do everything on a fresh machine with Python, make
# and git: `make demo` and `make test`; each sets up what it needs first.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

VENV ?= .venv
# The first Python that Remit supports; setup says what to do where there is none.
PYTHON ?= $(firstword $(foreach name,python3 python3.13 python3.12 python3.11,$(shell \
	$(name) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' \
	>/dev/null 2>&1 && echo $(name))) python3)
# Processes that run the tests of one layer side by side.
JOBS ?= 2
# More options for pytest, such as ARGS="-k trigger".
ARGS ?=

BIN := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest
MEMBERS := $(sort $(patsubst %/pyproject.toml,%,$(wildcard libs/*/pyproject.toml services/*/pyproject.toml)))
SOURCES := $(MEMBERS:=/src)

# Interpreters that start again and again, as the services do, should find compiled modules.
unexport PYTHONDONTWRITEBYTECODE
# An editable workspace needs no path from the caller's shell.
unexport PYTHONPATH

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  %-12s %s\n", $$1, $$2 }'

# -- set-up ---------------------------------------------------------------------------------

.PHONY: setup
setup: ## make .venv and install the locked requirements and the workspace; quick when nothing changed
	@REMIT_VENV="$(abspath $(VENV))" $(PYTHON) scripts/setup_venv.py

.PHONY: fixtures
fixtures: setup ## install what the tests read from npm packages, where node is
	@if [ -x tests/fixtures/npm/install.sh ] && command -v npm >/dev/null; then \
		tests/fixtures/npm/install.sh; \
	elif [ -n "$${CI:-}" ]; then \
		echo "fixtures: node and npm are needed where CI is set" >&2; exit 1; \
	else \
		echo "fixtures: no npm here; the tests that read its packages will be skipped"; \
	fi

# -- run ------------------------------------------------------------------------------------

.PHONY: demo
demo: setup ## show a message become a pull request; ONCE=1 verifies all of it and exits
	@$(BIN)/remit demo $(if $(ONCE),--once) $(ARGS)

.PHONY: up
up: setup ## run everything on this machine
	@$(BIN)/remit up $(ARGS)

# -- checks ---------------------------------------------------------------------------------

.PHONY: test
test: ## set up, then run every check and every layer of tests, the slow ones last
	@$(MAKE) --no-print-directory lint types walls lock-check docs-check
	@$(MAKE) --no-print-directory unit
	@$(MAKE) --no-print-directory integration
	@$(MAKE) --no-print-directory e2e
	@$(MAKE) --no-print-directory chaos
	@$(MAKE) --no-print-directory bench-smoke

.PHONY: lint
lint: setup ## check style and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

.PHONY: types
types: setup ## check types, strictly
	$(BIN)/mypy $(SOURCES) tests/support scripts

.PHONY: walls
walls: setup ## check which part may import which
	$(BIN)/lint-imports --no-cache

.PHONY: unit
unit: fixtures ## tests without sockets or waiting
	$(PYTEST) tests/unit -n $(JOBS) $(ARGS)

.PHONY: integration
integration: fixtures ## tests against a real nats-server, Valkey and git
	$(PYTEST) tests/integration -n $(JOBS) $(ARGS)

.PHONY: e2e
e2e: fixtures ## tests of the whole, each service a process
	$(PYTEST) tests/e2e -n $(JOBS) --dist loadfile $(ARGS)

.PHONY: chaos
chaos: fixtures ## tests that kill and pause what runs
	@# They mostly wait: for what was in the hands of the dead to be delivered again.
	$(PYTEST) tests/chaos -n $$((2 * $(JOBS))) $(ARGS)

.PHONY: bench-smoke
bench-smoke: fixtures ## see that the benchmark runs
	$(PYTEST) tests/bench $(ARGS)

.PHONY: bench
bench: setup ## print throughput and latency beside the bus's own limit
	PYTHONPATH=tests $(BIN)/python -m bench $(ARGS)

.PHONY: asyncapi
asyncapi: setup ## write docs/asyncapi.json anew from the models
	$(BIN)/python -m remit.runtime.asyncapi > docs/asyncapi.json

.PHONY: docs-check
docs-check: setup ## check that links in the documentation lead somewhere
	$(BIN)/python scripts/check_docs.py

# -- upkeep ---------------------------------------------------------------------------------

.PHONY: format
format: setup ## put style and formatting right
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.PHONY: lock
lock: setup ## write requirements/ from the pyproject files; UPGRADE=1 takes the newest versions
	$(BIN)/python scripts/lock.py $(if $(UPGRADE),--upgrade)

.PHONY: lock-check
lock-check: setup ## check that requirements/ is current
	$(BIN)/python scripts/lock.py --check

.PHONY: clean
clean: ## remove the environment and every cache
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis build dist
	find libs services tests scripts -name __pycache__ -type d -prune -exec rm -rf {} +
