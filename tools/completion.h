// SPDX-License-Identifier: Apache-2.0
// Completion of shells, made from the commands' own tables of options.
#ifndef MXP_TOOLS_COMPLETION_H
#define MXP_TOOLS_COMPLETION_H

#include "command.h"

// The script of "bash", "zsh" or "fish"; false: there is no such shell.
bool mxp__completion_put(const char *shell, const mxp_command *const *commands, size_t count,
                         mxp_strbuf *out);

#endif
