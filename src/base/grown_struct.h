// SPDX-License-Identifier: Apache-2.0
// Public structures that begin with their size. A program built against a later version may pass a
// structure longer than the one this library knows.
#ifndef MXP_BASE_GROWN_STRUCT_H
#define MXP_BASE_GROWN_STRUCT_H

#include <stdbool.h>
#include <stddef.h>

enum { MXP__STRUCT_BYTES_MAX = 4096 };  // larger sizes are invalid

// Whether a member that this library does not know is set: any byte from `known_bytes` to
// `size_bytes` that is not 0.
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
