// SPDX-License-Identifier: Apache-2.0
// What a section of a native file must keep to, whoever wrote it.
#ifndef MXP_TRACE_SECTION_CHECK_H
#define MXP_TRACE_SECTION_CHECK_H

#include <mxprof/format.h>
#include <stdbool.h>
#include <stddef.h>

// What is wrong with the header of a section that has `left` bytes, or null. What every section
// must keep to: nothing behind it could be found otherwise.
const char *mxp__section_fault(const mxp_section *section, uint64_t left);
// The same for what a section of a known type must keep to.
const char *mxp__content_fault(const mxp_section *section);
// The same for what a recorder writes into its file, without a checksum: what it can be wrong in is
// little.
const char *mxp__mapped_fault(const mxp_section *section);
// True also if it has none. `body`: what stands behind its header.
bool mxp__section_checksum_is_right(const mxp_section *section, const void *body);
// Whether the header of a file begins with these bytes, its checksum right.
bool mxp__is_file_header(const void *data, uint64_t left);

#endif
