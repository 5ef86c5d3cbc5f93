# SPDX-License-Identifier: Apache-2.0
# cmake -DPREFIX=folder -P Uninstall.cmake (make uninstall): removes the files that installations into PREFIX have
# noted (Installed.cmake), and of the folders that they made those that are empty then. With DESTDIR in the environment
# those below it, as an installation does.
cmake_minimum_required(VERSION 3.25)
set(list share/mxprof/installed.txt)
cmake_path(ABSOLUTE_PATH PREFIX NORMALIZE)
set(PREFIX "$ENV{DESTDIR}${PREFIX}")
if(NOT EXISTS "${PREFIX}/${list}")
  message(FATAL_ERROR "nothing to uninstall: there is no ${PREFIX}/${list}, in which `make install PREFIX=...` and "
    "`make install-profiler PREFIX=...` note what they put there")
endif()
file(STRINGS "${PREFIX}/${list}" lines)

set(folders)
set(removed 0)
foreach(line IN LISTS lines)
  if(line MATCHES "(^| |/)[.][.](/|$)" OR NOT line MATCHES "^(file|folder) ([^/].*)$")
    message(FATAL_ERROR "${PREFIX}/${list} is damaged at '${line}': nothing more was removed")
  endif()
  set(path "${PREFIX}/${CMAKE_MATCH_2}")
  if(CMAKE_MATCH_1 STREQUAL "folder")
    list(APPEND folders "${path}")
  elseif(EXISTS "${path}" OR IS_SYMLINK "${path}")
    file(REMOVE "${path}")
    if(EXISTS "${path}" OR IS_SYMLINK "${path}")
      message(FATAL_ERROR "${path} cannot be removed; as root or with sudo?")
    endif()
    math(EXPR removed "${removed} + 1")
  endif()
endforeach()

# What is inside comes before what is around it.
list(SORT folders ORDER DESCENDING)
foreach(folder IN LISTS folders)
  file(GLOB inside LIST_DIRECTORIES ON "${folder}/*")
  if(IS_DIRECTORY "${folder}" AND NOT inside)
    file(REMOVE_RECURSE "${folder}")
  endif()
endforeach()
message(STATUS "${removed} files removed from ${PREFIX}")
