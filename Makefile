# Everything on a fresh machine with Python 3.11 to 3.14: `make demo` and `make test`.
PYTHON ?= python3
# The PyTorch that graph checks and tests run with; any release from 2.9 works.
TORCH ?= torch==2.13.0
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint docs benchmark fuzz clean

# Sets up, and checks the models that ship in fixtures/models: the main job.
demo: $(VENV)/.installed
	$(BIN)/neuronlint check fixtures/models --target trn2 --fail-on never
	$(BIN)/neuronlint check fixtures/models --target inf2 --fail-on never --format concise

# Sets up, and passes the tests.
test: $(VENV)/.installed-dev
	$(BIN)/python -m pytest

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Writes the pages of docs/rules from rules/checks, and docs/patterns.md.
docs: $(VENV)/.installed
	$(BIN)/neuronlint explain --all --format markdown --output docs/rules
	$(BIN)/python -m neuronlint.render.pattern_page docs/patterns.md

# Speed of the source lane against others; SITE is a site-packages that holds transformers, timm and diffusers.
benchmark: $(VENV)/.installed
	$(BIN)/python tests/benchmarks/source_speed.py --site "$(or $(SITE),$(error give SITE=a site-packages folder))"

# The source lane over the standard library and its tests, and the packages of SITE, whole and damaged.
fuzz: $(VENV)/.installed
	$(BIN)/python tests/fuzz/source_files.py $(if $(SITE),--site "$(SITE)")

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet $(TORCH) numpy
	$(BIN)/pip install --quiet --editable '.[graph]'
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(BIN)/pip install --quiet --group dev
	touch $@

clean:
	rm -rf $(VENV) dist build
