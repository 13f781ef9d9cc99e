# Every target makes the environment it needs in .venv; with PYTHON=/path/to/python set, that
# environment is used as it is and nothing is installed. BASE_PYTHON=/path/to/python makes .venv with that one.

ifdef PYTHON
  PY := $(PYTHON)
  CORE :=
  COMPARE :=
  APEX :=
  TESTS :=
  BENCH :=
else
  PY := .venv/bin/python
  CORE := .venv/.core
  COMPARE := .venv/.compare
  APEX := apex-if-possible
  TESTS := .venv/.tests
  BENCH := .venv/.bench
endif

PIP = .venv/bin/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt
EXAMPLE := docs/example/legacy_train.py

.DEFAULT_GOAL := help
.PHONY: words help test lint typecheck pytest long record docs fuzz generated mutants torture migrate compare apex apex-if-possible doctor policy bench clean

# What `make compare` hands on: PROFILE=quick becomes --profile quick.
OPTIONS := PROFILE ARMS TRAIN SEEDS EPOCHS BATCH BLOCKS WORKLOAD RECIPE STEM DATA NPROC SWEEP MARGIN TARGET BUDGET TIMEOUT LEAVE_OUT GPUS ENGINE JOBS SLURM NNODES OUT
lower = $(shell printf %s '$(1)' | tr A-Z_ a-z-)
small = $(shell printf %s '$(1)' | tr A-Z a-z)
ASKED = $(foreach name,$(OPTIONS),$(if $($(name)),--$(call lower,$(name)) '$($(name))')) $(if $(PLAN),--plan) \
  $(if $(RETRY),--retry)

# A word that nothing reads would start a run of hours that was not asked for (make compare SEED=3, make fuzz seconds=60),
# or show another file than was meant (make migrate TARGTE=train.py).
KNOWN_compare := $(OPTIONS) PLAN RETRY APEX_SRC FORCE ALLOW_CUDA_MINOR TORCH_CUDA_ARCH_LIST MAX_JOBS
KNOWN_generated := SEEDS JOBS OUT
KNOWN_fuzz := SECONDS SEED OUT
KNOWN_mutants := SAMPLE SEED JOBS PART
KNOWN_torture := KILLS SEED
KNOWN_migrate := TARGET WRITE
ASKS = $(filter compare generated fuzz mutants torture migrate,$(MAKECMDGOALS))
KNOWN = $(foreach goal,$(ASKS),$(KNOWN_$(goal))) PYTHON BASE_PYTHON
GIVEN = $(foreach name,$(.VARIABLES),$(if $(findstring command line,$(origin $(name))),$(name))) $(ALMOST)
# Of the environment (SEED=3 make compare) those that are nearly such a word: all others are somebody else's.
NEARLY_compare = SEED EPOCH ARM BLOCK $(call small,$(OPTIONS) PLAN RETRY)
NEARLY_generated = SEED JOB $(call small,$(KNOWN_generated))
NEARLY_fuzz = SEEDS $(call small,$(KNOWN_fuzz))
NEARLY_mutants = SAMPLES SEEDS JOB PARTS $(call small,$(KNOWN_mutants))
NEARLY_torture = KILL SEEDS $(call small,$(KNOWN_torture))
NEARLY_migrate = $(call small,$(KNOWN_migrate))
ALMOST = $(foreach name,$(foreach goal,$(ASKS),$(NEARLY_$(goal))),\
  $(if $(findstring environment,$(origin $(name))),$(name)))
UNKNOWN = $(sort $(filter-out $(KNOWN) -%,$(GIVEN)))

help:
	@echo 'make test                      ruff, mypy --strict and pytest (the first time: about 5 GB of wheels)'
	@echo 'make long                      pytest with all that is tried: `make test` tries a part of what repeats itself'
	@echo 'make migrate TARGET=path       show what the migration of path would change; WRITE=1 changes it'
	@echo 'make migrate                   the same for the bundled legacy example'
	@echo 'make compare                   train with Apex amp and natively, write reports/<date>-<gpu>-<profile>/'
	@echo '                               PROFILE=quick|standard|full (smoke without a GPU), BUDGET=25m, PLAN=1,'
	@echo '                               ARMS= SEEDS= EPOCHS= BATCH= DATA= … as in amp-compare run --help'
	@echo 'make apex                      build NVIDIA Apex 25.05; APEX_SRC=folder takes it from there'
	@echo 'make doctor                    what this machine has and lacks for a comparison'
	@echo 'make policy                    the type every operation runs in, Apex O1 beside native AMP'
	@echo 'make record                    take what the tool says today of the recorded programs as right: read the diff'
	@echo 'make docs                      write the rules'"'"' pages (docs/rules/) from their modules'
	@echo 'make generated                 migrate 3,000 made-up programs, run them before and after, and count'
	@echo '                               SEEDS=0:3000 JOBS=2, OUT=folder keeps the programs that failed'
	@echo 'make fuzz                      migrate real scripts that were cut, doubled and mixed; SECONDS=3600 SEED=0 OUT=folder'
	@echo 'make mutants                   put 70 small faults into the planner and the judge, one by one, and count'
	@echo '                               those that the tests find; SAMPLE=70 SEED=0 JOBS=2 PART=0:20'
	@echo 'make torture                   kill 200 runs of the migration at random moments and look at what they leave'
	@echo '                               KILLS=200 SEED=0'
	@echo 'make bench                     how fast the migration is, and what the comparison itself costs'
	@echo 'make clean                     remove .venv, what was built and the caches'
	@echo
	@echo 'PYTHON=/path/to/python make …  use that environment and install nothing'

test: lint typecheck pytest

lint: $(TESTS)
	$(PY) -m ruff check .

# The codemod as the oldest Python reads it that it is for (requires-python): what is newer is no error elsewhere.
typecheck: $(TESTS)
	$(PY) -m mypy --strict compare
	$(PY) -m mypy --strict --python-version 3.10 migrate

# One thread of torch in each of two processes: with two cores, more would only wait for each other.
pytest: $(TESTS)
	OMP_NUM_THREADS=1 $(PY) -m pytest -q -n 2 --dist worksteal

# What takes long, or is more of the same (tests/effort.py), runs as well.
long: $(TESTS)
	LONG=1 OMP_NUM_THREADS=1 $(PY) -m pytest -q -n 2 --dist worksteal

# A change of what the tool says or writes is read in `git diff tests/recorded` and committed with its cause.
record: $(TESTS)
	$(PY) -m pytest -q -n 2 --snapshot-update tests/recorded

# The rules' pages, from the rules' own modules.
docs: $(TESTS)
	@$(PY) -m tests.docs.pages

# Many made-up training programs before and after the migration; `make test` tries the first 300 of them.
# Faults planted into migrated scripts: `EVERY_MUTANT=1 pytest tests/equivalence/test_plant.py`.
generated: words $(TESTS)
	@$(PY) -m tests.equivalence.many --seeds '$(or $(SEEDS),0:3000)' --jobs $(or $(JOBS),2) $(if $(OUT),--out '$(OUT)')

# A minute of it runs with `make test`.
fuzz: words $(TESTS)
	@$(PY) -m tests.fuzz.run --seconds $(or $(SECONDS),3600) --seed $(or $(SEED),0) $(if $(OUT),--out '$(OUT)')

mutants: words $(TESTS)
	@$(PY) tests/mutants/run.py --sample $(or $(SAMPLE),70) --seed $(or $(SEED),0) --jobs $(or $(JOBS),2) \
	  --part $(or $(PART),:)

torture: words $(TESTS)
	@$(PY) -m tests.shell.torture --kills $(or $(KILLS),200) --seed $(or $(SEED),0)

# Exit code 1 says that something is left to do, which is what a dry run is for.
migrate: words $(CORE)
ifdef WRITE
ifndef TARGET
	$(error WRITE=1 needs TARGET=path)
endif
endif
	@$(PY) -m migrate $(if $(WRITE),--write) "$(or $(TARGET),$(EXAMPLE))" || [ $$? -eq 1 ]

# Exit code 1 says that a run failed: the report is there and says how.
compare: words $(COMPARE) $(APEX)
	@$(PY) -m compare run $(ASKED)

words:
	$(if $(UNKNOWN),$(error $(UNKNOWN): make $(ASKS) knows no such word; it knows $(KNOWN)))

apex: $(COMPARE)
	@$(PY) -m compare.build_apex

# Without a GPU or a compiler there is no Apex: its arms are then listed as unavailable, with the reason.
# A wrong word is refused first, not after a build of many minutes.
apex-if-possible: $(COMPARE)
	@$(if $(PLAN),:,$(PY) -m compare run $(ASKED) --plan >/dev/null)
	@$(if $(PLAN),:,$(PY) -m compare.build_apex --optional)

doctor: $(COMPARE)
	@$(PY) -m compare doctor $(if $(DATA),--data '$(DATA)')

policy: $(COMPARE)
	@$(PY) -m compare policy

bench: $(BENCH)
	$(PY) tests/bench/run.py
	$(PY) tests/bench/judge.py
	$(PY) tests/bench/shapes.py
	$(PY) tests/bench/harness.py

clean:
	rm -rf .venv build .mypy_cache .ruff_cache .pytest_cache .hypothesis

# ---------------------------------------------------------------- environments

# The first Python that is new enough and can make an environment.
.venv/.made:
	@for python in $(or $(BASE_PYTHON),python3 python3.13 python3.12 python3.11 python3.10); do \
	  if $$python -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then \
	    echo "making .venv with $$python"; $$python -m venv .venv && touch $@; exit; \
	  fi; \
	done; \
	echo 'no Python 3.10 or newer with venv was found: install one, or set PYTHON=/path/to/python' >&2; exit 1

.venv/.core: .venv/.made pyproject.toml constraints.txt
	$(PIP) --editable .
	@touch $@

.venv/.compare: .venv/.made pyproject.toml constraints.txt
	$(PIP) --editable '.[compare]'
	@touch $@ .venv/.core

.venv/.tests: .venv/.made pyproject.toml constraints.txt
	$(PIP) --editable '.[dev,compare]'
	@touch $@ .venv/.core .venv/.compare

.venv/.bench: .venv/.made pyproject.toml constraints.txt
	$(PIP) --editable '.[bench,compare]'
	@touch $@ .venv/.core .venv/.compare
