// SPDX-License-Identifier: Apache-2.0
// libmxnet for C++17 programs, header-only, with the names of MXNet's C++ package: arrays, symbols,
// executors, data iterators, optimizers. Everything that can fail throws mxnet::cpp::Error with the
// library's message. Handles are shared: copies of an object are the same array, symbol or
// iterator, which goes with the last of them.
//
// Thread rule: that of the C functions (mxnet/c_api.h). An executor, an optimizer and an iterator
// belong to one thread at a time.
#ifndef MXNET_CPP_MXNETCPP_H_
#define MXNET_CPP_MXNETCPP_H_

#include <mxnet-cpp/executor.h>
#include <mxnet-cpp/initializer.h>
#include <mxnet-cpp/io.h>
#include <mxnet-cpp/metric.h>
#include <mxnet-cpp/ndarray.h>
#include <mxnet-cpp/op.h>
#include <mxnet-cpp/optimizer.h>
#include <mxnet-cpp/symbol.h>

#endif
