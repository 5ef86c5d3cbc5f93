// SPDX-License-Identifier: Apache-2.0
// Paths of scopes. A damaged file may hold a circle of scopes, so the depth is limited.
#include "profiler/export/scope_path.h"

enum { DEPTH_MAX = 64 };

uint32_t mxp__scope_parent(const mxp_source *source, uint32_t scope)
{
    mxp_name_view view = source->name(source, scope);
    return view.style == MXP_STYLE_SCOPE ? view.category : 0;
}

void mxp__scope_path(const mxp_source *source, uint32_t scope, mxp_strbuf *out)
{
    uint32_t path[DEPTH_MAX];
    size_t depth = 0;
    while (scope != 0 && depth < DEPTH_MAX) {
        path[depth++] = scope;
        scope = mxp__scope_parent(source, scope);
    }
    if (scope != 0) {
        mxp__strbuf_puts(out, ".../");
    }
    while (depth > 0) {
        mxp_name_view view = source->name(source, path[--depth]);
        mxp__strbuf_append(out, view.text, view.length);
        mxp__strbuf_append(out, "/", depth > 0);
    }
}
