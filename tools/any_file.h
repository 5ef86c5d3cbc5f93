// SPDX-License-Identifier: Apache-2.0
// One FILE of the command line, whatever it is: a native trace, compressed or not, another
// profiler's file, a core file, standard input ("-"), or the number of a process that records.
#ifndef MXP_TOOLS_ANY_FILE_H
#define MXP_TOOLS_ANY_FILE_H

#include "base/strbuf.h"
#include "import/import.h"
#include "profiler/trace/file/native.h"

typedef struct mxp_any_file {
    mxp_source *source;
    mxp_damage damage;  // its text lives as long as the source, or until the next call
    uint64_t size_bytes;  // 0: it is a process, or a pipe by its name
    bool is_imported;
    mxp_strbuf notes;  // a line each
} mxp_any_file;

// Standard input is "-" on the command line. What is no regular file is copied into a temporary
// one, which has no name any more when this returns. The caller frees the notes. 0, or a negative
// error with its line.
int mxp__any_file_open(const char *path, const mxp_import_options *options, mxp_any_file *file);

// Whether the word means standard input, or a process: a number of which no file has the name.
bool mxp__is_standard_input(const char *path);
bool mxp__is_process(const char *path, long *pid);

#endif
