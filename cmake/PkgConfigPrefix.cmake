# SPDX-License-Identifier: Apache-2.0
# Runs inside of `cmake --install`: in the system's own folders, which nobody moves, mxprof.pc has the prefix as it is
# said, and pkg-config leaves out what the compiler looks into anyway. Elsewhere it is relative to the file, so that an
# installed tree may be moved.
cmake_policy(VERSION 3.25)  # a script of an installation begins without any
if("$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}" MATCHES "/_CPack_Packages/.*/usr$")
  set(mxp_prefix /usr)  # what cpack unpacks there
elseif(CMAKE_INSTALL_PREFIX MATCHES "^/usr(/local)?$")
  set(mxp_prefix "${CMAKE_INSTALL_PREFIX}")
else()
  return()
endif()
cmake_path(ABSOLUTE_PATH mxp_pkgconfig_dir BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" OUTPUT_VARIABLE mxp_folder)
file(READ "$ENV{DESTDIR}${mxp_folder}/mxprof.pc" mxp_text)
string(REGEX REPLACE "^prefix=[^\n]*" "prefix=${mxp_prefix}" mxp_text "${mxp_text}")
file(WRITE "$ENV{DESTDIR}${mxp_folder}/mxprof.pc" "${mxp_text}")
