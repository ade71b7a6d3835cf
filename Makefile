# `make demo` and `make test` are all the set-up there is: each makes .venv and installs into it first.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test test-matrix fuzz docs pictures bench studies lint clean

demo: .venv/installed
	$(BIN)/dfnets demo

# Two processes of one thread each: BLAS threads on matrices this small only wait for each other.
test: .venv/installed lint
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal

# Thousands of bad files, bad command lines, kills and full disks; minutes on an idle machine.
fuzz: .venv/installed
	$(BIN)/python -m fuzz

# The tests that depend on the machine, under instruction sets, threads, versions and users that this one can stand for.
test-matrix: .venv/installed
	$(BIN)/python -m tools.matrix

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The variable silences an advertisement, which is not a warning about this site.
docs: .venv/installed
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# The pictures of the README: from the committed results, a real run, and the studio in a browser.
pictures: .venv/installed
	$(BIN)/python docs/extensions/pictures.py

bench: .venv/installed
	$(BIN)/python -m benchmarks

# Every table and figure of the paper: a night on two cores. It may be stopped at any moment, and continues.
studies: .venv/installed
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/dfnets reproduce all
	$(BIN)/dfnets report --tables results --pages README.md --pages docs/findings.md

# torch first and alone, so that no other package's range can choose another build of it.
.venv/installed: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: -c constraints.txt torch
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --prefer-binary -c constraints.txt -e '.[dev]'
	touch $@

clean:
	rm -rf .venv reports site .pytest_cache .mypy_cache .ruff_cache
