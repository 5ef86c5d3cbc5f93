// SPDX-License-Identifier: Apache-2.0
// Zeroed pages for the copy of a file: memory, or, for large ones, a file without a name in TMPDIR
// (else /tmp), which nobody else can get at.
#ifndef MXP_TRACE_PRIVATE_PAGES_H
#define MXP_TRACE_PRIVATE_PAGES_H

#include <stdbool.h>
#include <stddef.h>

// Null: there is neither. *in_file: they are a file's.
void *mxp__private_pages(size_t size_bytes, bool *in_file);
// Copies the begin of a file there. Returns how much there was of it.
size_t mxp__private_fill(void *pages, size_t size_bytes, bool in_file, int fd);

#endif
