// SPDX-License-Identifier: Apache-2.0
// The flags of cached operators. Private to graph/.
#ifndef MXN_GRAPH_CACHED_FLAGS_H
#define MXN_GRAPH_CACHED_FLAGS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct mxn_cached_flags {
    bool static_alloc, static_shape, is_dynamic;
    uint32_t inline_limit, forward_bulk_size, backward_bulk_size;
} mxn_cached_flags;

// As mxn_cached_op_new says. Bulk sizes that are not given are those of the environment.
int mxn__cached_flags_parse(uint32_t count, const char *const *keys, const char *const *values,
                            mxn_cached_flags *flags);

#endif
