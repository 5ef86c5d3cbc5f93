# SPDX-License-Identifier: Apache-2.0
# What the operators' kernels need: flags for the vector loops, and oneDNN with the OpenMP runtime
# that it runs on, which is told how many threads it may have. Without them there are our own kernels
# and the plain ones. `with_dnnl` says which it is.
set(MXNET_DNNL AUTO CACHE STRING "Kernels of oneDNN: ON, OFF, or AUTO (if it is installed)")
set_property(CACHE MXNET_DNNL PROPERTY STRINGS AUTO ON OFF)

find_library(GOMP_LIBRARY NAMES gomp libgomp.so.1)
find_path(DNNL_INCLUDE_DIR oneapi/dnnl/dnnl.h)
find_library(DNNL_LIBRARY dnnl)
set(with_dnnl OFF)
set(mxp_kernel_libraries)  # what links those objects links these
if(MXNET_DNNL AND GOMP_LIBRARY AND DNNL_INCLUDE_DIR AND DNNL_LIBRARY)
  set(with_dnnl ON)
  set(mxp_kernel_libraries ${DNNL_LIBRARY} ${GOMP_LIBRARY})
elseif(MXNET_DNNL STREQUAL "ON")
  message(FATAL_ERROR "MXNET_DNNL=ON: oneDNN and libgomp not found (scripts/setup build installs them)")
elseif(MXNET_DNNL)
  message(STATUS "oneDNN not found: libmxnet is built without its kernels")
endif()

# mxp_wide_kernels(): all of src/runtime/op/kernels, once per width of vectors: the folder decides.
# `mxp_wide_objects` are the objects. All widths compute the same: only what no result shows (errno,
# flags of exceptions) is given up. A build for a debugger or a sanitizer keeps its lines.
function(mxp_wide_kernels)
  set(folder ${PROJECT_SOURCE_DIR}/src/runtime/op/kernels)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.c)
  set(objects)
  foreach(bytes IN ITEMS 16 32 64)
    set(target mxp_kernels_${bytes})
    add_library(${target} OBJECT ${sources})
    target_include_directories(${target} PRIVATE
      ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${target} PRIVATE mxp_runtime_flags)
    target_compile_definitions(${target} PRIVATE MXN_VECTOR_BYTES=${bytes})
    target_compile_options(${target} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-O3>
      -ffp-contract=off -fno-math-errno -fno-trapping-math ${mxp_flags_${bytes}})
    list(APPEND objects $<TARGET_OBJECTS:${target}>)
  endforeach()
  set(mxp_wide_objects ${objects} PARENT_SCOPE)
endfunction()

# mxp_kernels(TARGET): flags of the loops in src/runtime/op that the compiler makes vectors of.
# Vectors longer than registers are only passed between functions of one file, so how that is done
# need not be warned of (psabi). A choice of two numbers is made without a jump only if computing both
# is allowed (no-trapping-math).
function(mxp_kernels target)
  set(op ${PROJECT_SOURCE_DIR}/src/runtime/op)
  set(flags -O3 -ffp-contract=fast -fno-trapping-math -Wno-psabi)
  set(fused)
  if(mxp_flags_32)
    set(fused -mfma)
  endif()
  set_source_files_properties(${op}/backend/cpu/simd_16.c PROPERTIES COMPILE_OPTIONS "${flags}")
  set_source_files_properties(${op}/backend/cpu/simd_32.c PROPERTIES
    COMPILE_OPTIONS "${flags};${fused};${mxp_flags_32}")
  set_source_files_properties(${op}/backend/cpu/simd_64.c PROPERTIES
    COMPILE_OPTIONS "${flags};${fused};${mxp_flags_64}")
  # Plain C, of each function and type a loop along memory.
  set_source_files_properties(
    ${op}/elementwise/clip.c ${op}/linalg/multiply.c ${PROJECT_SOURCE_DIR}/src/runtime/kvstore/two_bit.c
    PROPERTIES COMPILE_OPTIONS -O3)
  if(with_dnnl)
    target_compile_definitions(${target} PRIVATE MXN_WITH_DNNL)
    target_include_directories(${target} SYSTEM PRIVATE ${DNNL_INCLUDE_DIR})
  endif()
endfunction()
