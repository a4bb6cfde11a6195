# Every target installs what it needs into one .venv; a stamp records which extras are there.
PYTHON ?= python3
PY := .venv/bin/python
CORE := pyproject.toml CMakeLists.txt $(shell find cpp -name '*.[ch]pp')
CXX_FILES := $(shell find cpp -name '*.[ch]pp')
# A test file stays on one worker, so that module fixtures and clusters are made once.
PYTEST := $(PY) -m pytest -q -n 2 --dist loadfile
# Tests start Python a hundred times: without bytecode caches each start would compile the package.
unexport PYTHONDONTWRITEBYTECODE
# Every script in the folder, without shared modules and the script that writes the tables.
BENCHMARKS := $(filter-out benchmarks/_% benchmarks/table.py,$(sort $(wildcard benchmarks/*.py)))
HOUSE := PYTHONPATH=tests $(PY) -m house

.PHONY: demo test test-all docs lint budgets properties fuzz sanitize elsewhere bench papers mutants stub format clean

demo: .venv/demo.stamp          ## train on text that is on every machine, print a table, draw a picture
	.venv/bin/surelearn demo

test: .venv/test.stamp lint     ## quick: lint and all tests that take seconds
	$(PYTEST) -m "not slow"

test-all: .venv/slow.stamp sanitize elsewhere properties docs   ## slow: sanitizers, other compilers, manual, fuzzing, real data, clusters, releases
	.venv/bin/mypy   # once more, with the types of Spark
	PYTHON=$(PY) tests/sanitize/fuzz.sh 60
	$(PYTEST) --dist load -m slow   # few tests, some of them long

# Runs the examples of the gallery; warnings are errors.
docs: .venv/docs.stamp          ## the manual, in docs/_build/html
	.venv/bin/sphinx-build -q -W --keep-going -c docs . docs/_build/html
	@echo "The manual is in docs/_build/html/index.html."

lint: .venv/test.stamp          ## formatting, types, import contract, spelling, budgets
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/clang-format --dry-run --Werror $(CXX_FILES)
	.venv/bin/mypy
	.venv/bin/lint-imports --no-cache
	.venv/bin/codespell src cpp tests docs benchmarks examples experiments *.md
	$(HOUSE)

budgets: .venv/test.stamp       ## renew the list of what is over the budgets of size, names and imports
	$(HOUSE) --write

mutants: .venv/test.stamp       ## changes of single tokens of the package and the core, drawn at random: do the tests notice?
	PYTHONPATH=tests $(PY) -m mutants $(MUTANTS)

sanitize: .venv/slow.stamp      ## C++ tests and some Python tests under sanitizers
	PYTHON=$(PY) tests/sanitize/run.sh

elsewhere: .venv/core.stamp     ## build, README and demo on Debian 13, with g++ 14, g++ 13 and clang
	PYTHON=$(PY) tests/elsewhere/run.sh

# The marker is hypothesis' own.
PROPERTIES = $(PYTEST) -m "hypothesis and not slow"
properties: .venv/test.stamp    ## the property tests with three times the examples
	SURELEARN_HYPOTHESIS=thorough $(PROPERTIES)

fuzz: .venv/slow.stamp          ## new examples for the property tests, random calls on every estimator, damaged files for every reader, five minutes each
	SURELEARN_HYPOTHESIS=fuzz $(PROPERTIES)
	SURELEARN_HYPOTHESIS=fuzz $(PYTEST) --dist load tests/machines
	PYTHON=$(PY) tests/sanitize/fuzz.sh 300
	printf '%s\n' jsonl csv conll conllu groups parquet | xargs -I {} -P 2 $(PY) tests/fuzz/readers.py {} 300

bench: .venv/bench.stamp        ## every claim, measured; rewrites the tables of the pages
	for script in $(BENCHMARKS); do $(PY) $$script || exit 1; done
	$(PY) benchmarks/table.py

papers: .venv/papers.stamp      ## tables and figures of the papers from open data, which takes hours; NAME=stdev for those of one
	$(PY) -m experiments.papers $(NAME) -o experiments/reproduced

stub: .venv/test.stamp          ## write the stub of the extension
	$(PY) -m nanobind.stubgen -q -m surelearn._core -o src/surelearn/_core.pyi

format: .venv/test.stamp
	.venv/bin/ruff format .
	.venv/bin/ruff check --fix .
	.venv/bin/clang-format -i $(CXX_FILES)

clean:
	rm -rf .venv build dist

.venv/pip.stamp:
	$(PYTHON) -m venv .venv
	$(PY) -m pip install -q --upgrade pip
	touch $@

# The package itself is installed in place: Python changes count at once, changes of the core when
# a target is made again. It is compiled once, without isolation, so that the folder build/ serves
# again; extras are then installed beside the package that is there.
.venv/core.stamp: .venv/pip.stamp $(CORE)
	$(PY) -m pip install -q --group build
	@echo "Compiling the core, about a minute on two cores; later calls compile what has changed."
	$(PY) -m pip install -q --no-build-isolation --no-deps -C cmake.define.SURELEARN_WERROR=ON -e .
	$(PY) -m pip install -q surelearn
	touch $@

.venv/demo.stamp: .venv/core.stamp
	$(PY) -m pip install -q 'surelearn[cli,plot]'
	touch $@

.venv/test.stamp: .venv/core.stamp
	$(PY) -m pip install -q 'surelearn[test]'
	touch $@

.venv/docs.stamp: .venv/core.stamp
	$(PY) -m pip install -q 'surelearn[docs]'
	touch $@

.venv/slow.stamp: .venv/test.stamp .venv/docs.stamp
	$(PY) -m pip install -q --group slow
	touch $@

.venv/bench.stamp: .venv/test.stamp
	$(PY) -m pip install -q 'surelearn[bench]'
	touch $@

.venv/papers.stamp: .venv/core.stamp
	$(PY) -m pip install -q --group papers
	touch $@
