// SPDX-License-Identifier: Apache-2.0
// Measured ceilings in a file: lines "key value". They are kept in the user's cache, a file for
// each machine that they are of.
#ifndef MXP_TOOLS_CEILINGS_FILE_H
#define MXP_TOOLS_CEILINGS_FILE_H

#include "base/strbuf.h"
#include "profiler/analysis/roof/ceilings.h"
#include "profiler/trace/source.h"

// Appends the file's text.
void mxp__ceilings_write(const mxp_ceilings *ceilings, mxp_strbuf *out);
// MXP_EFORMAT: it is no such file, or damaged; the detail line says where. `path` is for messages.
int mxp__ceilings_parse(const char *text, const char *path, mxp_ceilings *ceilings);
// MXP_EIO: it cannot be read.
int mxp__ceilings_read(const char *path, mxp_ceilings *ceilings);

// Where those of a machine are kept: $XDG_CACHE_HOME/mxprof, or ~/.cache/mxprof. MXP_ENOTSUP:
// neither is known. With `make` the folders are made. MXP_EIO, MXP_ENOMEM.
int mxp__ceilings_path(const mxp_machine *machine, bool make, mxp_strbuf *path);

// The machine that a trace is of, by its INFO. False: it does not say.
bool mxp__machine_of_trace(const mxp_source *source, mxp_machine *machine);

#endif
