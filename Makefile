# Everything works on a fresh machine with Python 3.11 and make: each target builds .venv first.
PYTHON ?= python3
BIN := .venv/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
export PATH := $(CURDIR)/$(BIN):$(PATH)
unexport VIRTUAL_ENV PYTHONPATH PYTHONHOME PYTHONDONTWRITEBYTECODE

.PHONY: help reproduce test test-fast shake docs docs-quarto pdf sizes lab bench mutants store export proofs coq lock dist image test-dist test-pythons test-floors clean

help:
	@echo "make reproduce  check all claims, re-run the experiments, write _results/"
	@echo "make test       run all tests"
	@echo "make test-fast  what a change of a page can break: that page, its claims, the tests of its module (a minute)"
	@echo "make shake      run all claims with twenty other seeds and other rounding (an hour)"
	@echo "make docs       build the site into _docs/, as it is published"
	@echo "make docs-quarto  the same notebooks through Quarto, for those who have it"
	@echo "make pdf        the chapters as one book, _docs/oslr_nb.pdf"
	@echo "make sizes      measure the pages of _docs/ in Chromium, for those who have it, into website/sizes.json"
	@echo "make lab        open the notebooks in JupyterLab"
	@echo "make bench      measure speed"
	@echo "make mutants    break the mathematics in hundreds of ways and see what notices (some hours)"
	@echo "make store      renew the stored results that pages show (reproduce and bench first, pages afterwards);"
	@echo "                with PAGE=nbs/... only that page's claims, and state files of new learners (seconds)"
	@echo "make export     notebooks to package, cleaned, README.md from the front page"
	@echo "make proofs     check the lemmas of tests/proofs in Coq (seconds)"
	@echo "make coq        install Coq through apt, for make proofs"
	@echo "make lock       resolve the requirements anew: the newest into requirements.lock, the lowest into floors.lock"
	@echo "make dist       the source archive and the wheel, into dist/"
	@echo "make image      build the image of the service with Docker, and ask it a question"
	@echo "make test-dist  install the wheel into clean environments and use it (five minutes; PYTHON=... chooses the interpreter)"
	@echo "make test-pythons  the same with each Python from 3.10 to 3.13 that is found"
	@echo "make test-floors   the tests of the package with the lowest versions of all requirements"

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
	@python -m tests.shake $(SALTS)

docs: .venv/ready
	@python -m website

docs-quarto: .venv/ready
	@python -m website --quarto

pdf: docs
	@python -m pip install --quiet --disable-pip-version-check typst==0.15.2
	@python -m website.book _docs/oslr_nb.pdf

sizes: docs
	@python -m website.sizes _docs website/sizes.json

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

ifdef PAGE
store: .venv/ready
	@python -m tests.store $(PAGE)
	@python -m tests.states
else
store: reproduce bench
	@cp _results/claims.json oslr_nb/claims.json
	@if [ -f _results/shake/room.json ]; then cp _results/shake/room.json oslr_nb/stored/shake.json; fi
	@cp _results/ito2017_*.json _results/ito2018_*.json _results/kale2017_*.json _results/murata2018_*.json _results/cesabianchi2010_*.json _results/speed.json oslr_nb/stored/
endif

export: .venv/ready
	@python -m website --numbers
	@nbdev_export
	@nbdev_clean
	@cp nbs/references.bib oslr_nb/references.bib
	@python -m website --readme

proofs: .venv/ready
	@python -m pytest -n 2 tests/test_proofs.py

coq:
	@sudo apt-get update
	@sudo apt-get install --yes --no-install-recommends coq

lock: .venv/ready
	@uv pip compile $(LOCK) --quiet --universal --python-version 3.10 --no-header --extra dev pyproject.toml --output-file requirements.lock
	@uv pip compile $(LOCK) --quiet --universal --python-version 3.10 --no-header --extra dev --resolution lowest-direct pyproject.toml --output-file floors.lock

dist: .venv/ready
	@rm -rf dist
	@python -m build --outdir dist > /dev/null
	@ls -l dist

image:
	@docker build --tag oslr .
	@docker run --detach --rm --name oslr-asked --publish 127.0.0.1:8000:8000 oslr --features 5 --budget 2
	@curl --fail --silent --show-error --retry 60 --retry-delay 1 --retry-all-errors --json '{"op": "query", "id": "a"}' http://127.0.0.1:8000/; \
	  code=$$?; docker stop oslr-asked > /dev/null; exit $$code

test-dist: .venv/ready
	@PYTHON="$(PYTHON)" $(BIN)/python -m pytest -s tests/dist.py

test-pythons: .venv/ready
	@for version in 3.10 3.11 3.12 3.13; do \
	  found=$$(uv python find --no-project $$version 2> /dev/null) || { echo "no Python $$version here"; continue; }; \
	  PYTHON=$$found python -m pytest -s tests/dist.py || exit 1; \
	done

.venv-floors/ready: floors.lock pyproject.toml
	@$(PYTHON) -m venv .venv-floors
	@$(BIN:.venv/%=.venv-floors/%)/python -m pip install --quiet --disable-pip-version-check -r floors.lock
	@$(BIN:.venv/%=.venv-floors/%)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@

FLOORS := bad_inputs claims cli fuzz learners package parameters states  # pages show what the newest versions print
test-floors: export PATH := $(CURDIR)/$(BIN:.venv/%=.venv-floors/%):$(PATH)
test-floors: .venv-floors/ready
	@oslr warm
	@python -m pytest -n 2 --dist worksteal tests/core tests/own tests/papers tests/practice tests/results $(FLOORS:%=tests/test_%.py)

clean:
	@rm -rf .venv .venv-floors _proc _docs _results dist
