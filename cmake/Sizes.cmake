# SPDX-License-Identifier: Apache-2.0
# Which files of base and profiler are made fast and which small, and which can be unwound by tables.
# A program that is profiled carries all of it, so small is the rule; what runs at each record, or in a
# dump for each one, is made fast. Debug builds are as the preset says.

# mxp_sizes(): properties of the sources of mxp_base and mxp_profiler.
function(mxp_sizes)
  set(profiler ${PROJECT_SOURCE_DIR}/src/profiler)
  set(base ${PROJECT_SOURCE_DIR}/src/base)
  file(GLOB_RECURSE all CONFIGURE_DEPENDS ${base}/*.c ${profiler}/*.c)
  list(FILTER all EXCLUDE REGEX "/profiler/analysis/")  # only the command has it
  file(GLOB recording CONFIGURE_DEPENDS ${profiler}/recorder/record/*.c)
  list(REMOVE_ITEM recording ${profiler}/recorder/record/wait.c)  # of threads that have waited
  set(fast ${recording})
  foreach(name IN ITEMS
      base/alloc base/fork_lock base/id_map base/strbuf base/text base/thread_slot
      profiler/recorder/thread/async_table profiler/recorder/thread/counter_stats
      profiler/recorder/thread/standing profiler/recorder/thread/thread
      profiler/recorder/thread/thread_chunk
      profiler/session/objects/durations profiler/session/objects/handles
      profiler/collect/functions/hooks
      profiler/recorder/control/record_cost  # times spans as programs have them
      profiler/trace/checksum profiler/trace/event profiler/trace/merge profiler/trace/reader
      profiler/export/chrome/chrome profiler/export/chrome/chrome_event
      profiler/export/chrome/chrome_text
      profiler/export/table/aggregate profiler/export/table/aggregate_scopes)
    if(NOT EXISTS ${PROJECT_SOURCE_DIR}/src/${name}.c)
      message(FATAL_ERROR "cmake/Sizes.cmake: there is no src/${name}.c")
    endif()
    list(APPEND fast ${PROJECT_SOURCE_DIR}/src/${name}.c)
  endforeach()
  # What clang calls small enough is a tenth larger than what gcc does; and its -O2 unrolls loops and makes
  # vectors of them, which gcc hardly does: 4 KB for loops that are short.
  set(small -Os)
  set(quick)
  if(CMAKE_C_COMPILER_ID MATCHES Clang)
    set(small -Oz)
    set(quick -fno-unroll-loops -fno-vectorize)
    list(REMOVE_ITEM fast ${profiler}/trace/merge.c ${base}/id_map.c ${base}/text.c)  # they would cost a page
  endif()
  foreach(source IN LISTS all)
    set(options ${quick})
    if(NOT source IN_LIST fast)
      list(APPEND options ${small})
    endif()
    if(NOT source MATCHES "/recorder/(record|thread)/|/session/objects/")
      list(APPEND options -fno-omit-frame-pointer)
    endif()
    # Frame pointers and no tables: why, and who is the worse for it, is in DESIGN.md, "Size".
    if(source MATCHES "/base/os/|/profiler/(clock|trace|export|session/(output|config))/"
       OR source MATCHES "/profiler/(recorder/(drain|control|store|memory)/|session/[a-z_]+[.]c)")
      list(APPEND options -fno-asynchronous-unwind-tables -fno-unwind-tables)
    endif()
    list(JOIN options "$<SEMICOLON>" options)
    set_source_files_properties(${source} PROPERTIES
      COMPILE_OPTIONS "$<$<NOT:$<CONFIG:Debug>>:${options}>")
  endforeach()
endfunction()
