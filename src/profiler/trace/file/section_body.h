// SPDX-License-Identifier: Apache-2.0
// Sections that are built in the writer's buffer, for those who know what is in them.
#ifndef MXP_TRACE_SECTION_BODY_H
#define MXP_TRACE_SECTION_BODY_H

#include "profiler/trace/file/section_writer.h"

// Begins one, and ends it and writes it. Between the two its content is put into writer->body.
void mxp__section_begin(mxp_section_writer *writer);
int mxp__section_end(mxp_section_writer *writer, unsigned type);

static inline void mxp__body_put(mxp_strbuf *body, const void *data, size_t size_bytes)
{
    mxp__strbuf_append(body, data, size_bytes);
}
void mxp__body_align(mxp_strbuf *body, size_t align);  // with zeros

#endif
