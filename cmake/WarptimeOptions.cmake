# Language level, warnings, sanitizers and ccache, the same for every target.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# Position-independent code everywhere, so that the Python module links the objects of every other build.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

option(WARPTIME_TESTS "Build the tests" ON)
option(WARPTIME_BENCHMARKS "Build the benchmarks (needs Google Benchmark)" OFF)
option(WARPTIME_PYTHON "Build the Python module (needs pybind11)" OFF)
option(WARPTIME_UNITY "Compile sources of a library together, which halves the time of a whole build" ON)
# Programs under study run in an interpreter whose rows of lanes are loops for vector units.
include(CheckCXXSourceRuns)
if(NOT SKBUILD AND NOT CMAKE_CROSSCOMPILING)
  check_cxx_source_runs([[int main() {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2") ? 0 : 1;
  }]] WARPTIME_HOST_HAS_AVX2)
endif()
option(WARPTIME_HOST_VECTORS "Interpret machine code with AVX2; the build then runs on such hosts alone" ${WARPTIME_HOST_HAS_AVX2})
option(WARPTIME_INSTALL "Install headers, libraries and the CMake package" ON)
option(WARPTIME_WARNINGS_AS_ERRORS "Treat warnings as errors" OFF)
option(WARPTIME_SANITIZE "Build with AddressSanitizer and UndefinedBehaviorSanitizer" OFF)
option(WARPTIME_FUZZ "Build the fuzz targets (needs clang; turns the sanitizers on)" OFF)
# ctest fixes the seed, so that a run can be repeated. A test program started by hand draws a new seed.
set(WARPTIME_RC_PARAMS "seed=20261121" CACHE STRING "Configuration of rapidcheck under ctest")

# Paths relative to the source tree let neighbouring build folders share compiled objects.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE_PROGRAM})
endif()

add_library(warptime_options INTERFACE)
target_compile_features(warptime_options INTERFACE cxx_std_20)
target_include_directories(warptime_options INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>
  $<INSTALL_INTERFACE:include/warptime>)
set(warnings
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Wcast-qual
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>  # a false alarm of g++ 12 on std::string (GCC bug 105651)
  -Wnon-virtual-dtor -Woverloaded-virtual -Wdouble-promotion -Wformat=2
  # No function is replaced at run time, so position-independent code may inline functions.
  -fno-semantic-interposition
  # Contraction into fused multiply-add differs between compilers; results must not.
  -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  # g++ clears records of a hundred bytes by `rep stos`, which starts with tens of idle cycles. Evaluations clear
  # and copy such records all the time, so loops of moves are faster.
  set(strategy vector_loop:1024:noalign,libcall:-1:noalign)
  list(APPEND warnings -mmemset-strategy=${strategy} -mmemcpy-strategy=${strategy})
endif()
if(WARPTIME_WARNINGS_AS_ERRORS)
  list(APPEND warnings -Werror)
endif()
# A generator expression with a list needs quotes. Users of an installed warptime set their own flags.
target_compile_options(warptime_options INTERFACE "$<BUILD_INTERFACE:${warnings}>")
if(WARPTIME_SANITIZE OR WARPTIME_FUZZ)
  # -O0 halves the time of a build with its tests, and a seventh goes without lines for reports, which then name functions
  # (-D CMAKE_CXX_FLAGS=-g1 adds the lines); fuzzing alone runs too long for -O0. In instrumented code g++ 12 warns wrongly
  # of uninitialised parts of std::function and std::regex (GCC bug 105562).
  set(instrumented -O1 -g1)
  if(WARPTIME_SANITIZE)
    set(instrumented -O0)
  endif()
  target_compile_options(warptime_options INTERFACE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized> -fsanitize=address,undefined -fno-sanitize-recover=all
    -fno-omit-frame-pointer ${instrumented})
  target_link_options(warptime_options INTERFACE -fsanitize=address,undefined)
  target_compile_definitions(warptime_options INTERFACE WARPTIME_SANITIZED)  # tests that try everything try less
endif()
if(WARPTIME_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
    message(FATAL_ERROR "WARPTIME_FUZZ needs libFuzzer: the compiler is ${CMAKE_CXX_COMPILER_ID}, expected clang")
  endif()
  target_compile_options(warptime_options INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(warptime_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
