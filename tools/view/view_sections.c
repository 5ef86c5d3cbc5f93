// SPDX-License-Identifier: Apache-2.0
// Sections by name, in the spool of the page.
#include <stdio.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "compression/gzip.h"
#include "page/columns.h"
#include "view/view.h"

int mxp__view_keep_section(mxp_view *view, const char *name, const mxp_spooled_section *at)
{
    if (mxp__grow(&view->sections, &view->section_capacity, view->section_count + 1,
                  sizeof *view->sections) != MXP_OK) {
        return mxp__fail_memory("the sections of the page");
    }
    mxp_view_section *section = &view->sections[view->section_count++];
    *section = (mxp_view_section){.at = *at};
    snprintf(section->name, sizeof section->name, "%s", name);
    return MXP_OK;
}

static int keep_packed(mxp_view *view, const char *name, const mxp_strbuf *packed, uint64_t bytes)
{
    mxp_spooled_section at;
    const int error = mxp__page_spool_add(&view->page.blocks.spool, packed, bytes, &at);
    return error == MXP_OK ? mxp__view_keep_section(view, name, &at) : error;
}

int mxp__view_section(mxp_view *view, const char *name, const mxp_strbuf *columns,
                      size_t column_count, size_t count)
{
    mxp_spooled_section at;
    const int error =
        mxp__page_spool_columns(&view->page.blocks.spool, columns, column_count, count, &at);
    return error == MXP_OK ? mxp__view_keep_section(view, name, &at) : error;
}

int mxp__view_text_section(mxp_view *view, const char *name, const mxp_strbuf *text)
{
    mxp_strbuf packed = {0};
    int error = text->failed ? mxp__fail_memory("a text of the page")
                             : mxp__gzip_pack(mxp__strbuf_text(text), text->length, 9, &packed);
    error = error == MXP_OK ? keep_packed(view, name, &packed, text->length) : error;
    mxp__strbuf_fini(&packed);
    return error;
}

size_t mxp__view_step(const mxp_view *view, size_t process, size_t step)
{
    for (size_t i = 0; i < process; i++) {
        step += view->report.processes[i].steps.count;
    }
    return step;
}
