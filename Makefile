# The commands of this repository. Each makes its own environment in .venv the first time, and again when the
# pins change; Python 3.11, 3.12 or 3.13 and make are all that a machine needs. Choose a Python with PYTHON=...

VENV   := .venv
BIN    := $(VENV)/bin
PY     := $(BIN)/python
READY  := $(VENV)/.ready
TOOLS  := $(VENV)/.tools
BUILT  := _build/complete
SOURCES = $(shell find book -name '*.ipynb' -not -path '*/.*')
# What the three packages are installed by.
PROJECTS = pyproject.toml mhalib/pyproject.toml livegrad/pyproject.toml
# What the pages are made of: a book that is older than any of it is built again where a command needs one.
BOOK    = $(shell find book livegrad mhalib -type f -not -path '*.egg-info/*' -not -path '*/.*' -not -path '*/__pycache__/*')
# Jupyter wants to be told that it is root, as in a container, and writes to its user's home, or to .venv if it cannot.
JUPYTER = $(shell [ -w "$$HOME" ] || echo 'HOME="$(CURDIR)/$(VENV)"') $(PY) -m jupyterlab \
    $(if $(filter 0,$(shell id -u)),--allow-root)

# Compiled programs are kept beside the tools where the home cannot be written: else each process compiles its own.
ifneq ($(shell [ -w "$$HOME" ] || echo locked),)
export XDG_CACHE_HOME := $(CURDIR)/$(VENV)/cache
endif

# Small products on many threads fight each other: one thread is faster, and the same everywhere.
book $(BUILT) test tests lab edit bench certify descent results: export OPENBLAS_NUM_THREADS := 1
book $(BUILT) test tests lab edit bench certify descent results: export OMP_NUM_THREADS := 1
book $(BUILT) test tests lab edit bench certify descent results: export MKL_NUM_THREADS := 1
# Figures as the book draws them, on the book's own copy of plotly.
book $(BUILT) test tests: export LIVEGRAD_FIGURES := book

.PHONY: help more quick book notebooks kit pdf test tests lint stripped chromium colab colabpins hashes newest everywhere links browsers lab edit bench descent results latency opening looks measures mutants certify kernel address authors clean
.NOTPARALLEL:
.DEFAULT_GOAL := help

help:            ## this list; `make more` has what is needed now and then
	@sed -nE 's/^([a-z]+):[^#]*## */  make \1	/p' $(MAKEFILE_LIST) | expand -t 18

more:
	@sed -nE 's/^([a-z]+):[^#]*#: */  make \1	/p' $(MAKEFILE_LIST) | expand -t 18

book: $(READY)   ## build the book from scratch, warnings as errors
	@$(PY) book/_ext/build.py

$(BUILT): $(BOOK) _config.yml _toc.yml requirements.txt $(PROJECTS) | $(READY)
	@[ ! -e $@ ] || echo "== the book is older than its sources, and is built again"
	@$(PY) book/_ext/build.py

notebooks: $(BUILT)  ## the pages of the book as notebooks for Colab and JupyterLab: _build/notebooks
	@echo "== the notebooks: _build/notebooks"

kit: $(TOOLS) chromium $(BUILT)   ## a zip for each week of the course, with PDFs: _build/kit
	@$(PY) book/_ext/kit.py --pdf $(if $(COURSE),--course '$(COURSE)') $(ARGS)

pdf: $(TOOLS) chromium $(BUILT)   ## print the book: _build/pdf/how-attention-learns.pdf
	@echo "== printing the book (some minutes)"
	@$(PY) book/_ext/pdf.py

test: lint stripped chromium $(BUILT) tests   ## everything that is checked: style, book, notebooks, code, pages

tests: $(TOOLS) $(BUILT)  #: the tests and every notebook cell
	@echo "== running the tests and every notebook cell"
	@$(PY) -m pytest tests/browser _build/notebooks tests \
	    -n 2 --dist loadfile --no-loadscope-reorder -rs --durations 40 \
	    --nbval-lax --nbval-current-env --nbval-cell-timeout 300 \
	    --nbval-sanitize-with book/_ext/nbval_sanitize.cfg $(ARGS)

lint: $(TOOLS)   ## style of the code, who imports whom, and types
	@echo "== style"
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check --quiet . || { echo "laid out otherwise: run ruff format ."; exit 1; }
	@said=$$(PYTHONPATH=.:book $(BIN)/lint-imports --no-cache --no-logo) || { echo "$$said"; exit 1; }
	@$(PY) -m basedpyright >$(VENV)/types.txt & checking=$$!; \
	for package in livegrad mhalib mhabook; do \
	    said=$$(PATH="$(CURDIR)/$(BIN):$$PATH" PYTHONPATH=.:book $(BIN)/basedpyright --verifytypes $$package \
	        --ignoreexternal) || { echo "$$said" | grep -B1 error; exit 1; }; done; \
	wait $$checking || { cat $(VENV)/types.txt; exit 1; }
	@$(BIN)/shellcheck $$(grep -lsE '^#!.*sh$$' .ci/*)
	@.ci/javascript

quick: .venv-quick/.ready   ## quick checks for contributors: style, imports, and the package's short tests
	@.venv-quick/bin/python -m ruff check .
	@.venv-quick/bin/python -m ruff format --check --quiet .
	@PYTHONPATH=.:book .venv-quick/bin/lint-imports --no-cache --no-logo >/dev/null \
	    || PYTHONPATH=.:book .venv-quick/bin/lint-imports --no-cache --no-logo
	@env -u CI .venv-quick/bin/python -m pytest tests/engine tests/package -n 2 -q -rs -m "not long" -W ignore $(ARGS)

.venv-quick/.ready: $(PROJECTS)
	@python=$$(.ci/python) && { [ -x .venv-quick/bin/python ] || "$$python" -m venv .venv-quick; }
	@.venv-quick/bin/python -m pip install --quiet --editable livegrad --editable mhalib --editable '.[test]' \
	    || { echo "pip could not install what the tests need: its lines above say why"; exit 1; }
	@touch $@

stripped: $(TOOLS)   #: check that the notebooks are committed without outputs
	@echo "== notebooks without outputs"
	@$(PY) -m nbstripout --keep-id --verify $(SOURCES)

chromium: $(TOOLS)  #: the browser that the tests drive, and that prints: looked for, and installed where it may be
	@$(PY) book/_ext/chromium.py

colab: $(BUILT)  #: every notebook on the versions that Colab ships, the packages from their wheels
	@.ci/colab

colabpins:       #: renew those versions, .ci/colab.txt, from the list that Colab publishes; LIST=... reads a copy
	@python=$$(.ci/python) && "$$python" .ci/colab_pins.py $(if $(LIST),"$(LIST)")

hashes:          #: renew the hashes of the pins, .ci/hashes, after a pin has changed
	@.ci/hash_pins

newest:          #: the tests and the notebooks on the newest versions that the lower bounds allow
	@.ci/newest

everywhere: $(TOOLS)  #: check the claims on other processors, Pythons and libraries; ARGS=--list says which can be tried
	@$(PY) .ci/everywhere.py $(ARGS)

links: $(READY)  #: follow every link of the book to other hosts; those inside it are tested
	@BOOK_CACHE="$(CURDIR)/_build/executed" $(PY) -c 'from jupyter_book.cli.main import main; main()' build . \
	    -q --builder custom --custom-builder linkcheck

browsers: $(TOOLS) $(BUILT)  #: the built book in Firefox; BROWSER=webkit takes WebKitGTK, which has Safari's engine
	@.ci/hashed $(PY) browsers --quiet
	@$(PY) .ci/browsers.py $(or $(BROWSER),firefox)

lab: $(BUILT)    ## read and run the book in JupyterLab, in notebooks/, a copy of your own; NEW=1 renews it
	@.ci/working_copy $(NEW)
	@$(JUPYTER) notebooks

edit: $(READY)   ## edit the book's sources in JupyterLab, with formulas and notes rendered
	@.ci/hashed $(PY) edit --quiet --prefix .venv-edit
	@JUPYTER_PATH=.venv-edit/share/jupyter $(JUPYTER) book

bench: $(TOOLS)  #: this engine against what one would write by hand, and against JAX, torch.func and curvlinops
	@.ci/hashed $(PY) bench --quiet || echo "== comparing with what is there"
	@$(PY) -m benchmarks

mutants: $(TOOLS)  #: mutation test: which altered formulas do the package's tests miss, or (ARGS=--ledger) the rows? ARGS="--count 60 --seed 1"
	@$(PY) tests/mutants.py $(ARGS)

certify: $(READY)  #: every certificate of the ledger again, in ball arithmetic, and each with a constant 1 % better (a minute)
	@.ci/hashed $(PY) certify --quiet
	@$(PY) -m mhabook.certificates

descent: $(READY)  #: steps of plain and structure-aware descent to the noise floor, and the cost of 10,000 tokens
	@$(PY) -m benchmarks.regression

results: $(READY)  #: all stored tables again, nearly three hours of one core; ARGS=--list says what would run
	@.ci/hashed $(PY) certify --quiet || echo "== without python-flint, the certificates are not made again"
	@$(PY) book/results --overwrite $(ARGS)

measures:        #: how large and how dense the code is; ARGS="--at COMMIT" as it was then
	@python=$$(.ci/python) && "$$python" .ci/measures.py $(ARGS)

kernel: $(TOOLS) #: the formulas that live figures train by, as WebAssembly and JavaScript
	@$(PY) .ci/kernel.py

latency: chromium $(BUILT)   #: how long a live figure of the built book lets its reader wait
	@$(PY) -m benchmarks.latency

opening: chromium $(BUILT)   #: how long a page of the built book, opened cold, takes to its first live curve
	@$(PY) -m benchmarks.opening

looks: chromium $(BUILT)     #: the first screen of every chapter, light and dark, at a desk and on a phone: _build/looks
	@$(PY) book/_ext/looks.py

address:         #: set the repository's address everywhere: make address URL=https://github.com/NAME/REPOSITORY
	@python=$$(.ci/python) && "$$python" .ci/address.py "$(URL)"

authors:         #: say everywhere who wrote the book: make authors NAMES="Given Family; Given Family"
	@python=$$(.ci/python) && "$$python" .ci/authors.py "$(NAMES)"

clean:           ## remove what the builds left (the environments stay: rm -r .venv* removes them)
	@rm -rf _build build dist *.egg-info */*.egg-info .pytest_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -not -path './.venv*/*' -prune -exec rm -rf {} +

# An environment knows the folder that it was made in, and has the packages from there: after a move it is made anew.
ifneq ($(shell cat $(READY) 2>/dev/null),$(CURDIR))
.PHONY: $(READY)
endif

# Who names a Python gets it: an environment of another version is made anew.
ifdef PYTHON
ifneq ($(shell $(PY) --version 2>/dev/null),$(shell "$(PYTHON)" --version 2>/dev/null))
$(READY): another-python
.PHONY: another-python
another-python:
endif
endif

$(READY): requirements.txt .ci/hashes/book.txt .ci/hashes/torch.txt $(PROJECTS)
	@.ci/venv $(VENV)
	@echo "$(CURDIR)" >$@

$(TOOLS): .ci/hashes/tools.txt $(READY)
	@echo "== installing what lints, tests and prints (0.9 GB)"
	@.ci/hashed $(PY) tools --quiet
	@touch $@
