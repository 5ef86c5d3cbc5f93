// SPDX-License-Identifier: Apache-2.0
// The switches a thread runs operators under. Autograd's and NumPy's functions set them; a custom
// operator's thread takes them over from the thread that has pushed it.
#ifndef MXN_IMPERATIVE_THREAD_MODE_H
#define MXN_IMPERATIVE_THREAD_MODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"

typedef struct mxn_thread_mode {
    union {
        struct {
            bool recording;
            bool deferred;  // operators are watched: see autograd.h
        };
        uint16_t watched;  // 0: neither, in one look
    };
    bool training;
    bool numpy_shape;  // this thread's own switch
} mxn_thread_mode;

extern _Thread_local mxn_thread_mode mxn__mode __attribute__((tls_model("initial-exec")));
extern mxp_atomic_bool mxn__numpy_shape_of_all;  // the switch of all threads

// Whether what the calling thread calls has NumPy's shapes. Asked where parameters are parsed or
// looked up; from there on they tell (mxn_params.numpy_shape).
static inline bool mxn_numpy_shape(void)
{
    return mxn__mode.numpy_shape || mxp_atomic_load(&mxn__numpy_shape_of_all);
}

#endif
