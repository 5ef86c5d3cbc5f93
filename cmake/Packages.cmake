# SPDX-License-Identifier: Apache-2.0
# cpack -G DEB (make deb): a Debian package for each component of cmake/Install.cmake, stripped. Where
# dpkg-shlibdeps is, it says which libc they need.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME mxprof)
set(CPACK_PACKAGE_VENDOR mxprof)
set(CPACK_PACKAGE_CONTACT "mxprof <nobody@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_COMPONENTS_ALL library development)
find_program(DPKG_SHLIBDEPS dpkg-shlibdeps)
find_program(READELF readelf)

# mxp_package(COMPONENT NAME DEPENDS DESCRIPTION)
macro(mxp_package component name depends description)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${depends}")
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${description}")
endmacro()
set(same_version "(= ${PROJECT_VERSION})")
mxp_package(library libmxprof0 "" "Profiler that programs carry inside: the library")
mxp_package(development libmxprof-dev "libmxprof0 ${same_version}"
  "Profiler that programs carry inside: headers, static library, CMake and pkg-config files")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
if(TARGET mxprof_command)
  list(APPEND CPACK_COMPONENTS_ALL command)
  mxp_package(command mxprof "libmxprof0 ${same_version}"
    "Runs programs and records them, reads the profiles that programs leave behind")
endif()
if(TARGET mxnet_shared)
  list(APPEND CPACK_COMPONENTS_ALL runtime runtime_development)
  mxp_package(runtime libmxnet0 "libmxprof0 ${same_version}" "Tensor runtime that mxprof profiles: the library")
  mxp_package(runtime_development libmxnet-dev "libmxnet0 ${same_version}, libmxprof-dev ${same_version}"
    "Tensor runtime that mxprof profiles: headers and CMake files")
endif()
if(TARGET mxnet_mpi)  # a package of its own, so that the runtime does not need MPI
  list(APPEND CPACK_COMPONENTS_ALL runtime_mpi)
  mxp_package(runtime_mpi libmxnet0-mpi "libmxnet0 ${same_version}, openmpi-bin"
    "Tensor runtime that mxprof profiles: its stores over processes by Open MPI")
endif()

# What depends on libmxprof0 gets that from above; shlibdeps finds the library beside the package's.
if(DPKG_SHLIBDEPS AND READELF)
  foreach(component IN ITEMS LIBRARY COMMAND RUNTIME RUNTIME_MPI)
    set(CPACK_DEBIAN_${component}_PACKAGE_SHLIBDEPS ON)
  endforeach()
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR})
  set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
  set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY "=")
endif()
include(CPack)
