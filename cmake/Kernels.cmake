# SPDX-License-Identifier: Apache-2.0
# What the operators' kernels need: flags for the vector loops, the OpenMP runtime, oneDNN. Without
# the runtime kernels have one thread; without oneDNN, or without the runtime that it runs on, there
# are our own and the plain ones.
set(MXNET_DNNL AUTO CACHE STRING "Kernels of oneDNN: ON, OFF, or AUTO (if it is installed)")
set_property(CACHE MXNET_DNNL PROPERTY STRINGS AUTO ON OFF)

find_library(GOMP_LIBRARY NAMES gomp libgomp.so.1)
find_path(DNNL_INCLUDE_DIR oneapi/dnnl/dnnl.h)
find_library(DNNL_LIBRARY dnnl)
set(with_dnnl OFF)
if(MXNET_DNNL AND GOMP_LIBRARY AND DNNL_INCLUDE_DIR AND DNNL_LIBRARY)
  set(with_dnnl ON)
elseif(MXNET_DNNL STREQUAL "ON")
  message(FATAL_ERROR "MXNET_DNNL=ON: oneDNN and libgomp not found (scripts/setup build installs them)")
elseif(MXNET_DNNL)
  message(STATUS "oneDNN not found: without its kernels")
endif()

# mxp_kernels(TARGET): the objects of src/op. Vectors longer than registers are only passed between
# functions of one file, so how that is done need not be warned of (psabi).
function(mxp_kernels target)
  set(folder ${PROJECT_SOURCE_DIR}/src/op/cpu)
  set_source_files_properties(${folder}/vector_16.c ${folder}/vector_32.c ${folder}/vector_64.c
    PROPERTIES COMPILE_OPTIONS "-O3;-ffp-contract=fast;-Wno-psabi")
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    set_source_files_properties(${folder}/vector_32.c
      PROPERTIES COMPILE_OPTIONS "-O3;-ffp-contract=fast;-Wno-psabi;-mavx2;-mfma")
    set_source_files_properties(${folder}/vector_64.c PROPERTIES COMPILE_OPTIONS
      "-O3;-ffp-contract=fast;-Wno-psabi;-mfma;-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mprefer-vector-width=512")
  endif()
  if(GOMP_LIBRARY)
    target_compile_definitions(${target} PRIVATE MXN_WITH_GOMP)
  endif()
  if(with_dnnl)
    target_compile_definitions(${target} PRIVATE MXN_WITH_DNNL)
    target_include_directories(${target} SYSTEM PRIVATE ${DNNL_INCLUDE_DIR})
  endif()
endfunction()

# What a library or program with those objects links.
set(mxp_kernel_libraries)
if(GOMP_LIBRARY)
  list(APPEND mxp_kernel_libraries ${GOMP_LIBRARY})
endif()
if(with_dnnl)
  list(APPEND mxp_kernel_libraries ${DNNL_LIBRARY})
endif()
