// SPDX-License-Identifier: Apache-2.0
// A compressed file as the ordinary one it was made from. Nothing in it is trusted: lengths are
// compared with what is left, and a section is written only when all of it could be decoded.
#include <inttypes.h>
#include <mxprof/error.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <zstd.h>

#include "base/fail.h"
#include "compression/packed_file.h"
#include "compression/record_code.h"
#include "profiler/trace/file/section.h"
#include "profiler/trace/file/section_check.h"

enum {
    PLAIN_BYTES_MAX = 64 << 20,  // of a section; ours have about 1 MiB
    SEARCHED_TIMES_SIZE = 4  // in checksums of what only looks like a section
};

typedef struct unpacker {
    const uint8_t *data;
    uint64_t size_bytes;
    mxp_sink *sink;
    mxp_damage *damage;
    uint64_t sections_read, sections_written, record_bytes, searched_bytes;
    bool ended;
    mxp_strbuf plain, chunks;
} unpacker;

// The first damage is kept. The bytes after it are still read.
__attribute__((format(printf, 3, 4))) static void note_damage(unpacker *pack, uint64_t offset,
                                                              const char *format, ...)
{
    static _Thread_local char text[160];
    if (pack->damage->text == NULL) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(text, sizeof text, format, arguments);
        va_end(arguments);
        *pack->damage = (mxp_damage){offset, text};
    }
}

static int write_bytes(unpacker *pack, const void *data, uint64_t size_bytes)
{
    return pack->sink->write(pack->sink, data, (size_t)size_bytes);
}

// ---- compressed chunks ------------------------------------------------------------------------
static const char *split_columns(const mxp_strbuf *plain, mxp_column_bytes columns[MXP__COLUMNS])
{
    uint32_t lengths[MXP__COLUMNS];
    if (plain->length < sizeof lengths) {
        return "a compressed section without its columns";
    }
    memcpy(lengths, plain->data, sizeof lengths);
    const uint8_t *at = (const uint8_t *)plain->data + sizeof lengths;
    const uint8_t *end = (const uint8_t *)plain->data + plain->length;
    for (int i = 0; i < MXP__COLUMNS; i++) {
        if (lengths[i] > (size_t)(end - at)) {
            return "a column that is longer than its section";
        }
        columns[i] = (mxp_column_bytes){at, at + lengths[i]};
        at += lengths[i];
    }
    return at == end ? NULL : "a compressed section with something after its columns";
}

// `content` is what comes after the header. Null, or what is wrong with it.
static const char *decompress(unpacker *pack, const uint8_t *content, uint64_t size_bytes,
                              uint32_t *chunks)
{
    uint32_t head[2];
    if (size_bytes < sizeof head) {
        return "a compressed section without its content";
    }
    memcpy(head, content, sizeof head);
    *chunks = head[0];
    mxp__strbuf_clear(&pack->plain);
    char *at = head[1] <= PLAIN_BYTES_MAX ? mxp__strbuf_reserve(&pack->plain, head[1]) : NULL;
    if (at == NULL) {
        return "a compressed section of an impossible length";
    }
    size_t made = ZSTD_decompress(at, head[1], content + sizeof head, size_bytes - sizeof head);
    if (ZSTD_isError(made) || made != head[1]) {
        return "a compressed section that cannot be decompressed";
    }
    pack->plain.length = made;
    return NULL;
}

static int unpack_chunks(unpacker *pack, uint64_t offset, const mxp_section *section)
{
    mxp_column_bytes columns[MXP__COLUMNS];
    uint32_t chunks = 0;
    uint64_t record_bytes = 0;
    const uint8_t *content = pack->data + offset + sizeof *section;
    const char *fault = decompress(pack, content, section->payload_bytes, &chunks);
    fault = fault == NULL ? split_columns(&pack->plain, columns) : fault;
    if (fault != NULL) {
        note_damage(pack, offset, "%s", fault);
        return MXP_OK;
    }
    mxp__strbuf_clear(&pack->chunks);
    int error = mxp__record_decode(columns, chunks, &pack->chunks, &record_bytes);
    if (error != MXP_OK) {
        note_damage(pack, offset, "a compressed section that stands for no records");
        return error == MXP_EFORMAT ? MXP_OK : error;
    }
    pack->sections_written += chunks;
    pack->record_bytes += record_bytes;
    return write_bytes(pack, pack->chunks.data, pack->chunks.length);
}

// ---- sections ---------------------------------------------------------------------------------
static void check_end(unpacker *pack, uint64_t offset, const mxp_section *section)
{
    uint64_t totals[2] = {0, 0};
    pack->ended = true;
    if (section->payload_bytes >= sizeof totals) {
        memcpy(totals, pack->data + offset + sizeof *section, sizeof totals);
    }
    if (totals[0] != pack->sections_read || totals[1] != pack->record_bytes) {
        note_damage(pack, offset,
                    "%" PRIu64 " sections with %" PRIu64 " bytes of records should come before "
                    "END, but there are %" PRIu64 " with %" PRIu64,
                    totals[0], totals[1], pack->sections_read, pack->record_bytes);
    }
}

// The reason why the section cannot be read, or null. All sections of these files have a checksum.
static const char *fault_of(const unpacker *pack, uint64_t offset, mxp_section *section)
{
    memcpy(section, pack->data + offset, sizeof *section);
    const char *fault = mxp__section_fault(section, pack->size_bytes - offset);
    if (fault != NULL) {
        return fault;
    }
    if (section->payload_bytes > section->length_bytes - sizeof *section) {
        return "the content is longer than its section";
    }
    const void *body = pack->data + offset + sizeof *section;
    bool right = (section->flags & MXP_SECTION_HAS_CHECKSUM) != 0 &&
                 mxp__section_checksum_is_right(section, body);
    return right ? NULL : "a section's checksum is wrong";
}

static int unpack_section(unpacker *pack, uint64_t offset, const mxp_section *section)
{
    int error = MXP_OK;
    if (section->type == MXP_SECTION_PACKED) {
        error = unpack_chunks(pack, offset, section);
    } else if (section->type == MXP_SECTION_END) {
        check_end(pack, offset, section);
    } else if (section->type != MXP_SECTION_CHUNK) {  // which these files do not have
        pack->sections_written++;
        error = write_bytes(pack, pack->data + offset, section->length_bytes);
    }
    pack->sections_read++;
    return error;
}

// The next section whose checksum is right, or the end of the file. After END, or at the header of
// another file, this file is over. Checksums are taken of a bounded number of bytes, because a
// malicious file could otherwise cost the square of its size.
static uint64_t resync(unpacker *pack, uint64_t from)
{
    uint64_t offset = from;
    for (; !pack->ended && pack->size_bytes - offset >= sizeof(mxp_section) &&
           pack->searched_bytes / SEARCHED_TIMES_SIZE <= pack->size_bytes;
         offset += MXP__SECTION_ALIGN) {
        mxp_section section;
        if (mxp__is_file_header(pack->data + offset, pack->size_bytes - offset)) {
            break;
        }
        memcpy(&section, pack->data + offset, sizeof section);
        if (mxp__section_fault(&section, pack->size_bytes - offset) != NULL) {
            continue;
        }
        if (fault_of(pack, offset, &section) == NULL) {
            return offset;
        }
        pack->searched_bytes += section.length_bytes;
    }
    return pack->size_bytes;
}

static int unpack_sections(unpacker *pack, uint64_t offset)
{
    while (pack->size_bytes - offset >= sizeof(mxp_section)) {
        mxp_section section;
        const char *fault = fault_of(pack, offset, &section);
        if (fault != NULL) {
            note_damage(pack, offset, "%s", fault);
            offset = resync(pack, offset + MXP__SECTION_ALIGN);
            continue;
        }
        pack->ended = false;
        int error = unpack_section(pack, offset, &section);
        if (error != MXP_OK) {
            return error;
        }
        offset += section.length_bytes;
    }
    if (offset != pack->size_bytes || !pack->ended) {
        note_damage(pack, offset,
                    "the file ends without an END section: its writer did not finish");
    }
    return MXP_OK;
}

// ---- the file ---------------------------------------------------------------------------------
static int write_header(unpacker *pack)
{
    mxp_file_header header;
    memcpy(&header, pack->data, sizeof header);
    header.version = MXP_FORMAT_VERSION;
    header.min_reader = MXP_FORMAT_MIN_READER;
    header.flags &= ~(uint32_t)MXP_FILE_PACKED;
    header.checksum = mxp__file_header_checksum(&header);
    return write_bytes(pack, &header, sizeof header);
}

static int write_end(unpacker *pack)
{
    const uint64_t totals[2] = {pack->sections_written, pack->record_bytes};
    mxp_section section = {.magic = MXP_SECTION_MAGIC,
                           .type = MXP_SECTION_END,
                           .flags = MXP_SECTION_HAS_CHECKSUM,
                           .length_bytes = sizeof section + sizeof totals,
                           .payload_bytes = sizeof totals};
    mxp_checksum checksum;
    mxp__section_checksum_begin(&checksum, &section);
    mxp__checksum_add(&checksum, totals, sizeof totals);
    section.checksum = mxp__checksum_end(&checksum);
    int error = write_bytes(pack, &section, sizeof section);
    return error == MXP_OK ? write_bytes(pack, totals, sizeof totals) : error;
}

int mxp__unpack(const void *data, size_t size_bytes, mxp_sink *sink, mxp_damage *damage)
{
    unpacker pack = {.data = data, .size_bytes = size_bytes, .sink = sink, .damage = damage};
    *damage = (mxp_damage){0, NULL};
    int error = write_header(&pack);
    if (error == MXP_OK) {
        error = unpack_sections(&pack, sizeof(mxp_file_header));
    }
    if (error == MXP_OK) {
        error = write_end(&pack);
    }
    mxp__strbuf_fini(&pack.plain);
    mxp__strbuf_fini(&pack.chunks);
    return error;
}
