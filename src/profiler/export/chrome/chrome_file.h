// SPDX-License-Identifier: Apache-2.0
// Folder profiler/export/chrome: the trace as Chrome JSON.
//
// A Chrome JSON file that stays valid while it grows: written once under a temporary name and
// renamed, or appended to by overwriting its own closing part. Used by the session's dump.
#ifndef MXP_EXPORT_CHROME_FILE_H
#define MXP_EXPORT_CHROME_FILE_H

#include "profiler/trace/source.h"

typedef struct mxp_chrome_file mxp_chrome_file;

// Nothing is opened or created yet. The environment variable MXPROF_EXPORT_THREADS says how many
// threads format large appends (1: only the caller's); without it two where that pays.
int mxp__chrome_file_create(const char *path, mxp_chrome_file **file);
// Writes the records of `source` after those of earlier appends (the first replaces a file at
// `path`). After it the file is complete JSON, never smaller than before. MXP_EIO leaves
// the file as it was where the system allows it; the same append may then be tried again. Without
// new records nothing is touched. If somebody removed or replaced the file, a complete new one is
// written that says so. What is no regular file (a pipe, a device) gets a complete text at each
// append.
int mxp__chrome_file_append(mxp_chrome_file *file, mxp_source *source);
// Adds another process, whose times are in the trace time of the file: complete, for it can be
// added only once. As an append else, but what is no regular file does not get it.
int mxp__chrome_file_add_process(mxp_chrome_file *file, mxp_source *source);
// Limits the file to so many bytes, without names of tracks and the closing part. Events beyond are
// left out and counted, and the closing part says so. Without this call there is no limit.
void mxp__chrome_file_limit(mxp_chrome_file *file, uint64_t limit_bytes);
uint64_t mxp__chrome_file_bytes(const mxp_chrome_file *file);
uint64_t mxp__chrome_file_left_out(const mxp_chrome_file *file);  // events
int mxp__chrome_file_started(const mxp_chrome_file *file);  // whether anything was written
int mxp__chrome_file_grows(const mxp_chrome_file *file);  // written, and a regular file
void mxp__chrome_file_close(mxp_chrome_file *file);  // null is fine

#endif
