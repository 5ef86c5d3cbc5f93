// SPDX-License-Identifier: Apache-2.0
// Zeroed pages for the copy of a file. Small ones are memory; large ones are an unlinked file in
// the folder for temporary ones, which no other process can open.
#ifndef MXP_TRACE_PRIVATE_PAGES_H
#define MXP_TRACE_PRIVATE_PAGES_H

#include <stdbool.h>
#include <stddef.h>

// Null: neither memory nor file is available. *in_file: the pages are a file's.
void *mxp__private_pages(size_t size_bytes, bool *in_file);
// Copies the first bytes of the file `fd` into `pages`. Returns how many bytes the file had.
size_t mxp__private_fill(void *pages, size_t size_bytes, bool in_file, int fd);

#endif
