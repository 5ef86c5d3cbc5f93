# SPDX-License-Identifier: Apache-2.0
# mxp_objects(NAME FLAGS): the object library mxp_NAME of all that lies under src/NAME.
function(mxp_objects name flags)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.c)
  if(NOT with_dnnl)
    list(FILTER sources EXCLUDE REGEX "/backend/dnnl/")
  endif()
  list(FILTER sources EXCLUDE REGEX "/op/kernels/")  # compiled once per width (Kernels.cmake)
  list(FILTER sources EXCLUDE REGEX "/kvstore/mpi/")  # a library of its own (Mpi.cmake)
  list(FILTER sources EXCLUDE REGEX "/profiler/(analysis|collect)/")  # libraries of their own
  add_library(mxp_${name} OBJECT ${sources})
  target_include_directories(mxp_${name} PRIVATE
    ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(mxp_${name} PRIVATE ${flags})
endfunction()
