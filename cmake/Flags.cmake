# SPDX-License-Identifier: Apache-2.0
# How everything of ours is compiled and linked. Nothing here is passed on to users of the library.
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

add_library(mxp_flags INTERFACE)
# The test points of the record path (src/profiler/recorder/test_point.h) are in every build with asserts.
target_compile_definitions(mxp_flags INTERFACE _GNU_SOURCE $<$<CONFIG:Debug>:MXP_TEST_POINTS>)
target_compile_options(mxp_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla)
# Where a project that has us inside names no kind of build, a profiler is fast all the same.
target_compile_options(mxp_flags INTERFACE $<$<CONFIG:>:-O2>)
# A loop that is offered to the vectoriser and has a call in it is no mistake.
if(CMAKE_C_COMPILER_ID MATCHES Clang)
  target_compile_options(mxp_flags INTERFACE -Wno-pass-failed)
endif()
if(MXPROF_WERROR)
  target_compile_options(mxp_flags INTERFACE -Werror)
endif()

if(MXPROF_SANITIZE)
  set(sanitize_flags -fsanitize=${MXPROF_SANITIZE} -fno-omit-frame-pointer)
  if(MXPROF_SANITIZE MATCHES "undefined")
    list(APPEND sanitize_flags -fno-sanitize-recover=all)
  endif()
  target_compile_options(mxp_flags INTERFACE ${sanitize_flags})
  target_link_options(mxp_flags INTERFACE ${sanitize_flags})
endif()

# Code coverage for libFuzzer in everything; only the targets themselves get its main().
if(MXPROF_LIBFUZZER)
  target_compile_options(mxp_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# libmxprof: initial-exec thread-local storage is one load on the recording path. The version map,
# not -fvisibility, decides what is exported: public headers stay free of export macros. Without
# semantic interposition the compiler may still inline and bind our own functions.
add_library(mxp_runtime_flags INTERFACE)
target_link_libraries(mxp_runtime_flags INTERFACE mxp_flags)
target_compile_options(mxp_runtime_flags INTERFACE -fno-semantic-interposition)
add_library(mxp_profiler_flags INTERFACE)
target_link_libraries(mxp_profiler_flags INTERFACE mxp_runtime_flags)
target_compile_options(mxp_profiler_flags INTERFACE
  -ftls-model=initial-exec -ffunction-sections -fdata-sections)

# Code and what is only read in one segment, one table of names: 8 KB less of each library, and two
# mappings less of each process.
include(CheckLinkerFlag)
check_linker_flag(C -Wl,-z,noseparate-code MXPROF_LINKS_ONE_SEGMENT)
check_linker_flag(C -Wl,--hash-style=gnu MXPROF_LINKS_GNU_HASH)
set(mxp_small_link
  $<$<BOOL:${MXPROF_LINKS_ONE_SEGMENT}>:-Wl,-z,noseparate-code>
  $<$<BOOL:${MXPROF_LINKS_GNU_HASH}>:-Wl,--hash-style=gnu>)

# The link of a shared library of ours: `map` is the list of what it exports. What nothing in it
# reaches stays out: exporters that only the command has, for example.
function(mxp_link_shared library map)
  set(map_file ${PROJECT_SOURCE_DIR}/${map})
  set_target_properties(${library} PROPERTIES LINK_DEPENDS ${map_file})
  target_link_libraries(${library} PRIVATE $<BUILD_INTERFACE:mxp_flags>)
  target_link_options(${library} PRIVATE
    -Wl,--version-script=${map_file} -Wl,--gc-sections -Wl,-Bsymbolic-functions
    -Wl,-z,nodelete -Wl,-z,relro -Wl,-z,now ${mxp_small_link})
  # A sanitizer's symbols come from the program, so only a plain build can insist on finding all.
  if(NOT MXPROF_SANITIZE AND NOT MXPROF_LIBFUZZER)
    target_link_options(${library} PRIVATE -Wl,-z,defs)
  endif()
endfunction()

# Vectors of 16 bytes are what every processor has; how wider ones are asked for. None contracts
# a product and a sum into one operation: that is for who wants it.
set(mxp_flags_32)
set(mxp_flags_64)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(mxp_flags_32 -mavx2)
  set(mxp_flags_64 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=512)
endif()
