# SPDX-License-Identifier: Apache-2.0
# The five words of this repository.
.PHONY: dev format check test docs

PY = .venv/bin/python

dev:  ## an environment from the hashed lock, the workspace editable, the real servers of the tests installed
	python3 -m venv .venv
	.venv/bin/pip install --require-hashes -r requirements-dev.txt
	.venv/bin/pip install --no-deps --no-build-isolation -e .
	$(PY) tests/prepare.py

format:  ## rewrite the code in the one style
	.venv/bin/ruff check --fix-only -q .
	.venv/bin/ruff format -q .

check:  ## everything that needs no running: style, types, directions of imports
	.venv/bin/ruff check .
	.venv/bin/ruff format --check -q .
	.venv/bin/mypy
	.venv/bin/lint-imports

test:  ## the whole suite with branch coverage (TOOLNOTARY_TEST_EFFORT=full for full counts)
	.venv/bin/pytest --cov

docs:  ## the reference pages that are generated from the code, rewritten
	$(PY) docs/generate.py
