// SPDX-License-Identifier: Apache-2.0
// See clock_owner.h, and mxp_clock_cuts in <mxprof/clock_cut.h>. Under the names' lock, as modules
// are. Whoever makes cuts keeps them and thins them; here is only what is written.
#include "profiler/recorder/store/clock_owner.h"

#include <assert.h>
#include <mxprof/error.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/recorder/store/store.h"
#include "profiler/recorder/thread/names.h"

static_assert(sizeof(mxp_clock_owner) == 128 && sizeof(mxp_clock_cut) == 32,
              "as the format has it");

static mxp_clock_content content;
static size_t content_bytes;  // 0: nothing was told

int mxp_clock_cuts(const mxp_clock_owner *owner, const mxp_clock_cut *cuts, size_t count)
{
    if (owner == NULL || (cuts == NULL && count != 0)) {
        return mxp__fail(MXP_EINVAL, "mxp_clock_cuts: the owner or its cuts are null");
    }
    if (count > MXP_CLOCK_CUTS_MAX) {
        return mxp__fail(MXP_EINVAL, "mxp_clock_cuts: %zu cuts are more than the %d that are kept",
                         count, MXP_CLOCK_CUTS_MAX);
    }
    mxp__names_lock();
    content.owner = *owner;
    if (count != 0) {
        memcpy(content.cuts, cuts, count * sizeof *cuts);
    }
    content_bytes = sizeof *owner + count * sizeof *cuts;
    mxp__clock_owner_store();
    mxp__names_unlock();
    return MXP_OK;
}

void mxp__clock_owner_store(void)
{
    mxp__store_put_table(MXP_SECTION_CLOCK_CUT, &content, content_bytes);
}

int mxp__clock_owner_copy(const mxp_clock_owner **owner, size_t *size_bytes)
{
    mxp__names_lock();
    *size_bytes = content_bytes;
    void *copy = mxp__alloc(content_bytes);
    if (copy != NULL) {
        memcpy(copy, &content, content_bytes);
    }
    mxp__names_unlock();
    *owner = copy;
    return copy != NULL || *size_bytes == 0 ? MXP_OK : MXP_ENOMEM;
}
