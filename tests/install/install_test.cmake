# SPDX-License-Identifier: Apache-2.0
# Installs into the working directory, moves the tree, and builds and runs a small program against
# it in every way users have: pkg-config and find_package, C and C++.
cmake_minimum_required(VERSION 3.25)
set(work ${CMAKE_CURRENT_BINARY_DIR})
set(source ${CMAKE_CURRENT_LIST_DIR}/consumer)
set(prefix ${work}/moved)

function(run)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${work} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(expect_version program)
  execute_process(COMMAND ${program} WORKING_DIRECTORY ${work} OUTPUT_VARIABLE printed
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  if(NOT printed STREQUAL VERSION)
    message(FATAL_ERROR "${program} printed '${printed}', not the version ${VERSION}")
  endif()
endfunction()

file(REMOVE_RECURSE ${work}/prefix ${prefix} ${work}/build)
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${work}/prefix)
file(RENAME ${work}/prefix ${prefix})

# With pkg-config. The C++ compiler takes the same file.
find_program(PKG_CONFIG pkg-config REQUIRED)
file(GLOB_RECURSE pc ${prefix}/*/mxprof.pc)
cmake_path(GET pc PARENT_PATH pc_dir)
set(ENV{PKG_CONFIG_PATH} ${pc_dir})
execute_process(COMMAND ${PKG_CONFIG} --cflags --libs mxprof OUTPUT_VARIABLE flags
  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(flags UNIX_COMMAND "${flags}")
file(GLOB_RECURSE library ${prefix}/libmxprof.so ${prefix}/*/libmxprof.so)
cmake_path(GET library PARENT_PATH library_dir)
set(rpath -Wl,-rpath,${library_dir})
run(${CC} -std=c11 ${source}/consumer.c -o consumer_c ${flags} ${rpath})
expect_version(${work}/consumer_c)
if(CXX)
  run(${CXX} -std=c++17 -x c++ ${source}/consumer.c -o consumer_cxx ${flags} ${rpath})
  expect_version(${work}/consumer_cxx)
endif()

# With CMake, shared and static.
run(${CMAKE_COMMAND} -S ${source} -B build -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_C_COMPILER=${CC}
  -DWANTED_VERSION=${VERSION})
run(${CMAKE_COMMAND} --build build)
expect_version(${work}/build/consumer)
expect_version(${work}/build/consumer_static)

# The command came along.
run(${prefix}/bin/mxprof --help)
