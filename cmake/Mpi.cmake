# SPDX-License-Identifier: Apache-2.0
# libmxnet_mpi.so, the transport over MPI, beside libmxnet.so, which loads it where mpirun has started the
# process. It is built where MPI is found and the only thing that links it; it has its own copy of the few
# files of libmxnet that it needs. Sanitizers are not for it: MPI's own leaks and races are not ours.
if(MXPROF_SANITIZE OR MXPROF_LIBFUZZER)
  return()
endif()
find_package(MPI QUIET COMPONENTS C)
if(NOT MPI_C_FOUND)
  message(STATUS "MPI not found: no libmxnet_mpi.so (Debian: libopenmpi-dev openmpi-bin)")
  return()
endif()
file(GLOB mpi_sources CONFIGURE_DEPENDS src/runtime/kvstore/mpi/*.c)
add_library(mxnet_mpi MODULE $<TARGET_OBJECTS:mxp_base> ${mpi_sources}
  src/runtime/kvstore/doorbell.c src/runtime/kvstore/own_address.c src/runtime/kvstore/peers.c src/runtime/kvstore/wire.c
  src/runtime/tensor/dtype.c)
set_target_properties(mxnet_mpi PROPERTIES INSTALL_RPATH "\$ORIGIN" BUILD_WITH_INSTALL_RPATH ON)
target_include_directories(mxnet_mpi PRIVATE include src)
target_compile_options(mxnet_mpi PRIVATE -ffunction-sections -fdata-sections)
# The C interface alone: mpicxx's library is in what some implementations name.
target_include_directories(mxnet_mpi SYSTEM PRIVATE ${MPI_C_INCLUDE_DIRS})
target_link_libraries(mxnet_mpi PRIVATE mxp_runtime_flags mxprof_shared ${MPI_C_LIBRARIES} m)
mxp_link_shared(mxnet_mpi src/runtime/kvstore/mpi/libmxnet_mpi.map)
if(TARGET mxnet_shared)
  add_dependencies(mxnet_shared mxnet_mpi)
endif()
