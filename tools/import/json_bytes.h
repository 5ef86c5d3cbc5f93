// SPDX-License-Identifier: Apache-2.0
// Folder tools/import: traces of other profilers, in Chrome's JSON, made into native ones.
//
// The bytes of a text, wherever they come from: a descriptor, plain or compressed by gzip, or
// memory.
#ifndef MXP_TOOLS_JSON_BYTES_H
#define MXP_TOOLS_JSON_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct mxp_json_bytes mxp_json_bytes;

// From where the descriptor stands on; it stays the caller's. `path` is for messages and must live
// as long. MXP_ENOMEM, MXP_EIO.
int mxp__json_bytes_open(int fd, const char *path, mxp_json_bytes **bytes);
int mxp__json_bytes_open_memory(const void *data, size_t size_bytes, mxp_json_bytes **bytes);
// How many were read, at most `size_bytes`; 0 at the end; a negative error with its detail line.
ssize_t mxp__json_bytes_read(mxp_json_bytes *bytes, char *to, size_t size_bytes);
// What is wrong with the compressed stream, once the end has come; null: nothing.
const char *mxp__json_bytes_damage(const mxp_json_bytes *bytes);
bool mxp__json_bytes_is_gzip(const mxp_json_bytes *bytes);
void mxp__json_bytes_close(mxp_json_bytes *bytes);  // null is fine

#endif
