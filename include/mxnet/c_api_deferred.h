// SPDX-License-Identifier: Apache-2.0
// MXNet's C ABI: deferred compute, networks taken down from the operators that a thread runs. The
// rules of mxnet/c_api.h hold; the switch is the calling thread's.
//
// While it is on, operators run as ever, and each also becomes a node of a graph. Arrays that hold
// data and parameters are told to be variables before. A program that does what a graph does not
// have, such as to read values or to write into arrays, goes on as well; then there is no graph,
// and MXNDArrayGetDeferredComputeSymbol says why.
#ifndef MXNET_C_API_DEFERRED_H_
#define MXNET_C_API_DEFERRED_H_

#include <mxnet/c_types.h>

// 0 or 1; a graph goes on when the switch was off for a while. `prev` may be null.
MXNET_DLL int MXNDArraySetIsDeferredCompute(int deferred_compute_enabled, int *prev);
MXNET_DLL int MXNDArrayIsDeferredCompute(int *curr);
// Each array is the variable at its place, until it is cleared.
MXNET_DLL int MXNDArraySetDeferredComputeVariable(NDArrayHandle *arrays, SymbolHandle *variables,
                                                  int num);
// What the arrays are, as one symbol with an output for each, to be freed as any symbol. -1: there
// is no graph of them. What the thread runs next begins another graph.
MXNET_DLL int MXNDArrayGetDeferredComputeSymbol(NDArrayHandle *output_handles, int num_outputs,
                                                SymbolHandle *out);
// The arrays are no part of a graph any more; what the thread runs next begins another one.
MXNET_DLL int MXNDArrayClearDeferredCompute(NDArrayHandle *arrays, int num);

#endif
