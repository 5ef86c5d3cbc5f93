// SPDX-License-Identifier: Apache-2.0
// A custom operator for tests, MyAddOne: output = input + 1, gradient handed through; its auxiliary
// state, if parameter `state` is given, counts forwards. Parameter `mode` says what else its
// functions do.
#ifndef ADD_ONE_H
#define ADD_ONE_H

#include <mxnet/c_api.h>

enum {
    ADD_ONE_PLAIN,
    ADD_ONE_FAILS,  // forward returns 0
    ADD_ONE_BACKWARD_FAILS,
    ADD_ONE_CALL_FAILS,  // forward returns 0 behind a failing MX call
    ADD_ONE_PUSH_FAILS,  // an operation it pushes on its output fails
    ADD_ONE_WAITS,  // reads its input back, and asks whether recording is off
    ADD_ONE_WAITS_FOR_ALL,  // tries to; must be refused
    ADD_ONE_NESTS,  // lets another MyAddOne compute
    ADD_ONE_MODES
};

// How often each of its functions was called; atomic.
extern int add_one_properties, add_one_property_deletes, add_one_operators,
    add_one_operator_deletes, add_one_forwards, add_one_backwards, add_one_trained;

void add_one_register(void);

// `state` may be null. Returns what MXImperativeInvoke does.
int add_one_invoke(int mode, NDArrayHandle in, NDArrayHandle state, NDArrayHandle *out);

#endif
