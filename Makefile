# Everything works on a fresh machine with Python 3.11 and make: each target builds .venv first.
PYTHON ?= python3
BIN := .venv/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)
unexport VIRTUAL_ENV PYTHONPATH PYTHONHOME PYTHONDONTWRITEBYTECODE

.PHONY: help reproduce test test-fast shake docs lab bench mutants store export lock clean

help:
	@echo "make reproduce  check all claims, re-run the experiments, write _results/"
	@echo "make test       run all tests"
	@echo "make test-fast  what a change of a page can break: that page, its claims, the tests of its module (a minute)"
	@echo "make shake      run all claims with twenty other seeds and other rounding (an hour)"
	@echo "make docs       build the site into _docs/ (with Quarto where it is installed)"
	@echo "make lab        open the notebooks in JupyterLab"
	@echo "make bench      measure speed"
	@echo "make mutants    break the mathematics in hundreds of ways and see what notices (an hour or two)"
	@echo "make store      renew the stored results that pages show (reproduce and bench first, pages afterwards)"
	@echo "make export     notebooks to package, cleaned, README.md from the front page"
	@echo "make lock       resolve the requirements anew into requirements.lock"

.venv/ready: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))' || \
	  { echo "oslr_nb is known to work with Python 3.10 to 3.13; this is $$($(PYTHON) --version). Try: make PYTHON=python3.11"; exit 1; }
	@echo "making .venv (a few minutes, once)"
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@

reproduce: .venv/ready
	@oslr warm
	@oslr reproduce

test: .venv/ready
	@oslr warm
	@python -m pytest -n 2 --dist worksteal

test-fast: .venv/ready
	@python -m tests.fast

shake: .venv/ready
	@python -m tests.shake

docs: .venv/ready
	@if command -v quarto > /dev/null; then python -m website --quarto; else python -m website; fi

lab: .venv/ready
	@nbdev_install_hooks
	@mkdir -p .venv/share/jupyter/lab/settings
	@cp website/lab.json .venv/share/jupyter/lab/settings/overrides.json
	@find nbs -name '*.ipynb' -not -path '*/.*' -exec jupyter trust {} + > /dev/null
	@OSLR_QUIET=1 jupyter lab nbs

bench: .venv/ready
	@python -m tests.bench

mutants: .venv/ready
	@python -m tests.mutants

store: reproduce bench
	@cp _results/claims.json oslr_nb/claims.json
	@if [ -f _results/shake/room.json ]; then cp _results/shake/room.json oslr_nb/stored/shake.json; fi
	@cp _results/ito2017_*.json _results/ito2018_*.json _results/kale2017_*.json _results/murata2018_*.json _results/cesabianchi2010_*.json _results/speed.json oslr_nb/stored/

export: .venv/ready
	@python -m website --numbers
	@nbdev_export
	@nbdev_clean
	@cp nbs/references.bib oslr_nb/references.bib
	@python -m website --readme

lock: .venv/ready
	@uv pip compile --quiet --universal --python-version 3.10 --no-header --extra dev pyproject.toml --output-file requirements.lock

clean:
	@rm -rf .venv _proc _docs _results build *.egg-info
