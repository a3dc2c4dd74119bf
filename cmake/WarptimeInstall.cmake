# The installed C++ package: find_package(warptime CONFIG) gives warptime::warptime, with all of hw, model and
# workloads. Ignores: the program (bindings/cli installs it) and the Python package (pyproject.toml).
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
set(warptime_package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/warptime)

# warptime_install_library(NAME): called for every library; installs the libraries of hw, model and workloads.
function(warptime_install_library name)
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  if(WARPTIME_INSTALL AND folder MATCHES "^(hw|model|workloads)(/|$)")
    string(REPLACE warptime_ "" short ${name})
    set_target_properties(${name} PROPERTIES EXPORT_NAME ${short})
    install(TARGETS ${name} EXPORT warptime-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
    set_property(GLOBAL APPEND PROPERTY warptime_installed ${name})
  endif()
endfunction()

function(warptime_install_package)
  if(NOT WARPTIME_INSTALL)
    return()
  endif()
  get_property(libraries GLOBAL PROPERTY warptime_installed)
  add_library(warptime_all INTERFACE)
  target_link_libraries(warptime_all INTERFACE ${libraries})
  foreach(name all options fmt)
    set_target_properties(warptime_${name} PROPERTIES EXPORT_NAME ${name})
  endforeach()
  set_target_properties(warptime_all PROPERTIES EXPORT_NAME warptime)
  install(TARGETS warptime_all warptime_options warptime_fmt EXPORT warptime-targets
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
  install(EXPORT warptime-targets NAMESPACE warptime:: DESTINATION ${warptime_package_folder} COMPONENT development)

  # Headers of third parties stay inside, so the one header that includes toml++ is not installed.
  foreach(folder hw model workloads)
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} DESTINATION include/warptime COMPONENT development
            FILES_MATCHING PATTERN "*.hpp" PATTERN "*_test.hpp" EXCLUDE PATTERN toml_file.hpp EXCLUDE
            PATTERN examples EXCLUDE PATTERN generate EXCLUDE)
  endforeach()
  install(FILES ${PROJECT_BINARY_DIR}/generated/hw/gpu_keys.hpp DESTINATION include/warptime/hw COMPONENT development)

  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/warptime-config.cmake.in
    ${PROJECT_BINARY_DIR}/warptime-config.cmake INSTALL_DESTINATION ${warptime_package_folder})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/warptime-config-version.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/warptime-config.cmake ${PROJECT_BINARY_DIR}/warptime-config-version.cmake
          DESTINATION ${warptime_package_folder} COMPONENT development)
endfunction()
