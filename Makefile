# The commands of the repository; `make help` lists them. The work itself is done by CMake, Ninja and scripts/.
# SPDX-License-Identifier: Apache-2.0
PRESET ?= release
BUILD := build
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
CXX_FILES = $(shell git ls-files --cached --others --exclude-standard -- '*.cpp' '*.hpp' '*.cu' '*.cuh')
CXX_SOURCES = $(shell git ls-files --cached --others --exclude-standard -- '*.cpp')
# The wheel is compiled with the same flags, so that ccache has most of it.
PYTHON_WHEEL = WARPTIME_WARNINGS_AS_ERRORS=$(if $(filter ci,$(PRESET)),ON,OFF) scripts/test_python.sh $(BUILD)
CLANG_FORMAT ?= clang-format
FUZZ_SECONDS ?= 30
# make tidy checks every source, or with TIDY_SINCE=COMMIT those that changed since.
TIDY_SINCE ?=

.DEFAULT_GOAL := help
.PHONY: help dependencies configure build demo test test-python wheel bench format format-check lint lint-python tidy asan fuzz readme docs clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' Makefile

dependencies:
	@scripts/install_dependencies.sh build

configure: dependencies
	@cmake --preset $(PRESET) -D Python3_EXECUTABLE="$$(command -v python3)" > $(BUILD)-configure.log 2>&1 || { cat $(BUILD)-configure.log; exit 1; }
	@rm -f $(BUILD)-configure.log

build: configure  ## the program, build/warptime (optimised)
	@cmake --build $(BUILD) --target warptime -j $(JOBS)

demo: configure  ## install what is missing, build, and predict one GEMM beside its recorded time
	@cmake --build $(BUILD) --target warptime warptime_standin -j $(JOBS)
	@$(BUILD)/warptime predict gemm 4096 4096 4096 --dtype bf16 --gpu h200-sxm --compare-recorded

test: configure  ## build and run every test, then those of the Python package; prints the scoreboard
	@cmake --build $(BUILD) -j $(JOBS)
	@$(BUILD)/warptime validate --recorded
	@ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS)
	@$(PYTHON_WHEEL)

test-python: configure  ## test the Python package: its wheel in a virtual environment
	@$(PYTHON_WHEEL)

wheel: configure  ## build the Python wheel into build/wheel
	@$(PYTHON_WHEEL) --wheel

bench:  ## measure the speed of the model on one core
	@scripts/install_dependencies.sh build bench
	@cmake --preset $(PRESET) -DWARPTIME_BENCHMARKS=ON > /dev/null
	@cmake --build $(BUILD) --target warptime_bench -j $(JOBS)
	@$(BUILD)/bench/warptime_bench

asan:  ## run the tests under AddressSanitizer and UndefinedBehaviorSanitizer
	@scripts/install_dependencies.sh build clang
	@cmake --preset asan > /dev/null
	@cmake --build --preset asan -j $(JOBS)
	@ctest --preset asan -j $(JOBS)

fuzz:  ## feed every parser with damaged input, FUZZ_SECONDS each
	@scripts/install_dependencies.sh build clang
	@cmake --preset fuzz > /dev/null
	@cmake --build --preset fuzz -j $(JOBS)
	@scripts/fuzz.sh build-fuzz $(FUZZ_SECONDS) $(JOBS)

format:  ## lay out every C++ and CUDA source
	@$(CLANG_FORMAT) -i $(CXX_FILES)

format-check:
	@$(CLANG_FORMAT) --dry-run -Werror $(CXX_FILES)

lint: format-check lint-python tidy  ## layout, Python types, and clang-tidy on every C++ source (slow)

lint-python:
	@scripts/lint_python.sh

tidy: dependencies
	@cmake --preset $(PRESET) -B $(BUILD)-tidy -D WARPTIME_UNITY=OFF > /dev/null  # each source by itself
	@cmake --build $(BUILD)-tidy --target warptime_gpu_keys
	@scripts/tidy.sh $(BUILD)-tidy $(JOBS) $(if $(TIDY_SINCE),--since $(TIDY_SINCE),$(CXX_SOURCES))

readme: build  ## write the present output and accuracy of the program into README.md and docs/
	@$(PYTHON_WHEEL) --install
	@scripts/refresh_readme.py $(BUILD)/warptime
	@scripts/accuracy_page.py $(BUILD)/warptime
	@$(BUILD)/venv/bin/python scripts/mechanism_pictures.py

docs:  ## check the documentation's paths and build it into build/site
	@scripts/build_docs.sh $(BUILD)

clean:  ## remove what the build made
	@rm -rf build build-dev build-asan build-fuzz build-tidy build-wheel
