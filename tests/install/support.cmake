# SPDX-License-Identifier: Apache-2.0
# What the tests of this folder share. They run in a folder of their own, `work`, with BUILD, SOURCE,
# VERSION, CC and CXX given.
set(work ${CMAKE_CURRENT_BINARY_DIR})
set(source ${CMAKE_CURRENT_LIST_DIR}/consumer)

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

# expect_files(PREFIX REGEX...): each file below has a path that one fits, and each one fits a file.
function(expect_files prefix)
  file(GLOB_RECURSE files RELATIVE ${prefix} ${prefix}/*)
  foreach(regex IN LISTS ARGN)
    set(fitting ${files})
    list(FILTER fitting INCLUDE REGEX ${regex})
    if(NOT fitting)
      message(FATAL_ERROR "no file of ${prefix} is like ${regex}")
    endif()
    list(FILTER files EXCLUDE REGEX ${regex})
  endforeach()
  if(files)
    message(FATAL_ERROR "unexpected in ${prefix}: ${files}")
  endif()
endfunction()
set(profiler_files "^bin/mxprof$" "^include/mxprof/" "^lib.*/libmxprof[.]so" "^lib.*/libmxprof[.]a$"
  "^lib.*/libmxprof_(collect|dnnl)[.]so" "^lib.*/cmake/mxprof/mxprof" "^lib.*/pkgconfig/mxprof[.]pc$"
  "^share/man/man1/mxprof(-[a-z]+)?[.]1$" "^share/bash-completion/completions/mxprof$"
  "^share/zsh/site-functions/_mxprof$" "^share/fish/vendor_completions[.]d/mxprof[.]fish$")

# expect_programs(WAY...): builds and runs the user's project; the rest is handed to CMake.
function(expect_programs way)
  file(REMOVE_RECURSE ${work}/${way})
  run(${CMAKE_COMMAND} -S ${source} -B ${way} -DWAY=${way} -DCMAKE_C_COMPILER=${CC}
    -DCMAKE_CXX_COMPILER=${CXX} ${ARGN})
  run(${CMAKE_COMMAND} --build ${way} -j2)
  foreach(program IN ITEMS consumer consumer_static consumer_cpp)
    expect_version(${work}/${way}/${program})
  endforeach()
endfunction()

# expect_pkg_config(PREFIX): the programs by the compiler alone, in C and C++.
function(expect_pkg_config prefix)
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
    run(${CXX} -std=c++17 ${source}/consumer.cpp -o consumer_hpp ${flags} ${rpath})
    expect_version(${work}/consumer_hpp)
  endif()
endfunction()
