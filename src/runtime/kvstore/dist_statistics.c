// SPDX-License-Identifier: Apache-2.0
// See dist_statistics.h.
#include "runtime/kvstore/dist_statistics.h"

#include <stdio.h>

#include "runtime/kvstore/dist.h"

enum { CLASS = MXP_CLASS_IMPERATIVE };

static mxp_name name_of(mxn_statistic *of, mxn_quantity quantity, const char *what,
                        const char *whom)
{
    static const char *const categories[MXN_QUANTITIES] = {
        [MXN_QUANTITY_TIME] = "communication time",
        [MXN_QUANTITY_WAITED] = "communication waited",
        [MXN_QUANTITY_SENT] = "communication sent",
        [MXN_QUANTITY_BYTES] = "communication bytes"};
    char text[MXN_DIST_NAME_MAX + 64];
    mxp_name *name = &of->names[quantity];
    if (*name == MXP_NAME_NONE) {
        snprintf(text, sizeof text, "%s%s%s", what, whom == NULL ? "" : ": ",
                 whom == NULL ? "" : whom);
        *name = mxp_intern(categories[quantity], text, MXP_STYLE_NONE,
                           quantity == MXN_QUANTITY_BYTES ? MXP_UNIT_BYTES : MXP_UNIT_NONE);
    }
    return *name;
}

void mxn__statistic_add(mxn_statistic *of, mxn_quantity quantity, const char *what,
                        const char *whom, uint64_t value)
{
    mxp_statistic(CLASS, name_of(of, quantity, what, whom), value);
}

void mxn__statistic_add_span(mxn_statistic *of, const char *what, const char *whom,
                             uint64_t begin_ticks, uint64_t end_ticks)
{
    mxp_statistic_span(CLASS, name_of(of, MXN_QUANTITY_TIME, what, whom), begin_ticks, end_ticks);
}
