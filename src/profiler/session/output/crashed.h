// SPDX-License-Identifier: Apache-2.0
// Recording files of processes that died: what a restart finds under its own name is evidence.
#ifndef MXP_SESSION_CRASHED_H
#define MXP_SESSION_CRASHED_H

#include <stdint.h>

// If `path` is a recording file that was not finished and that no living process writes, it is
// renamed to NAME.died.TIME.EXT (while others read it: given that name too, so that the next file
// may replace it), and of such files the newest `most` stay. 0: nothing is renamed or removed.
// MXP_EIO: the file could not be named so, and keeps its name.
int mxp__crashed_keep(const char *path, uint64_t most);

#endif
