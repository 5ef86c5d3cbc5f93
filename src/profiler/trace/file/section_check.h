// SPDX-License-Identifier: Apache-2.0
// The rules that every section of a native file must meet.
#ifndef MXP_TRACE_SECTION_CHECK_H
#define MXP_TRACE_SECTION_CHECK_H

#include <mxprof/format.h>
#include <stdbool.h>
#include <stddef.h>

// What is wrong with the header of a section if `left` bytes remain, or null. After a section that
// fails this check no other could be found.
const char *mxp__section_fault(const mxp_section *section, uint64_t left);
// The same for the rules of a known section type.
const char *mxp__content_fault(const mxp_section *section);
// The same for sections that a recorder writes into its file. They have no checksum, so the check
// leaves few possible values.
const char *mxp__mapped_fault(const mxp_section *section);
// Whether the checksum is right; true also if the section has none. `body`: the bytes after the
// header.
bool mxp__section_checksum_is_right(const mxp_section *section, const void *body);
// Whether the header of a file begins with these bytes, its checksum right.
bool mxp__is_file_header(const void *data, uint64_t left);

#endif
