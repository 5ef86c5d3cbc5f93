// SPDX-License-Identifier: Apache-2.0
// Folder base: what both halves compile: errors, memory, text, locks, settings.
//
// The one way to fail: format the detail line of this thread and return the code.
#ifndef MXP_BASE_FAIL_H
#define MXP_BASE_FAIL_H

#include <mxprof/error.h>

// `return mxp__fail(MXP_EIO, "cannot open '%s': %s", path, strerror(errno));`
int mxp__fail(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));

// MXP_ENOMEM with a line that names what the memory was for.
int mxp__fail_memory(const char *what);

// The word of `words` (null-terminated list) closest to `word` by edit distance, or null if none is
// near enough to be a typing error.
const char *mxp__closest(const char *word, const char *const *words);

#endif
