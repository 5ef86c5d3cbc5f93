// SPDX-License-Identifier: Apache-2.0
// The switches a thread runs operators under. Autograd's and NumPy's functions set them; a custom
// operator's thread takes them over from the thread that has pushed it.
#ifndef MXN_IMPERATIVE_THREAD_MODE_H
#define MXN_IMPERATIVE_THREAD_MODE_H

#include <stdbool.h>

typedef struct mxn_thread_mode {
    bool recording, training;
} mxn_thread_mode;

extern _Thread_local mxn_thread_mode mxn__mode __attribute__((tls_model("initial-exec")));

#endif
