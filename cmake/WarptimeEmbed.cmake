# warptime_embed(TARGET SYMBOL FILES ...): compiles data files into a library.
# SYMBOL is the qualified name of a function without parameters. The caller declares it as
# `std::span<const warptime::hw::EmbeddedFile> SYMBOL();` (hw/embedded_file.hpp). Its rows are sorted by path.
function(warptime_embed target symbol)
  cmake_parse_arguments(ARG "" "" "FILES" ${ARGN})
  string(REPLACE "::" "_" stem ${symbol})
  set(output ${PROJECT_BINARY_DIR}/generated/embedded/${stem}.cpp)
  set(list ${PROJECT_BINARY_DIR}/generated/embedded/${stem}.list)
  list(SORT ARG_FILES)
  list(JOIN ARG_FILES "\n" text)
  # Only a file that joins or leaves rewrites the list, so that an unchanged list rebuilds nothing.
  file(CONFIGURE OUTPUT ${list} CONTENT "${text}\n" @ONLY)
  add_custom_command(
    OUTPUT ${output}
    COMMAND warptime_generate_embedded ${symbol} ${PROJECT_SOURCE_DIR} ${list} ${output}
    DEPENDS warptime_generate_embedded ${list} ${ARG_FILES}
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
