# A hash of what predictions follow from: the sources and data of model/, hw/ and workloads/, without tests.
# SPDX-License-Identifier: Apache-2.0
#
# As a script (cmake -D LIST=... -D ROOT=... -D OUTPUT=... -P) it writes the header with the hash; as a module it has that
# done whenever one of the files changes. No repository is needed.
if(CMAKE_SCRIPT_MODE_FILE)
  file(STRINGS ${LIST} files)
  set(all "")
  foreach(name IN LISTS files)
    file(SHA256 ${ROOT}/${name} one)
    string(APPEND all "${name} ${one}\n")
  endforeach()
  string(SHA256 hash "${all}")
  string(SUBSTRING ${hash} 0 12 hash)
  file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define WARPTIME_MODEL_HASH \"${hash}\"\n" @ONLY)
  return()
endif()

function(warptime_model_hash target)
  set(folder ${PROJECT_BINARY_DIR}/generated/model_hash)
  file(GLOB_RECURSE names CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
    ${PROJECT_SOURCE_DIR}/model/*.[ch]pp ${PROJECT_SOURCE_DIR}/hw/*.[ch]pp ${PROJECT_SOURCE_DIR}/hw/*.toml
    ${PROJECT_SOURCE_DIR}/workloads/*.[ch]pp ${PROJECT_SOURCE_DIR}/workloads/*.toml)
  list(FILTER names EXCLUDE REGEX "_test\\.[ch]pp$")
  list(SORT names)
  list(JOIN names "\n" text)
  file(CONFIGURE OUTPUT ${folder}/files.list CONTENT "${text}\n" @ONLY)
  list(TRANSFORM names PREPEND ${PROJECT_SOURCE_DIR}/)
  add_custom_command(
    OUTPUT ${folder}/model_hash.hpp
    COMMAND ${CMAKE_COMMAND} -D LIST=${folder}/files.list -D ROOT=${PROJECT_SOURCE_DIR}
            -D OUTPUT=${folder}/model_hash.hpp -P ${PROJECT_SOURCE_DIR}/cmake/WarptimeModelHash.cmake
    DEPENDS ${names} ${folder}/files.list ${PROJECT_SOURCE_DIR}/cmake/WarptimeModelHash.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${folder}/model_hash.hpp)
  target_include_directories(${target} PRIVATE ${folder})
endfunction()
