// SPDX-License-Identifier: Apache-2.0
// Domains and strings by their texts: the same text gives the same handle, in whichever shared
// object it is asked for. Handles live as long as the process.
#ifndef MXP_COLLECT_ITT_HANDLES_H
#define MXP_COLLECT_ITT_HANDLES_H

#include <mxprof/gate.h>
#include <stdbool.h>

#include "profiler/collect/itt/itt_abi.h"

// Never null: all that finds no memory is one handle, "<names full>". A known text is found without
// a lock; a long one is cut (names.h).
itt_domain *mxp__itt_domain(const char *name);
itt_string *mxp__itt_string(const char *text);
// Takes handles that the static part of `global` made before we were loaded, if their texts are new
// to us; the others are understood as well.
void mxp__itt_adopt(const itt_global *global);

// Nothing more comes of ITT's marks: what asks a domain's flags is told so.
void mxp__itt_detach(void);
bool mxp__itt_is_detached(void);

// The name of `string` in the category of `domain`. Both may be null or foreign.
mxp_name mxp__itt_name(itt_domain *domain, itt_string *string, int style);
mxp_name mxp__itt_category(itt_domain *domain);

#endif
