# SPDX-License-Identifier: Apache-2.0
# Examples link as a user's program would: against the shared libraries, public headers only. Those
# that include MXNet's headers are programs on the runtime.
file(GLOB example_sources CONFIGURE_DEPENDS examples/*.c)
foreach(source IN LISTS example_sources)
  get_filename_component(name ${source} NAME_WE)
  file(STRINGS ${source} runtime_lines REGEX "#include <mxnet/")
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE mxp_flags mxprof_shared)
  if(runtime_lines)
    target_link_libraries(${name} PRIVATE mxnet_shared m)
  endif()
endforeach()

if(CMAKE_CXX_COMPILER AND NOT MXPROF_SANITIZE AND NOT MXPROF_LIBFUZZER)
  add_executable(mlp_cpp examples/mlp.cpp)
  target_compile_features(mlp_cpp PRIVATE cxx_std_17)
  target_compile_options(mlp_cpp PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Werror)
  target_link_libraries(mlp_cpp PRIVATE mxnet_shared mxprof_shared)
endif()
