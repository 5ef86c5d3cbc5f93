// SPDX-License-Identifier: Apache-2.0
// The families of operators, from families.def.
#include <fnmatch.h>
#include <string.h>

#include "profiler/analysis/roof/roof.h"

mxp_family mxp__family_of(const char *name)
{
    static const struct {
        mxp_family family;
        const char *glob;
    } lines[] = {
#define X(family, glob) {MXP__FAMILY_##family, glob},
#include "profiler/analysis/roof/families.def"
#undef X
    };
    static const char backward[] = "_backward_";
    if (strncmp(name, backward, sizeof backward - 1) == 0) {
        name += sizeof backward - 1;
    }
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        if (fnmatch(lines[i].glob, name, 0) == 0) {
            return lines[i].family;
        }
    }
    return MXP__FAMILY_OTHER;
}

const char *mxp__family_name(mxp_family family)
{
    static const char *const names[MXP__FAMILIES] = {"product", "elementwise", "reduction",
                                                     "copy",    "random",      "other"};
    return names[family];
}
