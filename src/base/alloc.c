// SPDX-License-Identifier: Apache-2.0
// Allocation through the public hook, so that libmxprof and libmxnet, which both carry this code,
// take their memory from one place. Sizes are always passed, because the hook's accounting relies
// on them.
#include "base/alloc.h"

#include <mxprof/error.h>
#include <stdint.h>
#include <string.h>

enum { FIRST_CAPACITY = 8 };

void *mxp__alloc(size_t size_bytes)
{
    if (size_bytes == 0) {
        return NULL;
    }
    void *pointer = mxp_realloc(NULL, 0, size_bytes);
    if (pointer != NULL) {
        memset(pointer, 0, size_bytes);
    }
    return pointer;
}

void *mxp__realloc(void *pointer, size_t old_size_bytes, size_t size_bytes)
{
    return mxp_realloc(pointer, old_size_bytes, size_bytes);
}

void mxp__free(void *pointer, size_t size_bytes)
{
    if (pointer != NULL) {
        mxp_realloc(pointer, size_bytes, 0);
    }
}

char *mxp__strdup(const char *text)
{
    if (text == NULL) {
        return NULL;
    }
    size_t size_bytes = strlen(text) + 1;
    char *copy = mxp_realloc(NULL, 0, size_bytes);
    if (copy != NULL) {
        memcpy(copy, text, size_bytes);
    }
    return copy;
}

void mxp__strfree(char *text)
{
    if (text != NULL) {
        mxp_realloc(text, strlen(text) + 1, 0);
    }
}

int mxp__grow(void *array_pointer, size_t *capacity, size_t needed, size_t element_bytes)
{
    if (needed <= *capacity) {
        return MXP_OK;
    }
    size_t limit = SIZE_MAX / 2 / element_bytes;
    if (needed > limit) {
        return MXP_ENOMEM;
    }
    size_t wanted = *capacity < FIRST_CAPACITY ? FIRST_CAPACITY : *capacity;
    while (wanted < needed) {
        wanted = wanted > limit / 2 ? limit : wanted * 2;
    }
    // The caller's array has a type of its own: its pointer is read and written as bytes.
    void *array;
    memcpy(&array, array_pointer, sizeof array);
    array = mxp_realloc(array, *capacity * element_bytes, wanted * element_bytes);
    if (array == NULL) {
        return MXP_ENOMEM;
    }
    memcpy(array_pointer, &array, sizeof array);
    *capacity = wanted;
    return MXP_OK;
}
