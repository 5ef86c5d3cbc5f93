# SPDX-License-Identifier: Apache-2.0
# cmake --install: headers, both libraries, the command, mxprof.pc and the CMake package. All of it
# finds its parts relative to itself, so an installed tree may be moved.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/mxprof)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(libraries mxprof_shared mxprof_static mxprof_collect mxprof_dnnl)
set_target_properties(mxprof_static PROPERTIES EXPORT_NAME mxprof_static)
if(TARGET mxnet_shared)
  list(APPEND libraries mxnet_shared)
endif()
install(TARGETS ${libraries} EXPORT mxprofTargets)
if(TARGET mxprof_command)
  install(TARGETS mxprof_command)
endif()
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING
  PATTERN "*.h" PATTERN "*.hpp")

install(EXPORT mxprofTargets NAMESPACE mxprof:: DESTINATION ${package_dir})
configure_package_config_file(cmake/mxprofConfig.cmake.in mxprofConfig.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(mxprofConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/mxprofConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/mxprofConfigVersion.cmake DESTINATION ${package_dir})

# Where the prefix is, seen from the directory of the .pc file (a relative path wherever it can be).
cmake_path(ABSOLUTE_PATH pkgconfig_dir BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}
  OUTPUT_VARIABLE pkgconfig_absolute)
file(RELATIVE_PATH prefix_from_pc ${pkgconfig_absolute} ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/mxprof.pc.in mxprof.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/mxprof.pc DESTINATION ${pkgconfig_dir})
