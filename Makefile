# maskproof: `make verify` and `make test` need Python 3.11 or later and make, nothing else.
# Another interpreter: make verify PYTHON=/path/to/python3.12 (remembered). Options for the tool that runs: ARGS="...".

PYTHON ?= python3
ARGS ?=
VENV := .venv
RUN := $(VENV)/bin/python
READY := $(VENV)/.ready
GENERATED := proofs/verdicts.json paper_notes.md README.md docs/audit.md

GOALS := verify test slow survey check lint types format bench generate stale notebooks site formal setup clean help
.DEFAULT_GOAL := help
.PHONY: $(GOALS)

# Recipes use paths relative to this file, so spaces in its own path do no harm. Called from another
# directory (make -f .../Makefile), it starts again in its own.
HERE := $(shell cd "$$(dirname "$(strip $(MAKEFILE_LIST))")" && pwd -P)

ifneq ($(HERE),$(CURDIR))

$(GOALS):
	@$(MAKE) --no-print-directory -C "$(HERE)" $@

else

help:
	@echo "make verify    check every shipped claim and print its verdict"
	@echo "make test      run the tests (make slow: the long ones)"
	@echo "make survey    judge 20,000 random claims and hold the verdicts against an independent evaluation"
	@echo "make check     lint, types and tests"
	@echo "make format    rewrite the code in the house's layout"
	@echo "make notebooks run the proof notebooks (ARGS=--accept writes what they show)"
	@echo "make site      build the site into build/site"
	@echo "make formal    write every proof for Coq and let Coq check it (needs Coq; ARGS=--accept records it)"
	@echo "make generate  rewrite the generated files: $(GENERATED), notebooks"
	@echo "make stale     fail if one of these files is not what make generate would write (notebooks: make test)"
	@echo "make bench     compare the Monte Carlo engine with plain simulation"
	@echo "make clean     delete the environment, caches and build products"

setup: $(READY)
	@:

verify: $(READY)
	@$(VENV)/bin/maskproof verify $(ARGS)

test: $(READY)
	@$(RUN) -m pytest -n auto --dist worksteal $(ARGS)

slow: $(READY)
	@$(RUN) -m pytest -n auto --dist worksteal -m slow $(ARGS)

survey: $(READY)
	@$(RUN) -m pytest -n auto --dist worksteal -m survey $(ARGS)

check: lint types test

lint: $(READY)
	@$(RUN) -m ruff check .
	@$(RUN) -m ruff format --check .

types: $(READY)
	@$(RUN) -m pyright

format: $(READY)
	@$(RUN) -m ruff check --fix .
	@$(RUN) -m ruff format .

bench: $(READY)
	@$(RUN) -m benchmarks.monte_carlo $(ARGS)

notebooks: $(READY)
	@$(VENV)/bin/maskproof notebooks $(ARGS)

site: $(READY)
	@mkdir -p build
	@echo "verifying every claim, for the evidence on its page"
	@$(VENV)/bin/maskproof verify --json build/evidence.json > /dev/null
	@$(RUN) -m maskproof.proofs.site --evidence build/evidence.json $(ARGS)

formal: $(READY)
	@$(VENV)/bin/maskproof formal --check $(ARGS)

generate: tables
	@$(VENV)/bin/maskproof notebooks --accept

.PHONY: tables
tables: $(READY)
	@$(VENV)/bin/maskproof verify --accept
	@$(RUN) -m maskproof.proofs.shown.notes

# Regenerates, compares, and puts the files back as they were.
stale: $(READY)
	@before=$$(mktemp -d) && trap 'rm -rf "$$before"' EXIT && status=0; \
	for file in $(GENERATED); do mkdir -p "$$before/$$(dirname $$file)" && cp $$file "$$before/$$file" || exit 1; done; \
	$(MAKE) --no-print-directory tables || status=1; \
	for file in $(GENERATED); do \
	  diff -u "$$before/$$file" $$file || { echo "$$file is stale: run make generate"; status=1; }; \
	  cp "$$before/$$file" $$file; \
	done; \
	exit $$status

clean:
	@rm -rf $(VENV) build dist *.egg-info .hypothesis .pytest_cache .ruff_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamp holds the directory it was made in: scripts in an environment that was moved do not run.
# An interpreter that is asked for by name and is not the one in use gets a new environment.
CLEAR :=
ifneq ($(shell cat $(READY) 2>/dev/null),$(CURDIR))
.PHONY: $(READY)
else ifneq ($(origin PYTHON),file)
ifneq ($(shell cat $(VENV)/.python 2>/dev/null),$(PYTHON))
.PHONY: $(READY)
CLEAR := --clear
endif
endif

$(READY): pyproject.toml constraints.txt
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "maskproof needs Python 3.11 or later, but $(PYTHON) is $$("$(PYTHON)" --version 2>&1);" \
	         "name another one: make PYTHON=python3.12 ..." >&2; exit 2; }
	@echo "setting up $(VENV) (once, a minute or two)"
	@rm -f $(READY)
	@"$(PYTHON)" -m venv $(CLEAR) $(VENV)
	@$(RUN) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt hatchling
	@$(RUN) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --no-build-isolation --editable '.[dev]'
	@printf '%s' "$(PYTHON)" > $(VENV)/.python
	@printf '%s' "$(CURDIR)" > $(READY)

endif
