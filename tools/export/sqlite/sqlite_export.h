// SPDX-License-Identifier: Apache-2.0
// A trace as an SQLite database, of which docs/sqlite.md describes the tables.
#ifndef MXP_TOOLS_SQLITE_EXPORT_H
#define MXP_TOOLS_SQLITE_EXPORT_H

#include "base/strbuf.h"
#include "profiler/trace/source.h"

// Writes all processes of `source` to `path`, which is an empty file; `shown` is its name in
// messages. `notes` gets a line for each thing that is not in it, and may be null. MXP_EIO, or the
// error of a range.
int mxp__sqlite_write(const char *path, const char *shown, mxp_source *source, mxp_strbuf *notes);

#endif
