// SPDX-License-Identifier: Apache-2.0
// Compressed native files: made from a source, and made into ordinary ones again, which is how they
// are read. Memory does not grow with the trace.
#ifndef MXP_TOOLS_PACKED_FILE_H
#define MXP_TOOLS_PACKED_FILE_H

#include "profiler/export/sink.h"
#include "profiler/trace/file/native.h"

// Writes the source to a descriptor as a compressed file. MXP_EFORMAT: the source is damaged, what
// could be read of it was written. Else 0, MXP_ENOMEM or MXP_EIO.
int mxp__pack(mxp_source *source, int fd, const char *path);

// Whether the bytes begin a compressed file.
bool mxp__is_packed(const void *data, size_t size_bytes);

// Writes the ordinary file that the bytes of a compressed one stand for. What is damaged is left
// out, and *damage tells of the first such place in the bytes; its text lives until the next call.
// MXP_ENOMEM or what the sink returns.
int mxp__unpack(const void *data, size_t size_bytes, mxp_sink *sink, mxp_damage *damage);

// As mxp__native_open, for both kinds of files. A compressed one is made into an ordinary one in a
// temporary file (base/os/temporary_file.h). *damage's text: as above, or as there.
int mxp__packed_open(const char *path, mxp_source **source, mxp_damage *damage);

#endif
