# Needs Python 3.11 or newer with its venv module, make, and nothing else: Node comes with the Python packages.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes

# In development the page comes from Vite on AGUI_PORT and calls the server on port 8000.
DEV_PORT := $(or $(AGUI_PORT),3000)
DEV_ORIGINS := http://localhost:$(DEV_PORT),http://127.0.0.1:$(DEV_PORT)

export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1

.DEFAULT_GOAL := help
.PHONY: help run dev test soak check bench docs lock clean

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /make \1	/p' Makefile

run: $(VENV)/.installed ## start the program on http://127.0.0.1:3000
	@exec $(BIN)/python -m agui_app.serve

dev: $(VENV)/.installed ## start it for work on the page: it reloads when a file changes
	@test -d .web || $(BIN)/python -m agui_app.build
	@PATH="$(CURDIR)/$(BIN):$$PATH" REFLEX_USE_NPM=1 AGUI_ALLOWED_ORIGINS="$(DEV_ORIGINS)" exec $(BIN)/reflex run

test: check ## everything: check, tests with coverage, the browser
	$(BIN)/python -m tests.e2e.browser
	$(BIN)/coverage erase
	$(BIN)/python -m pytest --cov --cov-report=
	$(BIN)/coverage report --fail-under=90
	$(BIN)/coverage report --include='agui_app/protocol/*,agui_app/conversation/*' --fail-under=100

soak: $(VENV)/.installed-dev ## the fault tests in their long form, about an hour (FAULTS_SEED=n has an earlier one again)
	$(BIN)/python -m tests.e2e.browser
	FAULTS_SOAK=1 $(BIN)/python -m pytest tests/faults

check: $(VENV)/.installed-dev ## format, lint, types, layers
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports

bench: $(VENV)/.installed-dev ## measure what is promised to be fast
	$(BIN)/python -m tests.e2e.browser
	$(BIN)/python -m tests.benchmarks.bench_latency

docs: $(VENV)/.installed-dev ## write the README's tables anew
	$(BIN)/python -m tests.architecture.tables

lock: ## pin the Python packages anew (needs uv)
	uv pip compile pyproject.toml --generate-hashes --universal --python-version 3.11 --no-emit-index-url \
		--no-annotate --custom-compile-command 'make lock' --quiet -o requirements.lock
	uv pip compile pyproject.toml --extra dev -c requirements.lock --generate-hashes --universal \
		--python-version 3.11 --no-emit-index-url --no-annotate --custom-compile-command 'make lock' --quiet \
		-o requirements-dev.lock

clean: ## remove what was installed and built; the data folder stays
	rm -rf $(VENV) .web .states .pytest_cache .ruff_cache .hypothesis .import_linter_cache .coverage .coverage.* htmlcov
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/bin/pip:
	@echo "making the Python environment $(VENV)"
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed, this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	@$(PYTHON) -m venv --clear $(VENV) || { rm -rf $(VENV); \
		echo "the venv module is missing; on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }

$(VENV)/.installed: $(VENV)/bin/pip requirements.lock
	@echo "installing the packages of requirements.lock"
	@$(PIP) -r requirements.lock
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed requirements-dev.lock
	@echo "installing the packages of requirements-dev.lock"
	@$(PIP) -r requirements-dev.lock
	@touch $@
