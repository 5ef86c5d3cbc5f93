// SPDX-License-Identifier: Apache-2.0
// The asynchronous spans that were open when their process died. Private to file_open.c.
#ifndef MXP_TRACE_OPEN_ASYNC_H
#define MXP_TRACE_OPEN_ASYNC_H

#include "profiler/trace/file/file_tables.h"

// Adds those of the section OPEN, if the file has one, as records that lasted until `last`, the
// last time known. Nothing in the section is trusted. MXP_ENOMEM.
int mxp__open_async_add(mxp_file_tables *tables, const mxp_file_index *index, uint64_t last);

#endif
