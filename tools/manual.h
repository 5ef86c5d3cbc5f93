// SPDX-License-Identifier: Apache-2.0
// Pages of the manual, made from what --help prints, so that there is one text.
#ifndef MXP_TOOLS_MANUAL_H
#define MXP_TOOLS_MANUAL_H

#include "command.h"

// Writes mxprof.1 and mxprof-NAME.1 of each command into a folder that is there. `overview` is what
// `mxprof --help` prints. The exit code, after an error line if it is not MXP_EXIT_FINE.
int mxp__manual_write(const char *folder, const mxp_command *const *commands, size_t count,
                      const mxp_strbuf *overview);

// One page as roff: its name, what it is about in a line, and the text of its help.
void mxp__manual_page(const char *name, const char *summary, const char *help, mxp_strbuf *out);

#endif
