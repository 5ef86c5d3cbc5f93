// SPDX-License-Identifier: Apache-2.0
// Leaves out of an input who measured where (anonymous.c). Which inputs: mxp__input_take_anonymous.
#ifndef MXP_TOOLS_ANONYMOUS_H
#define MXP_TOOLS_ANONYMOUS_H

#include "command.h"

// Of an input that was just opened. MXP_ENOMEM: part of it is left out.
int mxp__input_anonymize(mxp_input *input);
// Frees what that made. The source is closed, or not read any more.
void mxp__input_forget_infos(mxp_input *input);

// The last part of a path, which may end in slashes.
const char *mxp__without_folders(const char *path);

#endif
