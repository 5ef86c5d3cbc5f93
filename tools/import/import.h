// SPDX-License-Identifier: Apache-2.0
// Traces that other profilers wrote in Chrome's JSON, as native ones: torch.profiler's, MXNet's,
// viztracer's and those of whoever else writes the format, plain or compressed by gzip.
#ifndef MXP_TOOLS_IMPORT_H
#define MXP_TOOLS_IMPORT_H

#include "base/strbuf.h"
#include "profiler/trace/file/native.h"

typedef struct mxp_import_options {
    bool with_args;  // spans keep their arguments
} mxp_import_options;

// Whether these first bytes of a file may begin such a trace: a bracket, gzip, or text of another
// encoding that begins with one.
bool mxp__import_is_json(const void *data, size_t size_bytes);

// Reads the text from the descriptor, which stays the caller's, and opens what it became, which is
// kept in a temporary file (base/os/temporary_file.h) without a name. Memory: less than 64 MiB and
// the names. Of a text that is cut or broken what came before is taken, and *damage tells of the
// place; its text is valid for ever. `notes` gets lines about what was not understood. MXP_EFORMAT:
// it is no trace. MXP_ENOMEM, MXP_EIO.
int mxp__import_open(int fd, const char *path, const mxp_import_options *options,
                     mxp_source **source, mxp_damage *damage, mxp_strbuf *notes);
// The same of a text in memory.
int mxp__import_open_memory(const void *data, size_t size_bytes, const mxp_import_options *options,
                            mxp_source **source, mxp_damage *damage, mxp_strbuf *notes);

// What the id of a flow became that such a text calls `id`, without a scope. Its category and name
// are of one process's names, and flows of others have other ids although the text calls them
// alike.
uint64_t mxp__import_flow_id(const char *id, mxp_name_view category, mxp_name_view name);

#endif
