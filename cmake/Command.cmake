# SPDX-License-Identifier: Apache-2.0
# The mxprof command. Its archives of zlib, libdeflate and zstd are linked statically where they are. Where one is
# missing, the command is built without what it does: it says so here, in --version and when asked for it.
find_path(ZLIB_HEADERS zlib.h)
find_path(LIBDEFLATE_HEADERS libdeflate.h)
find_path(ZSTD_HEADERS zstd.h)
find_library(ZLIB_ARCHIVE NAMES libz.a z)
find_library(LIBDEFLATE_ARCHIVE NAMES libdeflate.a deflate)
find_library(ZSTD_ARCHIVE NAMES libzstd.a zstd)

# mxp_compression(NAME HEADERS ARCHIVE files...): the library's own files of tools/compression, or the
# one that stands for them.
function(mxp_compression name headers archive)
  string(TOUPPER ${name} upper)
  if(headers AND archive)
    list(TRANSFORM ARGN PREPEND tools/compression/)
    target_sources(mxprof_compression PRIVATE ${ARGN})
    target_include_directories(mxprof_compression PRIVATE ${headers})
    target_compile_definitions(mxprof_compression PUBLIC MXP_WITH_${upper})
    target_link_libraries(mxprof_compression PRIVATE ${archive})
    return()
  endif()
  target_sources(mxprof_compression PRIVATE tools/compression/without_${name}.c)
  set(mxp_missing ${mxp_missing} ${name} PARENT_SCOPE)
endfunction()

file(GLOB command_sources CONFIGURE_DEPENDS
  tools/*.c tools/diff/*.c tools/export/*.c tools/instances/*.c tools/report/*.c tools/view/*.c)
file(GLOB import_sources CONFIGURE_DEPENDS tools/import/*.c)
file(GLOB text_sources CONFIGURE_DEPENDS tools/text/*.c)
file(GLOB compression_sources CONFIGURE_DEPENDS tools/compression/*.c tools/symbols/*.c tools/image/*.c)
list(FILTER compression_sources EXCLUDE REGEX "/(gzip|gzip_pack|gunzip|pack|unpack|record_code|without_[a-z]+)[.]c$")

add_library(mxprof_compression STATIC ${compression_sources})
target_include_directories(mxprof_compression PUBLIC tools src)
target_link_libraries(mxprof_compression PUBLIC mxprof_static PRIVATE mxp_flags)
set(mxp_missing)
mxp_compression(zlib "${ZLIB_HEADERS}" "${ZLIB_ARCHIVE}" gzip.c gunzip.c)
set(mxp_without ${mxp_missing})
mxp_compression(libdeflate "${LIBDEFLATE_HEADERS}" "${LIBDEFLATE_ARCHIVE}" gzip_pack.c)
set(mxp_missing ${mxp_without})  # pages are packed by zlib then
mxp_compression(zstd "${ZSTD_HEADERS}" "${ZSTD_ARCHIVE}" pack.c unpack.c record_code.c)
if(mxp_missing)
  list(JOIN mxp_missing " and " missing)
  message(WARNING "${missing} not found: the mxprof command will not compress. Without zlib it neither writes nor reads "
    "*.gz, without zstd it neither writes nor reads *.mxpz. Debian: apt-get install zlib1g-dev libzstd-dev")
endif()

add_library(mxprof_import STATIC ${import_sources})
target_link_libraries(mxprof_import PUBLIC mxprof_compression PRIVATE mxp_flags)

# What is computed from traces, without printing.
file(GLOB_RECURSE analysis_sources CONFIGURE_DEPENDS src/profiler/analysis/*.c)
add_library(mxprof_analysis STATIC ${analysis_sources})
target_include_directories(mxprof_analysis PUBLIC src)
target_link_libraries(mxprof_analysis PUBLIC mxprof_static m PRIVATE mxp_flags)
# Loops for ceilings, a file for each width of vectors (Kernels.cmake has how they are asked for).
set(fused)
if(mxp_flags_32)
  set(fused -mfma)
endif()
foreach(bytes IN ITEMS 16 32 64)
  set(flags -O3 -ffp-contract=fast -Wno-psabi ${mxp_flags_${bytes}})
  if(bytes GREATER 16)
    list(APPEND flags ${fused})
  endif()
  set_source_files_properties(src/profiler/analysis/roof/ceiling_${bytes}.c PROPERTIES
    COMPILE_OPTIONS "${flags}")
endforeach()

add_library(mxprof_text STATIC ${text_sources})
target_include_directories(mxprof_text PUBLIC tools src)
target_link_libraries(mxprof_text PUBLIC mxprof_static m PRIVATE mxp_flags)

# The page of `mxprof view`: what writes its sections, and the page itself, joined by a program that
# runs here. The page of the tests stands in while there is no other.
file(GLOB page_sources CONFIGURE_DEPENDS tools/page/*.c)
list(FILTER page_sources EXCLUDE REGEX "/join[.]c$")
add_library(mxprof_page STATIC ${page_sources})
target_link_libraries(mxprof_page PUBLIC mxprof_compression mxprof_analysis mxprof_text PRIVATE mxp_flags)
add_executable(mxprof_page_join tools/page/join.c)
target_link_libraries(mxprof_page_join PRIVATE mxp_flags mxprof_page)
set(page_folder ${PROJECT_SOURCE_DIR}/tools/page)
file(GLOB page_files CONFIGURE_DEPENDS ${page_folder}/*.js ${page_folder}/page.css ${page_folder}/page.html
  ${page_folder}/modules.txt)
# By its file: CMake takes a program built for another system for one of this one's.
add_custom_command(OUTPUT page_pieces.c VERBATIM DEPENDS mxprof_page_join ${page_files}
  COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:mxprof_page_join> ${page_folder} ${PROJECT_BINARY_DIR}/page_pieces.c)

add_executable(mxprof_command ${command_sources} page_pieces.c)
set_target_properties(mxprof_command PROPERTIES OUTPUT_NAME mxprof)
target_include_directories(mxprof_command PRIVATE src)
# Where the collector is installed, seen from the command.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_LIBDIR BASE_DIRECTORY ${CMAKE_INSTALL_FULL_BINDIR}
  OUTPUT_VARIABLE libraries_from_command)
target_compile_definitions(mxprof_command PRIVATE
  MXP_LIBRARIES_FROM_COMMAND="${libraries_from_command}")
target_link_libraries(mxprof_command PRIVATE mxp_flags mxprof_page mxprof_text mxprof_import mxprof_compression
  mxprof_analysis mxprof_static)

# Databases (tools/export/sqlite) are written where SQLite is.
find_path(SQLITE_HEADERS sqlite3.h)
find_library(SQLITE_ARCHIVE NAMES libsqlite3.a sqlite3)
if(SQLITE_HEADERS AND SQLITE_ARCHIVE)
  file(GLOB sqlite_sources CONFIGURE_DEPENDS tools/export/sqlite/*.c)
  target_sources(mxprof_command PRIVATE ${sqlite_sources})
  target_compile_definitions(mxprof_command PRIVATE MXP_WITH_SQLITE)
  target_include_directories(mxprof_command SYSTEM PRIVATE ${SQLITE_HEADERS})
  target_link_libraries(mxprof_command PRIVATE ${SQLITE_ARCHIVE} m ${CMAKE_DL_LIBS})
else()
  message(STATUS "SQLite not found: mxprof convert writes no databases (scripts/setup build installs it)")
endif()

# What other tools load to hand their marks over. It may be loaded late, so it has one pointer of
# thread-local storage.
file(GLOB_RECURSE collect_sources CONFIGURE_DEPENDS src/profiler/collect/*.c)
list(FILTER collect_sources EXCLUDE REGEX "/collect/dnnl/")
set(python_texts)
foreach(text watch torch_marks functions)  # run inside of Python programs
  set(from ${PROJECT_SOURCE_DIR}/src/profiler/collect/python/${text}.py)
  add_custom_command(OUTPUT python_${text}.c VERBATIM DEPENDS ${from} cmake/EmbedText.cmake
    COMMAND ${CMAKE_COMMAND} -DFROM=${from} -DTO=${PROJECT_BINARY_DIR}/python_${text}.c
      -DNAME=mxp__collect_${text} -P ${PROJECT_SOURCE_DIR}/cmake/EmbedText.cmake)
  list(APPEND python_texts ${PROJECT_BINARY_DIR}/python_${text}.c)
endforeach()
add_library(mxprof_collect SHARED
  ${collect_sources} ${python_texts} $<TARGET_OBJECTS:mxp_base>)
target_include_directories(mxprof_collect PRIVATE src)
target_compile_definitions(mxprof_collect PRIVATE MXP_INLINE)
target_link_libraries(mxprof_collect PRIVATE mxp_runtime_flags mxprof_shared)
set_target_properties(mxprof_collect PROPERTIES
  VERSION ${PROJECT_VERSION} SOVERSION 0 INSTALL_RPATH "\$ORIGIN" BUILD_WITH_INSTALL_RPATH ON)
mxp_link_shared(mxprof_collect src/profiler/collect/libmxprof_collect.map)

# In the place of printf, for oneDNN's verbose lines; preloaded when asked for.
file(GLOB dnnl_sources CONFIGURE_DEPENDS src/profiler/collect/dnnl/*.c)
add_library(mxprof_dnnl SHARED ${dnnl_sources})
target_include_directories(mxprof_dnnl PRIVATE src)
target_link_libraries(mxprof_dnnl PRIVATE mxp_runtime_flags mxprof_shared)
set_target_properties(mxprof_dnnl PROPERTIES
  VERSION ${PROJECT_VERSION} SOVERSION 0 INSTALL_RPATH "\$ORIGIN" BUILD_WITH_INSTALL_RPATH ON)
mxp_link_shared(mxprof_dnnl src/profiler/collect/dnnl/libmxprof_dnnl.map)

# `mxprof run` loads both.
add_dependencies(mxprof_command mxprof_collect mxprof_dnnl)

# Pages of the manual and completion of shells, made of the command's own words. A command for another
# machine cannot be run here: then there are none.
if(NOT CMAKE_CROSSCOMPILING)
  set(mxp_words ${PROJECT_BINARY_DIR}/words)
  add_custom_command(OUTPUT ${mxp_words}/made VERBATIM DEPENDS mxprof_command
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${mxp_words}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${mxp_words}/man1 ${mxp_words}/bash ${mxp_words}/zsh ${mxp_words}/fish
    COMMAND mxprof_command --manual ${mxp_words}/man1
    COMMAND mxprof_command --completion bash > ${mxp_words}/bash/mxprof
    COMMAND mxprof_command --completion zsh > ${mxp_words}/zsh/_mxprof
    COMMAND mxprof_command --completion fish > ${mxp_words}/fish/mxprof.fish
    COMMAND ${CMAKE_COMMAND} -E touch ${mxp_words}/made)
  add_custom_target(mxprof_words ALL DEPENDS ${mxp_words}/made)
endif()
