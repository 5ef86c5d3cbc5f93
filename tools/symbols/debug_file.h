// SPDX-License-Identifier: Apache-2.0
// Where the symbols of a file are that was stripped of them.
#ifndef MXP_TOOLS_DEBUG_FILE_H
#define MXP_TOOLS_DEBUG_FILE_H

#include "symbols/elf_file.h"

// Opens /usr/lib/debug/.build-id/xx/yyyy.debug. It must have that build id.
bool mxp__debug_open_by_id(const uint8_t *id, uint32_t id_bytes, mxp_elf *debug);
// Opens what the section .gnu_debuglink of the file at `path` names: beside it, in .debug, or under
// /usr/lib/debug. It must have the checksum that stands there, or the same build id.
bool mxp__debug_open_by_link(const mxp_elf *elf, const char *path, mxp_elf *debug);

#endif
