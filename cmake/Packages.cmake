# SPDX-License-Identifier: Apache-2.0
# cpack -G DEB (make deb): a Debian package for each component of cmake/Install.cmake, stripped. Where
# dpkg-shlibdeps is, it says which libc they need.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME mxprof)
set(CPACK_PACKAGE_VENDOR mxprof)
set(CPACK_PACKAGE_CONTACT "mxprof <nobody@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # else the first line of all packages
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

# mxp_package(COMPONENT NAME DEPENDS SUMMARY DESCRIPTION)
macro(mxp_package component name depends summary description)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${depends}")
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${summary}\n${description}")
endmacro()

# What a package that links the library depends on. CPack's own way asks for the version of every shared
# object, and libmxnet_mpi.so has none: it is loaded and not linked.
macro(mxp_package_shlibs component name)
  string(TOUPPER ${component} upper)
  file(WRITE ${PROJECT_BINARY_DIR}/packages/${name}/shlibs
    "${name} ${PROJECT_VERSION_MAJOR} ${name}${PROJECT_VERSION_MAJOR} (= ${PROJECT_VERSION})\n")
  set(CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/packages/${name}/shlibs)
endmacro()
set(same_version "(= ${PROJECT_VERSION})")
mxp_package(library libmxprof0 "" "profiler that programs carry inside (library)"
  "Records spans, counters, steps and operators of a program, with what they cost, up to a crash too.")
mxp_package_shlibs(library libmxprof)
mxp_package(development libmxprof-dev "libmxprof0 ${same_version}"
  "profiler that programs carry inside (development files)"
  "Headers for C and C++, the static library, and files for CMake and pkg-config.")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
if(TARGET mxprof_command)
  list(APPEND CPACK_COMPONENTS_ALL command)
  mxp_package(command mxprof "libmxprof0 ${same_version}"
    "command that records programs and reads their profiles"
    "Records unchanged programs of PyTorch, Python and OpenMP, and tells where the time of a profile went.")
endif()
if(TARGET mxnet_shared)
  list(APPEND CPACK_COMPONENTS_ALL runtime runtime_development)
  mxp_package(runtime libmxnet0 "libmxprof0 ${same_version}"
    "tensor runtime that mxprof profiles (library)"
    "Arrays, operators and gradients behind the C functions of MXNet, each call and operator recorded.")
  mxp_package_shlibs(runtime libmxnet)
  mxp_package(runtime_development libmxnet-dev "libmxnet0 ${same_version}, libmxprof-dev ${same_version}"
    "tensor runtime that mxprof profiles (development files)"
    "Headers for C and C++, and files for CMake.")
endif()
if(TARGET mxnet_mpi)  # a package of its own, so that the runtime does not need MPI
  list(APPEND CPACK_COMPONENTS_ALL runtime_mpi)
  mxp_package(runtime_mpi libmxnet0-mpi "libmxnet0 ${same_version}, openmpi-bin"
    "tensor runtime that mxprof profiles (Open MPI)"
    "The plugin by which a training on several processes exchanges its gradients.")
endif()

# What depends on libmxprof0 gets that from above; shlibdeps finds the library beside the package's.
if(DPKG_SHLIBDEPS AND READELF)
  foreach(component IN ITEMS LIBRARY COMMAND RUNTIME RUNTIME_MPI)
    set(CPACK_DEBIAN_${component}_PACKAGE_SHLIBDEPS ON)
  endforeach()
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR})
endif()
include(CPack)
