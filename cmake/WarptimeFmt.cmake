# warptime_fmt: {fmt} as a static library built from its own headers. Debian ships only the shared library, which
# neither the wheel nor an installed library should need.
# Ignores: compilers without -fkeep-inline-functions (clang), which link {fmt} as its package has it.
include(CheckCXXCompilerFlag)
find_package(fmt REQUIRED)
check_cxx_compiler_flag(-fkeep-inline-functions WARPTIME_KEEPS_INLINE_FUNCTIONS)
if(WARPTIME_KEEPS_INLINE_FUNCTIONS)
  # One source has the definitions. The header-only form would take seconds in every file.
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/fmt.cpp
       CONTENT "#define FMT_HEADER_ONLY 1\n#include <fmt/format.h>\n" @ONLY)
  add_library(warptime_fmt STATIC ${PROJECT_BINARY_DIR}/generated/fmt.cpp)
  target_compile_features(warptime_fmt PUBLIC cxx_std_20)
  target_compile_options(warptime_fmt PRIVATE -fkeep-inline-functions -w)
  get_target_property(fmt_include fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
  if(NOT fmt_include MATCHES "^/usr/include/?$")
    target_include_directories(warptime_fmt SYSTEM PUBLIC $<BUILD_INTERFACE:${fmt_include}>)
  endif()
else()
  add_library(warptime_fmt INTERFACE)
  target_link_libraries(warptime_fmt INTERFACE fmt::fmt)
endif()
