// SPDX-License-Identifier: Apache-2.0
// Finding the way again behind damage in a native file.
#ifndef MXP_TRACE_FILE_RESYNC_H
#define MXP_TRACE_FILE_RESYNC_H

#include "profiler/trace/file/file_index.h"

// Whether a section or a file's header begins at `offset`, or the file ends there.
bool mxp__file_goes_on(const mxp_file_index *index, uint64_t offset);

// Whether the section at `offset`, whose header makes sense, is one: by what stands behind it, or
// by its checksum.
bool mxp__file_proves_itself(mxp_file_index *index, uint64_t offset);

// Where, between the two offsets, a section begins that proves itself and that a wrong length in
// front of it has hidden; `to` if none does. Looks where the writers of sections without checksums
// put them; a search that has become too long finds none.
uint64_t mxp__file_hidden(mxp_file_index *index, uint64_t from, uint64_t to);

// The offset, from `from` on, of the next section of this process that proves itself, of the next
// process's header, or of the end of the file.
uint64_t mxp__file_resync(mxp_file_index *index, uint64_t from);

#endif
