// SPDX-License-Identifier: Apache-2.0
// MXNet's C ABI. Signatures are those of MXNet's 2.0 line; names ending in Ex are its 1.x line's.
// Every function returns 0, or -1 with the reason in MXGetLastError(), and may be called from any
// thread, in any order, any number of times. Strings passed in are copied. Arrays and strings given
// out belong to the library; how long they live is said with each function.
#ifndef MXNET_C_API_H_
#define MXNET_C_API_H_

#include <mxnet/c_api_cached_op.h>
#include <mxnet/c_api_custom.h>
#include <mxnet/c_api_data_iter.h>
#include <mxnet/c_api_deferred.h>
#include <mxnet/c_api_engine.h>
#include <mxnet/c_api_executor.h>
#include <mxnet/c_api_kvstore.h>
#include <mxnet/c_api_library.h>
#include <mxnet/c_api_ndarray.h>
#include <mxnet/c_api_operator.h>
#include <mxnet/c_api_profile.h>
#include <mxnet/c_api_registry.h>
#include <mxnet/c_api_symbol.h>
#include <mxnet/c_types.h>

#endif
