// SPDX-License-Identifier: Apache-2.0
// Alignment and checksums of sections, for their writers and readers.
#ifndef MXP_TRACE_SECTION_H
#define MXP_TRACE_SECTION_H

#include <mxprof/format.h>
#include <stddef.h>

#include "profiler/trace/checksum.h"

enum {
    MXP__SECTION_ALIGN = 16,
    MXP__MAPPED_ALIGN = 4096  // of the sections that a recorder writes into its file
};

static inline uint64_t mxp__align_up(uint64_t size_bytes, uint64_t align)
{
    return (size_bytes + align - 1) & ~(align - 1);
}

// A section's checksum covers its header too, so that no byte of it can change unseen: the header
// with the checksum 0, then (added by the caller) everything after it.
static inline void mxp__section_checksum_begin(mxp_checksum *state, const mxp_section *section)
{
    mxp_section header = *section;
    header.checksum = 0;
    mxp__checksum_init(state);
    mxp__checksum_add(state, &header, sizeof header);
}

static inline uint64_t mxp__file_header_checksum(const mxp_file_header *header)
{
    return mxp__checksum(header, offsetof(mxp_file_header, checksum));
}

#endif
