// SPDX-License-Identifier: Apache-2.0
// See section_check.h.
#include "profiler/trace/file/section_check.h"

#include <string.h>

#include "profiler/trace/file/section.h"

const char *mxp__section_fault(const mxp_section *section, uint64_t left)
{
    if (section->magic != MXP_SECTION_MAGIC) {
        return "no section begins here";
    }
    if (section->length_bytes < sizeof *section ||
        section->length_bytes % MXP__SECTION_ALIGN != 0) {
        return "a section of an impossible length";
    }
    return section->length_bytes > left ? "the file ends within a section" : NULL;
}

const char *mxp__content_fault(const mxp_section *section)
{
    bool is_chunk = section->type == MXP_SECTION_CHUNK;
    uint64_t header_bytes = is_chunk ? sizeof(mxp_chunk_header) : sizeof *section;
    if (section->length_bytes < header_bytes ||
        section->payload_bytes > section->length_bytes - header_bytes) {
        return "the content is longer than its section";
    }
    return is_chunk && section->payload_bytes % MXP_RECORD_UNIT != 0
               ? "a chunk whose length is no multiple of 16"
               : NULL;
}

const char *mxp__mapped_fault(const mxp_section *section)
{
    if ((section->flags & MXP_SECTION_HAS_CHECKSUM) != 0) {
        return NULL;
    }
    uint64_t most = section->type == MXP_SECTION_CHUNK      ? MXP_CHUNK_BYTES
                    : section->type == MXP_SECTION_RECORDER ? MXP_BLOCK_BYTES
                                                            : UINT64_MAX;
    return section->length_bytes % MXP__MAPPED_ALIGN != 0 || section->length_bytes > most
               ? "a section of a length that no recorder gives it"
               : NULL;
}

bool mxp__section_checksum_is_right(const mxp_section *section, const void *body)
{
    if ((section->flags & MXP_SECTION_HAS_CHECKSUM) == 0) {
        return true;
    }
    mxp_checksum checksum;
    mxp__section_checksum_begin(&checksum, section);
    mxp__checksum_add(&checksum, body, (size_t)section->length_bytes - sizeof *section);
    return mxp__checksum_end(&checksum) == section->checksum;
}

bool mxp__is_file_header(const void *data, uint64_t left)
{
    mxp_file_header header;
    if (left < sizeof header || memcmp(data, MXP_FILE_MAGIC, strlen(MXP_FILE_MAGIC)) != 0) {
        return false;
    }
    memcpy(&header, data, sizeof header);
    return header.checksum == mxp__file_header_checksum(&header);
}
