# SPDX-License-Identifier: Apache-2.0
# libmxnet, the tensor runtime that the profiler was made for.
include(cmake/Kernels.cmake)
include(cmake/Json.cmake)

mxp_objects(runtime mxp_runtime_flags)
mxp_kernels(mxp_runtime)
mxp_wide_kernels()
mxp_json(mxp_runtime)

# libmxnet has its own copy of base's code; what both must agree on it asks libmxprof.so for.
add_library(mxnet_shared SHARED
  $<TARGET_OBJECTS:mxp_base> $<TARGET_OBJECTS:mxp_runtime> ${mxp_wide_objects})
set_target_properties(mxnet_shared PROPERTIES
  OUTPUT_NAME mxnet EXPORT_NAME mxnet VERSION ${PROJECT_VERSION} SOVERSION 0
  INSTALL_RPATH "\$ORIGIN" BUILD_WITH_INSTALL_RPATH ON)
target_link_libraries(mxnet_shared PUBLIC mxprof_shared PRIVATE m ${mxp_kernel_libraries} ${mxp_json_library})
mxp_link_shared(mxnet_shared src/runtime/libmxnet.map)
# For tests, which reach internals.
add_library(mxnet_static STATIC $<TARGET_OBJECTS:mxp_runtime> ${mxp_wide_objects})
target_link_libraries(mxnet_static INTERFACE mxprof_static m ${mxp_kernel_libraries} ${mxp_json_library})

include(cmake/Mpi.cmake)

# ---- Python ------------------------------------------------------------------------------------
# The extension of the package in python/, for the interpreter found; it looks its functions up in
# the library that the package loads. Without Python's headers the package uses ctypes.
if(NOT MXPROF_SANITIZE AND NOT MXPROF_LIBFUZZER)
  set(Python3_FIND_STRATEGY LOCATION)  # the python3 of the path, which also makes .venv
  find_package(Python3 COMPONENTS Interpreter Development.Module)
  if(Python3_Development.Module_FOUND)
    file(GLOB python_sources CONFIGURE_DEPENDS python/src/*.c)
    Python3_add_library(python_core MODULE WITH_SOABI ${python_sources})
    target_include_directories(python_core PRIVATE include)
    target_link_libraries(python_core PRIVATE mxp_flags)
    set_target_properties(python_core PROPERTIES PREFIX "" OUTPUT_NAME _core
      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/python)
  endif()
endif()
