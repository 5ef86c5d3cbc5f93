// SPDX-License-Identifier: Apache-2.0
// A scope's name with those of the scopes around it.
#ifndef MXP_EXPORT_SCOPE_PATH_H
#define MXP_EXPORT_SCOPE_PATH_H

#include "base/strbuf.h"
#include "profiler/trace/source.h"

// Appends "outer/inner"; nothing for scope 0.
void mxp__scope_path(const mxp_source *source, uint32_t scope, mxp_strbuf *out);

// The enclosing scope, 0 if there is none.
uint32_t mxp__scope_parent(const mxp_source *source, uint32_t scope);

#endif
