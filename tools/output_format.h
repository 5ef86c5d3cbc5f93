// SPDX-License-Identifier: Apache-2.0
// The formats that the command writes, and which of them the name of a file tells.
#ifndef MXP_TOOLS_OUTPUT_FORMAT_H
#define MXP_TOOLS_OUTPUT_FORMAT_H

#include "command.h"
#include "export/command_exporters.h"

typedef struct mxp_output_format {
    const char *name, *extension, *help;
    const mxp_exporter *exporter;  // null: native, compressed or not, or a database
} mxp_output_format;

// The exporters of the library and of the command, as they are in exporters.def, then the others.
enum {
    MXP__FORMAT_SQLITE = MXP__EXPORTERS + MXP__COMMAND_EXPORTERS,
    MXP__FORMAT_PACKED,
    MXP__FORMAT_NATIVE,
    MXP__FORMATS
};

// MXP__FORMATS of them; and their names, for an option, with a null behind.
const mxp_output_format *mxp__output_formats(void);
const char *const *mxp__output_format_names(void);

bool mxp__is_gzip_name(const char *path);  // it ends in .gz
// The number of the format that the ending of `path` tells (of a compressed file the one before
// it), -1 for none. Of two endings that fit the longer one counts, of two that are the same the
// first.
int mxp__output_format_of(const char *path);

// For those that write native traces alone: -1, or the exit code after a line that says how what
// `path` calls for is made.
int mxp__check_native_name(const mxp_command *self, const char *path);

#endif
