// SPDX-License-Identifier: Apache-2.0
// Memory of calls: taken by the thread that pushes, given back by the worker that has run the
// operation. Through malloc the two would fight for one lock at every operator.
#ifndef MXN_IMPERATIVE_CALL_MEMORY_H
#define MXN_IMPERATIVE_CALL_MEMORY_H

#include <stddef.h>

// Not zeroed; null with the detail set. Any thread gives it back, with the same size.
void *mxn__call_take(size_t bytes);
void mxn__call_give(void *memory, size_t bytes);

#endif
