// SPDX-License-Identifier: Apache-2.0
// The predefined types of entries of payloads.
#ifndef MXP_COLLECT_NVTX_PAYLOAD_TYPES_H
#define MXP_COLLECT_NVTX_PAYLOAD_TYPES_H

#include <mxprof/args.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    NVTX_TYPE_CSTRING = 75,
    NVTX_TYPE_CSTRING_UTF8 = 76,
    NVTX_TYPE_REGISTERED = 80,
    NVTX_TYPES_END = 1 << 24  // from here on ids are of schemas and enumerations
};

// Bytes of one; 0: unknown.
size_t mxp__nvtx_type_bytes(uint64_t type);
// The number of this type at `data`. False: it is no number.
bool mxp__nvtx_number(uint64_t type, const void *data, mxp_name key, mxp_arg *value);

#endif
