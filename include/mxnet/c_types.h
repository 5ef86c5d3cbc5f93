// SPDX-License-Identifier: Apache-2.0
// MXNet's C ABI: handles and the macros its declarations use. Included by the other headers here.
#ifndef MXNET_C_TYPES_H_
#define MXNET_C_TYPES_H_

#ifdef __cplusplus
#define MXNET_EXTERN_C extern "C"
#else
#define MXNET_EXTERN_C
#endif
#define MXNET_DLL MXNET_EXTERN_C

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint32_t mx_uint;
typedef float mx_float;
typedef int64_t dim_t;

typedef void *NDArrayHandle;
typedef void *AtomicSymbolCreator;
typedef const void *FunctionHandle;
typedef void *SymbolHandle;
typedef void *CachedOpHandle;
typedef void *ExecutorHandle;
typedef void *KVStoreHandle;
typedef void *DLManagedTensorHandle;  // a DLManagedTensor of dlpack.h
typedef void *DataIterCreator;
typedef void *DatasetCreator;
typedef void *BatchifyFunctionCreator;
typedef void *MXNetFunctionHandle;
typedef void *ProfileHandle;
typedef void *EngineVarHandle;
typedef const void *ContextHandle;  // a struct MXContext
typedef const void *EngineFnPropertyHandle;  // an int, FnProperty's number

#endif
