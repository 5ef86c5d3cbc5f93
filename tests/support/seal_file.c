// SPDX-License-Identifier: Apache-2.0
#include "seal_file.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <mxprof/error.h>

#include "profiler/trace/file/native.h"
#include "profiler/trace/file/section.h"
#include "profiler/trace/merge.h"

static bool is_header(const uint8_t *data, size_t size)
{
    return size >= sizeof(mxp_file_header) &&
           memcmp(data, MXP_FILE_MAGIC, strlen(MXP_FILE_MAGIC)) == 0;
}

static void seal_header(uint8_t *data)
{
    mxp_file_header *header = (mxp_file_header *)(void *)data;
    header->checksum = mxp__file_header_checksum(header);
}

// Returns its length, 0 if no section that lies within `size` begins here.
static size_t seal_section(uint8_t *data, size_t size)
{
    mxp_section *section = (mxp_section *)(void *)data;
    if (size < sizeof *section || section->length_bytes < sizeof *section ||
        section->length_bytes > size) {
        return 0;
    }
    mxp_checksum checksum;
    mxp__section_checksum_begin(&checksum, section);
    mxp__checksum_add(&checksum, section + 1, (size_t)section->length_bytes - sizeof *section);
    section->checksum = mxp__checksum_end(&checksum);
    return (size_t)section->length_bytes;
}

void seal_file(uint8_t *data, size_t size)
{
    size_t offset = 0, length = size >= sizeof(mxp_file_header) ? 1 : 0;
    while (offset < size && length > 0) {
        // The first one whatever it says: its magic may be what is being fuzzed.
        if (offset == 0 || is_header(data + offset, size - offset)) {
            seal_header(data + offset);
            length = ((const mxp_file_header *)(const void *)(data + offset))->header_bytes;
        } else {
            length = seal_section(data + offset, size - offset);
        }
        length = length > size - offset || length % MXP__SECTION_ALIGN != 0 ? 0 : length;
        offset += length;
    }
}

void use_sealed_copy(const uint8_t *data, size_t size, void (*use)(const void *data, size_t size))
{
    uint8_t *copy = size > 0 ? malloc(size) : NULL;
    if (copy != NULL) {
        memcpy(copy, data, size);
        seal_file(copy, size);
        use(copy, size);
    }
    free(copy);
}

void use_processes(const void *data, size_t size, void (*use)(mxp_source *process))
{
    mxp_source *source, *process;
    mxp_damage damage;
    if (mxp__native_open_memory(data, size, &source, &damage) != MXP_OK) {
        return;
    }
    for (size_t i = 0; (process = mxp__source_process(source, i)) != NULL; i++) {
        use(process);
    }
    mxp__source_close(source);
}
