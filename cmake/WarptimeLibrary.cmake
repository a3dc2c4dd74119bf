# warptime_library(NAME DEPENDS ... [TEST_DEPENDS ...]): one folder, one static library, one doctest program.
# Sources are the folder's *.cpp; SUBFOLDERS adds the sources of its folders. Files *_test.cpp become the program
# NAME_tests. PRIVATE_DEPENDS are header-only and stay inside: users of an installed warptime do not need them.
# Sources are compiled eight at a time where WARPTIME_UNITY is on, since most of a source's time goes into headers.
# SEPARATE_SOURCES are compiled one by one always. Test programs share one precompiled header instead.
function(warptime_library name)
  cmake_parse_arguments(ARG "SUBFOLDERS;SEPARATE_SOURCES" "" "DEPENDS;TEST_DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  set(depth GLOB)
  if(ARG_SUBFOLDERS)
    set(depth GLOB_RECURSE)
  endif()
  file(${depth} sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  if(sources)
    add_library(${name} STATIC ${sources})
    target_link_libraries(${name} PUBLIC warptime_options ${ARG_DEPENDS})
    if(WARPTIME_UNITY AND NOT ARG_SEPARATE_SOURCES)
      set_target_properties(${name} PROPERTIES UNITY_BUILD ON)
    endif()
    foreach(dependency ${ARG_PRIVATE_DEPENDS})
      target_link_libraries(${name} PRIVATE $<BUILD_INTERFACE:${dependency}>)
    endforeach()
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE warptime_options ${ARG_DEPENDS})
  endif()
  warptime_install_library(${name})
  if(WARPTIME_TESTS AND tests)
    add_executable(${name}_tests ${tests})
    target_link_libraries(${name}_tests PRIVATE ${name} warptime_test_main ${ARG_TEST_DEPENDS})
    if(WARPTIME_UNITY)
      set_target_properties(${name}_tests PROPERTIES POSITION_INDEPENDENT_CODE OFF)
      target_precompile_headers(${name}_tests REUSE_FROM warptime_test_main)
    endif()
    add_test(NAME ${name} COMMAND ${name}_tests)
    set_tests_properties(${name} PROPERTIES ENVIRONMENT "RC_PARAMS=${WARPTIME_RC_PARAMS}")
  endif()
endfunction()

if(WARPTIME_TESTS)
  find_package(doctest REQUIRED)
  find_library(RAPIDCHECK_LIBRARY rapidcheck REQUIRED)
  file(WRITE ${PROJECT_BINARY_DIR}/test_main.cpp
       "#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN\n#include <doctest/doctest.h>\n")
  add_library(warptime_test_main STATIC ${PROJECT_BINARY_DIR}/test_main.cpp)
  target_link_libraries(warptime_test_main PUBLIC warptime_options doctest::doctest ${RAPIDCHECK_LIBRARY} warptime_fmt)
  target_compile_definitions(warptime_test_main PUBLIC WARPTIME_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  # Tests spend their time in the libraries, and g++ takes a third longer to optimise their checks as far as those.
  target_compile_options(warptime_test_main PUBLIC $<$<CONFIG:Release>:-O1>
    # More false alarms of g++ 12 on std::string, at -O1 alone (GCC bug 105651).
    $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds> $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow>)
  if(WARPTIME_UNITY)
    # The programs of tests and this library need the same flags, and -fPIC is for libraries alone.
    set_target_properties(warptime_test_main PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    # doctest defines main only where its header was not read before, so an empty source carries the header.
    file(WRITE ${PROJECT_BINARY_DIR}/test_header.cpp "")
    target_sources(warptime_test_main PRIVATE ${PROJECT_BINARY_DIR}/test_header.cpp)
    set_source_files_properties(${PROJECT_BINARY_DIR}/test_main.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    target_precompile_headers(warptime_test_main PRIVATE <doctest/doctest.h> <rapidcheck.h> <fmt/format.h>
      <algorithm> <functional> <map> <memory> <optional> <random> <regex> <set> <span> <sstream> <string> <vector>)
  endif()
endif()
