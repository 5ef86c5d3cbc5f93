# SPDX-License-Identifier: Apache-2.0
# mxp_folders(RESULT FLAGS folder...): one object library mxp_<folder> for each folder of src/ that
# has sources (its sub-folders included); RESULT receives their objects.
function(mxp_folders result flags)
  set(objects)
  foreach(folder IN LISTS ARGN)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${folder}/*.c)
    if(folder STREQUAL "op" AND NOT with_dnnl)
      list(FILTER sources EXCLUDE REGEX "/op/dnnl/")
    endif()
    if(sources)
      add_library(mxp_${folder} OBJECT ${sources})
      target_include_directories(mxp_${folder} PRIVATE
        ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
      target_link_libraries(mxp_${folder} PRIVATE ${flags})
      list(APPEND objects $<TARGET_OBJECTS:mxp_${folder}>)
    endif()
  endforeach()
  set(${result} ${objects} PARENT_SCOPE)
endfunction()
