// SPDX-License-Identifier: Apache-2.0
// The switches of NumPy's shapes: one for the process and one for each thread.
#include "base/atomic.h"
#include "runtime/tensor/shape.h"

static mxp_atomic_bool of_all;
static _Thread_local bool of_thread;

bool mxn_numpy_shape(void)
{
    return of_thread || mxn_numpy_shape_of_all();
}

bool mxn_numpy_shape_of_all(void)
{
    return mxp_atomic_load(&of_all);
}

void mxn_numpy_shape_set_of_all(bool on)
{
    mxp_atomic_store(&of_all, on);
}

bool mxn_numpy_shape_of_thread(void)
{
    return of_thread;
}

bool mxn_numpy_shape_set_of_thread(bool on)
{
    bool before = of_thread;
    of_thread = on;
    return before;
}
