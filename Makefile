# Everything sets itself up: a fresh machine needs Python 3.11+ with venv, and make.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
LIGHT  := $(VENV)/.ready-for-demo

# Where it is set, each of the hundreds of processes that the tests start compiles our sources anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help demo test check bench lint format clean

help:
	@echo "make demo    a simulated arm gives way, follows a surface, stops at a wall, finds a hole, polishes"
	@echo "make test    all tests (12 to 20 minutes on two cores)"
	@echo "make check   lint, types and the fast tests"
	@echo "make bench   the timing tables"
	@echo "make format  let ruff tidy the code"
	@echo "make clean   remove the virtual environment and caches"

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[sim,record,calibrate,fake,ros2,cockpit,cluster,dev]"
	@touch $@

# The demo needs no tools of ours: it uses the whole environment if that is there, else a small one.
$(LIGHT): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[sim,record,cockpit]"
	@touch $@

demo: $(if $(wildcard $(READY)),$(READY),$(LIGHT))
	$(BIN)/ur-admittance demo --scenario all --pace 2
	@echo "now push one yourself, in the browser: $(BIN)/ur-admittance cockpit --open"

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --threads 2

check: lint
	$(BIN)/python -m pytest -m "not slow" -n 4 --dist worksteal

test: lint
	$(BIN)/python -m pytest -n 4 --dist worksteal --durations=15 -rs

bench: $(READY)
	$(BIN)/python -m benchmarks

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis build dist benchmarks/build
