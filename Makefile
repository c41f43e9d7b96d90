# Everything on a fresh machine with Python 3.11 to 3.14: `make demo` and `make test`.
PYTHON ?= python3
# The PyTorch that graph checks and tests run with; any release from 2.9 works.
TORCH ?= torch==2.13.0
VENV := .venv
BIN := $(VENV)/bin

# What the operator tables are measured with: the real lowering of each frontend on a CPU.
MLIR ?= torch-mlir==20261001
XLA ?= torch==2.9.0 torchvision==0.24.0 torch_xla==2.9.0
XLA_VENV := .venv-xla

.PHONY: demo test lint docs accuracy benchmark fuzz clean

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

# Holds the tables against the real lowering of a few whole models, in evaluation and in training.
accuracy: $(VENV)/.installed-mlir $(XLA_VENV)/.installed
	$(BIN)/python -W ignore -m tests.accuracy.score_models native --subset --min 0.97
	$(XLA_VENV)/bin/python -W ignore -m tests.accuracy.score_models xla --subset --min 0.99

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

# torch-mlir asks for packages that lowering does not need.
$(VENV)/.installed-mlir: $(VENV)/.installed-dev
	$(BIN)/pip install --quiet --no-deps $(MLIR)
	touch $@

$(XLA_VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(XLA_VENV)
	$(XLA_VENV)/bin/pip install --quiet $(XLA) 'transformers==5.24.0' expecttest scipy
	$(XLA_VENV)/bin/pip install --quiet --editable .
	touch $@

clean:
	rm -rf $(VENV) $(XLA_VENV) dist build
