// SPDX-License-Identifier: Apache-2.0
// Memory for everything that is not a record, through the hook of mxprof/error.h. Never on the
// recording path. Null is always possible: check it.
#ifndef MXP_BASE_ALLOC_H
#define MXP_BASE_ALLOC_H

#include <stddef.h>

void *mxp__alloc(size_t size_bytes);  // zeroed; null for size 0
void *mxp__realloc(void *pointer, size_t old_size_bytes, size_t size_bytes);  // new part not zeroed
void mxp__free(void *pointer, size_t size_bytes);  // null is fine
char *mxp__strdup(const char *text);  // free with mxp__strfree; null gives null
void mxp__strfree(char *text);

// Grows an array to hold at least `needed` elements (doubling). 0, or MXP_ENOMEM with the array as
// it was. `*capacity` counts elements.
int mxp__grow(void *array_pointer, size_t *capacity, size_t needed, size_t element_bytes);

#endif
