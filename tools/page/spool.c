// SPDX-License-Identifier: Apache-2.0
// See spool.h.
#include "page/spool.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/os/os.h"
#include "base/os/temporary_file.h"
#include "page/columns.h"

int mxp__page_spool_open(mxp_page_spool *spool)
{
    mxp_strbuf path = {0};
    int error = MXP_OK;
    *spool = (mxp_page_spool){.fd = mxp__temporary_file_make(&path)};
    if (spool->fd < 0) {
        error =
            mxp__fail(MXP_EIO, "cannot make a temporary file for the page: %s", strerror(errno));
    } else {
        unlink(mxp__strbuf_text(&path));
    }
    mxp__strbuf_fini(&path);
    return error;
}

int mxp__page_spool_add(mxp_page_spool *spool, const mxp_strbuf *packed, uint64_t bytes,
                        mxp_spooled_section *section)
{
    *section =
        (mxp_spooled_section){.at = spool->bytes, .packed_bytes = packed->length, .bytes = bytes};
    if (mxp__os_write(spool->fd, packed->data, packed->length) < packed->length) {
        return mxp__fail(MXP_EIO, "cannot write the page's temporary file: %s", strerror(errno));
    }
    spool->bytes += packed->length;
    return MXP_OK;
}

int mxp__page_spool_columns(mxp_page_spool *spool, const mxp_strbuf *columns, size_t column_count,
                            size_t count, mxp_spooled_section *section)
{
    mxp_strbuf raw = {0}, packed = {0};
    int error = mxp__columns_pack(columns, column_count, count, &raw, &packed);
    error = error == MXP_OK ? mxp__page_spool_add(spool, &packed, raw.length, section) : error;
    mxp__strbuf_fini(&raw);
    mxp__strbuf_fini(&packed);
    return error;
}

int mxp__page_spool_read(const mxp_page_spool *spool, const mxp_spooled_section *section,
                         mxp_strbuf *packed)
{
    mxp__strbuf_clear(packed);
    char *to = mxp__strbuf_reserve(packed, section->packed_bytes);
    uint64_t got = 0;
    while (to != NULL && got < section->packed_bytes) {
        const ssize_t more =
            pread(spool->fd, to + got, section->packed_bytes - got, (off_t)(section->at + got));
        if (more < 0 && errno == EINTR) {
            continue;
        }
        if (more <= 0) {
            return mxp__fail(MXP_EIO, "cannot read the page's temporary file: %s",
                             more < 0 ? strerror(errno) : "it is shorter than it was");
        }
        got += (uint64_t)more;
    }
    packed->length = got;
    return to == NULL ? mxp__fail_memory("a section of the page") : MXP_OK;
}

void mxp__page_spool_close(mxp_page_spool *spool)
{
    if (spool->fd >= 0) {
        close(spool->fd);
    }
    spool->fd = -1;
}
