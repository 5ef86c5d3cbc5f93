// SPDX-License-Identifier: Apache-2.0
#include "seal_file.h"

#include "trace/section.h"

void seal_file(uint8_t *data, size_t size)
{
    mxp_file_header *header = (mxp_file_header *)(void *)data;
    if (size < sizeof *header) {
        return;
    }
    header->checksum = mxp__file_header_checksum(header);
    size_t offset = header->header_bytes;
    while (offset % MXP__SECTION_ALIGN == 0 && offset <= size &&
           size - offset >= sizeof(mxp_section)) {
        mxp_section *section = (mxp_section *)(void *)(data + offset);
        if (section->length_bytes < sizeof *section || section->length_bytes > size - offset) {
            return;
        }
        mxp_checksum checksum;
        mxp__section_checksum_begin(&checksum, section);
        mxp__checksum_add(&checksum, section + 1, (size_t)section->length_bytes - sizeof *section);
        section->checksum = mxp__checksum_end(&checksum);
        offset += section->length_bytes;
    }
}
