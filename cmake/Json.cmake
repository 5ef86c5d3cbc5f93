# SPDX-License-Identifier: Apache-2.0
# Jansson reads the JSON of symbols. Without it libmxnet writes them and says that it cannot read any.
find_path(JANSSON_INCLUDE_DIR jansson.h)
find_library(JANSSON_LIBRARY jansson)
set(mxp_json_library)  # what links the runtime's objects links this
if(JANSSON_INCLUDE_DIR AND JANSSON_LIBRARY)
  set(mxp_json_library ${JANSSON_LIBRARY})
else()
  message(STATUS "Jansson not found: libmxnet reads no symbols (scripts/setup build installs it)")
endif()

function(mxp_json target)
  if(mxp_json_library)
    target_compile_definitions(${target} PRIVATE MXN_WITH_JANSSON)
    target_include_directories(${target} SYSTEM PRIVATE ${JANSSON_INCLUDE_DIR})
  endif()
endfunction()
