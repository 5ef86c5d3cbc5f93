// SPDX-License-Identifier: Apache-2.0
// The lines of `mxprof memory` that several of its tables have, and those tables.
#ifndef MXP_TOOLS_MEMORY_LINES_H
#define MXP_TOOLS_MEMORY_LINES_H

#include "memory_shown.h"

// Parts of lines: what a row is called, "lenet:conv0/Convolution", "cpu/0".
void mxp__memory_put_row(const mxp_memory_shown *view, const mxp_memory_device *device, int by,
                         uint32_t owner, mxp_strbuf *out);
void mxp__memory_put_operator(const mxp_memory_shown *view, uint32_t scope, uint32_t name,
                              mxp_strbuf *out);
void mxp__memory_put_device(const mxp_memory_device *device, mxp_strbuf *out);

// The rest of a line that begins with the device, and one more: the peak, and what made it.
void mxp__memory_put_peak(const mxp_memory_shown *view, const mxp_memory_device *device,
                          mxp_strbuf *out);
void mxp__memory_put_growth(const mxp_memory_leak *leak, mxp_strbuf *out);
void mxp__memory_put_fresh(const mxp_memory_shown *view, const mxp_memory_device *device,
                           mxp_strbuf *out);
// What is to be known before any figure is believed: nothing, or lines.
void mxp__memory_put_doubts(const mxp_memory_shown *view, const mxp_memory_device *device,
                            mxp_strbuf *out);

// Of one device; 0 or a negative error (memory_tables.c).
int mxp__memory_growth_table(const mxp_memory_shown *view, const mxp_memory_device *device,
                             mxp_strbuf *out);
int mxp__memory_fresh_table(const mxp_memory_shown *view, const mxp_memory_device *device,
                            mxp_strbuf *out);
int mxp__memory_later_table(const mxp_memory_shown *view, const mxp_memory_device *device,
                            mxp_strbuf *out);

#endif
