# SPDX-License-Identifier: Apache-2.0
# The front door: each command sets up what it needs, builds, and does one thing. CMake does the
# building; everything built goes to build/, Python packages to .venv/.
#
#   make demo            build, train LeNet on digits from Python, and show where its time went
#   make demo-trace      profile the walk-through of MXNet's guide, from C
#   make demo-train      profile the training of a network, from C
#   make demo-distributed  train with several processes, and make one profile of theirs
#   make demo-embed      profile a program that reads files with several threads
#   make test            build and run every test                TESTS='word word'  only some
#   make quick           one build, the tests of what has changed since AGAINST (main); TESTS= likewise
#   make check           sanitizers, clang, ctypes, aarch64, musl, long tests, the browser, fuzzing, format, types
#   make bench-explain   programs with a planted cause, recorded anew: is it told?   SEEDS=n other sizes
#   make bench           every claim, measured; BENCH=name: one; PEERS=1: against other profilers
#   make fuzz SECONDS=n  every fuzz target for n seconds          SEED=n  the same inputs each time
#   make pictures        pictures of every panel of the page, of real runs, to look at   SCENES=first,step  only some
#   make browser         what the browser tests need; `make test` runs them once it is there
#   make install PREFIX=dir, make install-profiler PREFIX=dir   everything; the profiler without the runtime
#   make uninstall PREFIX=dir   removes what these two have put there
#   make deb             Debian packages of the profiler
#   make format          clang-format;  make clean
.DEFAULT_GOAL := demo
.PHONY: demo demo-trace demo-train demo-distributed demo-embed build test quick check check-asan check-tsan check-clang check-debug check-ctypes \
	check-model check-differential check-training check-browser check-install check-aarch64 check-musl check-format \
	check-types check-documents bench bench-explain fuzz browser pictures format \
	install install-profiler uninstall deb clean
.SUFFIXES:

JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
SECONDS ?= 60
TESTS ?=
AGAINST ?= main

setup := scripts/setup
# TESTS is words separated by blanks, no patterns: the tests whose path or name has one of them.
words := $(strip $(TESTS))
pattern := $(shell printf '%s' '$(words)' | sed 's/[][().*+?^$$|\]/\\&/g; s/ /|/g')
# One more than the cores of a small machine, because some tests wait more than they work.
ctest := ctest --output-on-failure -j3 $(if $(words),-R '$(pattern)') --no-tests=error
export PYTHONDONTWRITEBYTECODE := 1

# $(call configure_and_build,PRESET,TARGETS): configuring again is only needed once; after that,
# Ninja notices by itself what has changed.
configure_and_build = { test -f build/$(1)/build.ninja || cmake --preset $(1); } \
	&& cmake --build build/$(1) -j $(JOBS) $(2)

build:
	@$(setup) build
	@$(call configure_and_build,release)

# ---- demo --------------------------------------------------------------------------------------
# The main job, from Python: digits, training, the profile of its first steps.
demo:
	@$(setup) test
	@$(call configure_and_build,release,--target mxnet_shared mxprof_command python_core)
	MXNET_LIBRARY_PATH='$(CURDIR)/build/release' PYTHONPATH=python \
		.venv/bin/python examples/python/train_lenet.py build/demo

# The walk-through of MXNet's guide: an array, two operators, a wait.
demo-trace:
	@$(setup) build
	@$(call configure_and_build,release,--target trace)
	@mkdir -p build/demo
	build/release/trace build/demo

demo-train:
	@$(setup) build
	@$(call configure_and_build,release,--target train mxprof_command)
	@mkdir -p build/demo
	build/release/train build/demo
	build/release/mxprof report build/demo/profile.mxp

# Two workers and two servers; then, where mpirun is, two workers with their owners inside.
demo-distributed:
	@$(setup) test
	@$(call configure_and_build,release,--target mxnet_shared mxprof_command python_core)
	MXNET_LIBRARY_PATH='$(CURDIR)/build/release' PYTHONPATH=python \
		.venv/bin/python examples/python/train_distributed.py build/demo/distributed
	@if command -v mpirun > /dev/null && [ -e build/release/libmxnet_mpi.so ]; then \
		MXNET_LIBRARY_PATH='$(CURDIR)/build/release' PYTHONPATH=python .venv/bin/python \
			examples/python/train_distributed.py build/demo/mpi --mpi --servers 0; \
	else echo "mpirun is not here (apt install openmpi-bin libopenmpi-dev): two workers without servers are left out"; fi

# A program with no operators in it: threads that read files.
demo-embed:
	@$(setup) build
	@$(call configure_and_build,release,--target embed mxprof_command)
	@mkdir -p build/demo
	build/release/embed build/demo

# ---- tests -------------------------------------------------------------------------------------
# The optimised build takes every test. What repeats them is in check: the library's asserts run under the
# sanitizers, and all of the package's tests through its other call path, of which those are here that are
# about what differs there (python/mxnet/_fallback.py). All groups run, whatever fails, and the end is one list.
pytest := MXPROF_BUILD='$(CURDIR)/build/release' MXPROF_SOURCE='$(CURDIR)' .venv/bin/python -m pytest \
	-n3 --dist worksteal --words '$(words)'
calls := array_like_arguments arrays autograd custom_operators dlpack messages numbers_beside_arrays operator_functions \
	operators_in_place package profiler_module profiler_spans recorded_classes thread_names type_of_two views_while_recording
# Where no group finds a test of the words, run-tests says so.
test: ctest += $(if $(words),--no-tests=ignore)
test: build
	@$(setup) test
	@scripts/run-tests build/tests \
		"release: $(ctest) --test-dir build/release --output-junit '$(CURDIR)/{report}'" \
		"python: $(pytest) --junit-xml '{report}' tests" \
		"ctypes: MXNET_PYTHON_CORE=ctypes $(pytest) --junit-xml '{report}' $(calls:%=tests/python/test_%.py)"

# Some seconds, once the release build is there.
quick:
	@$(setup) build test
	@scripts/quick --against '$(AGAINST)' $(words)

# Where it costs minutes, a test asks for MXPROF_TEST_LONG=1 before it does its worst; how long the
# stress tests go on is MXPROF_TEST_SECONDS: longest under TSan, which sees what the others may miss.
check: check-format check-types check-asan check-tsan check-clang check-debug check-ctypes check-model check-differential \
	check-browser check-training check-install check-aarch64 check-musl
	@$(MAKE) --no-print-directory fuzz SECONDS=10 SEED=1
	@echo "make check: all passed"

# With the library's asserts. Benches and examples are left out.
check-asan: seconds := 5
check-tsan: seconds := 10
check-asan check-tsan: check-%:
	@$(setup) check
	@$(call configure_and_build,$*,--target tests/all)
	MXPROF_TEST_SECONDS=$(seconds) $(ctest) --test-dir build/$* -L 'unit|stress|replay'

check-clang:
	@$(setup) check
	@$(call configure_and_build,clang)
	MXPROF_TEST_LONG=1 MXPROF_TEST_SECONDS=5 $(ctest) --test-dir build/clang

# The library's asserts where no sanitizer can run: its shadow takes more addresses than such a test allows.
check-debug:
	@$(setup) build
	@$(call configure_and_build,debug,--target unit_profiler_session_small_memory_test)
	$(ctest) --test-dir build/debug -R small_memory_test

# All of the package's tests through ctypes, but for those that make test has run so.
check-ctypes:
	@$(setup) test
	@$(call configure_and_build,release)
	MXNET_PYTHON_CORE=ctypes $(pytest) tests/python $(calls:%=--ignore=tests/python/test_%.py)

# Random programs of the session, many of them; under the sanitizers some. A forked child that ends
# would look for leaks with a lock of the sanitizer's own that another thread held at the fork.
model = MXPROF_SOURCE='$(CURDIR)' .venv/bin/python -m pytest tests/model
check-model:
	@$(setup) check test
	@$(foreach preset,release asan tsan,$(call configure_and_build,$(preset),--target session_model mxprof_command) && ) true
	MXPROF_TEST_LONG=1 MXPROF_BUILD='$(CURDIR)/build/release' $(model)
	ASAN_OPTIONS=detect_leaks=0 MXPROF_MODEL_SEEDS=60 MXPROF_BUILD='$(CURDIR)/build/asan' $(model)
	MXPROF_MODEL_SEEDS=60 MXPROF_BUILD='$(CURDIR)/build/tsan' $(shell setarch -R true 2>/dev/null && echo setarch -R env) $(model)

# Programs of arrays against NumPy, many of them; and whether they find faults that are planted.
check-differential:
	@$(setup) test
	@$(call configure_and_build,release,--target mxnet_shared python_core)
	MXPROF_TEST_LONG=1 MXPROF_BUILD='$(CURDIR)/build/release' MXPROF_SOURCE='$(CURDIR)' \
		.venv/bin/python -m pytest tests/differential

# The package, and a program on it, as its type checker sees them.
check-types:
	@$(setup) types browser
	cd python && ../build/mypy/bin/mypy -p mxnet && MYPYPATH=. ../build/mypy/bin/mypy --strict \
		--allow-subclassing-any --follow-imports=silent ../tests/python/typed_program.py
	node build/browser/node_modules/typescript/bin/tsc -p tests/page/tsconfig.json

# LeNet and a linear classifier on all of the drawn digits.
check-training:
	@$(setup) test
	@$(call configure_and_build,release,--target mxnet_shared python_core)
	MXPROF_TEST_LONG=1 MXPROF_BUILD='$(CURDIR)/build/release' \
		.venv/bin/python -m pytest tests/python/test_gluon_training.py

# The profiler alone as users build it: with a compiler and CMake only, inside their projects, as packages.
check-install:
	@$(setup) test
	@$(call configure_and_build,release,--target mxprof_command)
	MXPROF_TEST_LONG=1 MXPROF_BUILD='$(CURDIR)/build/release' MXPROF_SOURCE='$(CURDIR)' \
		.venv/bin/python -m pytest -n2 --dist worksteal tests/install

# What the README tells to type, in an empty clone, but for what installs outside of it and for the tests themselves. Not in
# check: it builds everything anew.
check-documents:
	@$(setup) build
	scripts/first-run --page README.md --without 'make test' --without install-profiler --without pkg-config

# Another processor, whose memory has an order of its own: the profiler's unit tests, in an emulator.
check-aarch64:
	@$(setup) cross
	@$(call configure_and_build,aarch64)
	$(ctest) --test-dir build/aarch64 -L 'unit|replay'

# Another libc: the profiler and programs with it, recorded, read and compared.
check-musl:
	@$(setup) cross test
	@$(call configure_and_build,release,--target mxprof_command)
	@$(call configure_and_build,musl)
	MXPROF_MUSL='$(CURDIR)/build/musl' MXPROF_BUILD='$(CURDIR)/build/release' MXPROF_SOURCE='$(CURDIR)' \
		.venv/bin/python -m pytest tests/install/test_musl.py

# The demo's trace, and stacks, in the real viewers.
check-browser:
	@$(setup) browser
	@$(MAKE) --no-print-directory test TESTS='perfetto speedscope page'

# Told causes of programs with a known one: with their own sizes, and with SEEDS others.
bench-explain:
	@$(setup) test
	@$(call configure_and_build,release,--target mxnet_shared mxprof_command python_core)
	@.venv/bin/python tests/cli/planted_traces.py check --seeds $(or $(SEEDS),1)

fuzz:
	@$(setup) check
	@$(call configure_and_build,fuzz,--target tests/all)
	SEED=$(SEED) scripts/fuzz $(SECONDS)

# ---- measurements ------------------------------------------------------------------------------
bench:
	@$(setup) test $(if $(PEERS),peers)
	@$(if $(PEERS),cmake --preset release >build/configure-peers.log)
	@$(call configure_and_build,release,--target bench)
	python3 bench/run.py --build build/release --output build/bench.json \
		$(if $(BENCH),--bench '$(BENCH)') $(if $(PEERS),--peers)

browser:
	@$(setup) browser

pictures: build
	@$(setup) test browser
	scripts/page-pictures $(SCENES)

# ---- the source --------------------------------------------------------------------------------
sources = python3 scripts/known_files.py .c .h .hpp

format:
	@$(setup) format
	$(sources) | xargs -0 clang-format -i

check-format:
	@$(setup) format
	@$(sources) | xargs -0 clang-format --dry-run -Werror \
		|| { echo "make format puts this right"; exit 1; }

# The profiler alone: a compiler, make and CMake are enough, and nothing is set up for it. OPTIONS are CMake's.
# Debug information is left out: what is installed is stripped, but for the archive, which cannot be.
alone := -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_FLAGS_RELWITHDEBINFO='-O2 -DNDEBUG' -DMXPROF_TESTS=OFF
RUNTIME ?= OFF

install-profiler:
	cmake -S . -B build/profiler $(alone) -DMXPROF_RUNTIME=OFF $(OPTIONS)
	cmake --build build/profiler -j $(JOBS)
	cmake --install build/profiler --strip --prefix '$(PREFIX)'

# Debian packages, in build/deb. RUNTIME=ON: those of libmxnet too.
deb:
	cmake -S . -B build/deb $(alone) -DMXPROF_RUNTIME=$(RUNTIME) -DCMAKE_INSTALL_PREFIX=/usr $(OPTIONS)
	cmake --build build/deb -j $(JOBS)
	cd build/deb && cpack

install: build
	cmake --install build/release --prefix '$(PREFIX)'

uninstall:
	@cmake -DPREFIX='$(PREFIX)' -P cmake/Uninstall.cmake

clean:
	rm -rf build python/build python/*.egg-info
