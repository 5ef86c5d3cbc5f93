# SPDX-License-Identifier: Apache-2.0
# cmake --install: headers, both libraries, the command, mxprof.pc and the CMake package. All of it
# finds its parts relative to itself, so an installed tree may be moved. Components are the packages
# of cmake/Packages.cmake: library, development, command, runtime, runtime_development, runtime_mpi.
include(CMakePackageConfigHelpers)

# What a whole installation puts where is noted there, for `make uninstall`.
install(SCRIPT cmake/Installed.cmake)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/mxprof)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set_target_properties(mxprof_static PROPERTIES EXPORT_NAME mxprof_static)
install(TARGETS mxprof_shared EXPORT mxprofTargets
  LIBRARY COMPONENT library NAMELINK_COMPONENT development)
install(TARGETS mxprof_static EXPORT mxprofTargets ARCHIVE COMPONENT development)
install(DIRECTORY include/mxprof DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
  FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
if(TARGET mxprof_command)
  install(TARGETS mxprof_command RUNTIME COMPONENT command)
  install(TARGETS mxprof_collect mxprof_dnnl LIBRARY COMPONENT command NAMELINK_COMPONENT command)
endif()
if(TARGET mxprof_words)
  install(DIRECTORY ${mxp_words}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT command)
  install(FILES ${mxp_words}/bash/mxprof DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
    COMPONENT command)
  install(FILES ${mxp_words}/zsh/_mxprof DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT command)
  install(FILES ${mxp_words}/fish/mxprof.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
    COMPONENT command)
endif()
# A list of targets of its own, which mxprofConfig.cmake reads where it is there.
if(TARGET mxnet_shared)
  install(TARGETS mxnet_shared EXPORT mxnetTargets
    LIBRARY COMPONENT runtime NAMELINK_COMPONENT runtime_development)
  if(TARGET mxnet_mpi)
    install(TARGETS mxnet_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime_mpi)
  endif()
  install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT runtime_development
    FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" PATTERN mxprof EXCLUDE)
  install(EXPORT mxnetTargets NAMESPACE mxprof:: DESTINATION ${package_dir}
    COMPONENT runtime_development)
endif()

install(EXPORT mxprofTargets NAMESPACE mxprof:: DESTINATION ${package_dir} COMPONENT development)
configure_package_config_file(cmake/mxprofConfig.cmake.in mxprofConfig.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(mxprofConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/mxprofConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/mxprofConfigVersion.cmake DESTINATION ${package_dir}
  COMPONENT development)

# Where the prefix is, seen from the directory of the .pc file (a relative path wherever it can be).
cmake_path(ABSOLUTE_PATH pkgconfig_dir BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}
  OUTPUT_VARIABLE pkgconfig_absolute)
file(RELATIVE_PATH prefix_from_pc ${pkgconfig_absolute} ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/mxprof.pc.in mxprof.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/mxprof.pc DESTINATION ${pkgconfig_dir}
  COMPONENT development)
install(CODE "set(mxp_pkgconfig_dir \"${pkgconfig_dir}\")" COMPONENT development)
install(SCRIPT cmake/PkgConfigPrefix.cmake COMPONENT development)

install(SCRIPT cmake/Installed.cmake)
