# SPDX-License-Identifier: Apache-2.0
# Runs inside of `cmake --install`, before and after everything else: notes in PREFIX/share/mxprof/installed.txt
# what was put there, for Uninstall.cmake. A line is `file PATH` or `folder PATH`, from PREFIX on; a folder is listed
# if it was not there before. Later installations add to the list. Installing single components, as packages
# do, notes nothing.
cmake_policy(VERSION 3.25)  # a script of an installation begins without any
set(mxp_root "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")
set(mxp_list share/mxprof/installed.txt)

if(NOT mxp_noting)
  set(mxp_noting ON)
  file(GLOB_RECURSE mxp_folders_before LIST_DIRECTORIES ON RELATIVE "${mxp_root}" "${mxp_root}/*")
  return()
endif()
set(mxp_noting OFF)

set(mxp_lines)
if(EXISTS "${mxp_root}/${mxp_list}")
  file(STRINGS "${mxp_root}/${mxp_list}" mxp_lines)
endif()
foreach(mxp_file IN LISTS CMAKE_INSTALL_MANIFEST_FILES ITEMS "${CMAKE_INSTALL_PREFIX}/${mxp_list}")
  cmake_path(RELATIVE_PATH mxp_file BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" OUTPUT_VARIABLE mxp_path)
  if(mxp_path MATCHES "^[.][.]")
    message(WARNING "${mxp_file} is not below ${CMAKE_INSTALL_PREFIX}: make uninstall will leave it")
    continue()
  endif()
  list(APPEND mxp_lines "file ${mxp_path}")
  cmake_path(GET mxp_path PARENT_PATH mxp_folder)
  while(NOT mxp_folder STREQUAL "" AND NOT mxp_folder IN_LIST mxp_folders_before)
    list(APPEND mxp_lines "folder ${mxp_folder}")
    cmake_path(GET mxp_folder PARENT_PATH mxp_folder)
  endwhile()
endforeach()
list(REMOVE_DUPLICATES mxp_lines)
list(SORT mxp_lines)
list(JOIN mxp_lines "\n" mxp_text)
file(WRITE "${mxp_root}/${mxp_list}" "${mxp_text}\n")
