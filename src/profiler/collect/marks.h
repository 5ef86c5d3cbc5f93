// SPDX-License-Identifier: Apache-2.0
// Which marks are wanted: `mxprof run --marks` tells it by MXPROF_MARKS, words with commas between
// them. Without the variable all are.
#ifndef MXP_COLLECT_MARKS_H
#define MXP_COLLECT_MARKS_H

#include <stdbool.h>

bool mxp__collect_takes(const char *marks);

#endif
