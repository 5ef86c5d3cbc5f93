// SPDX-License-Identifier: Apache-2.0
// Public structures that begin with their size: what a program of a later version may hand over.
#ifndef MXP_BASE_GROWN_STRUCT_H
#define MXP_BASE_GROWN_STRUCT_H

#include <stdbool.h>
#include <stddef.h>

enum { MXP__STRUCT_BYTES_MAX = 4096 };  // a larger size is none

// Whether anything is set in `size_bytes` bytes of a structure behind the `known_bytes` that this
// library knows.
static inline bool mxp__struct_has_more(const void *structure, size_t size_bytes,
                                        size_t known_bytes)
{
    const unsigned char *bytes = structure;
    for (size_t i = known_bytes; i < size_bytes; i++) {
        if (bytes[i] != 0) {
            return true;
        }
    }
    return false;
}

#endif
