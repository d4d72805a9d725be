# Each target does all of its own set-up: it needs a Python of 3.11 or later with venv, and nothing else.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip --disable-pip-version-check --quiet
INSTALL = $(PIP) install --constraint constraints.txt

FUZZ_SECONDS ?= 600

.PHONY: demo test fuzz check format readme bench clean

demo: $(VENV)/.installed
	$(BIN)/tracelens analyze sample_traces/starved.sqlite

test: $(VENV)/.installed-dev
	$(BIN)/python -m pytest

# Files that nobody wrote, new ones each time, for ten minutes or FUZZ_SECONDS.
fuzz: $(VENV)/.installed-dev
	TRACELENS_FUZZ_SECONDS=$(FUZZ_SECONDS) $(BIN)/python -m pytest tests/fuzz

check: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/sqlfluff lint sql

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/sqlfluff fix --quiet sql

# The report that the README shows, as it is printed today.
readme: $(VENV)/.installed
	$(BIN)/python docs/readme_report.py

bench: $(VENV)/.installed
	$(BIN)/python benchmarks/startup.py || true
	$(BIN)/python benchmarks/replay_selftest.py
	$(BIN)/python benchmarks/scale.py

clean:
	rm -rf $(VENV) build dist

# Built without isolation, so that the build tool too is the one of the constraints file.
$(VENV)/.installed: pyproject.toml constraints.txt
	@echo "Setting up $(VENV)"
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) hatchling
	$(INSTALL) --no-build-isolation --editable .
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(INSTALL) --no-build-isolation --editable ".[dev]"
	touch $@
