// SPDX-License-Identifier: Apache-2.0
// Packed sections on their way to the page: what stands first in it is known last. They are kept in
// a temporary file without a name.
#ifndef MXP_TOOLS_PAGE_SPOOL_H
#define MXP_TOOLS_PAGE_SPOOL_H

#include "base/strbuf.h"

typedef struct mxp_page_spool {
    int fd;
    uint64_t bytes;
} mxp_page_spool;

// Where a section is in the spool, and how long it is unpacked.
typedef struct mxp_spooled_section {
    uint64_t at, packed_bytes, bytes;
} mxp_spooled_section;

int mxp__page_spool_open(mxp_page_spool *spool);  // MXP_EIO
// Appends a section that takes `bytes` unpacked. MXP_EIO (a full disk).
int mxp__page_spool_add(mxp_page_spool *spool, const mxp_strbuf *packed, uint64_t bytes,
                        mxp_spooled_section *section);
// Packs columns (columns.h) as a section of `count` rows and appends that. MXP_ENOMEM, MXP_ENOTSUP,
// MXP_EIO.
int mxp__page_spool_columns(mxp_page_spool *spool, const mxp_strbuf *columns, size_t column_count,
                            size_t count, mxp_spooled_section *section);
// Sets `packed` to it. MXP_EIO, MXP_ENOMEM.
int mxp__page_spool_read(const mxp_page_spool *spool, const mxp_spooled_section *section,
                         mxp_strbuf *packed);
void mxp__page_spool_close(mxp_page_spool *spool);

#endif
