# SPDX-License-Identifier: Apache-2.0
# Installs the profiler's parts, moves the tree, and builds and runs a small program against it in
# every way users have: pkg-config and find_package, C and C++. Then the rest beside them.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/support.cmake)
set(prefix ${work}/moved)

file(REMOVE_RECURSE ${work}/prefix ${prefix})
foreach(component IN ITEMS library development command)
  run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${work}/prefix --component ${component} --strip)
endforeach()
file(RENAME ${work}/prefix ${prefix})
expect_files(${prefix} ${profiler_files})
expect_pkg_config(${prefix})
expect_programs(package -DCMAKE_PREFIX_PATH=${prefix} -DWANTED_VERSION=${VERSION})

# The command came along, and has all that it can be built with.
execute_process(COMMAND ${prefix}/bin/mxprof --version OUTPUT_VARIABLE printed
  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
if(NOT printed STREQUAL "mxprof ${VERSION}")
  message(FATAL_ERROR "mxprof --version printed '${printed}'")
endif()

# With the runtime the package has one target more. It is uninstalled at the end, and nothing else.
file(WRITE ${prefix}/bin/other "another program's")
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
file(GLOB_RECURSE targets ${prefix}/*/mxnetTargets.cmake)
if(NOT targets OR NOT EXISTS ${prefix}/include/mxnet/c_api.h)
  message(FATAL_ERROR "the runtime is not installed")
endif()
expect_programs(package -DCMAKE_PREFIX_PATH=${prefix})
file(MAKE_DIRECTORY ${prefix}/share/empty)
run(${CMAKE_COMMAND} -DPREFIX=${prefix} -P ${CMAKE_CURRENT_LIST_DIR}/../../cmake/Uninstall.cmake)
expect_files(${prefix} "^bin/other$")
if(NOT IS_DIRECTORY ${prefix}/share/empty)
  message(FATAL_ERROR "a folder of somebody else's was removed")
endif()
