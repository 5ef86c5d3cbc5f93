// SPDX-License-Identifier: Apache-2.0
// A source as a compressed file. The small sections are as in every native file; chunks come in
// PACKED sections of about PIECE_BYTES of records each.
#include <mxprof/error.h>
#include <stdio.h>
#include <string.h>
#include <zstd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "compression/packed_file.h"
#include "compression/record_code.h"
#include "profiler/trace/file/section.h"
#include "profiler/trace/file/section_writer.h"

enum { PIECE_BYTES = 1 << 20, LEVEL = 3 };

typedef struct packer {
    mxp_section_writer sections;
    mxp_record_coder coder;
    ZSTD_CCtx *zstd;
    mxp_strbuf plain, content;
} packer;

// ---- a section --------------------------------------------------------------------------------
static void put_u32(mxp_strbuf *out, uint32_t value)
{
    mxp__strbuf_append(out, (const char *)&value, sizeof value);
}

static bool join_columns(packer *pack)
{
    mxp__strbuf_clear(&pack->plain);
    for (int i = 0; i < MXP__COLUMNS; i++) {
        put_u32(&pack->plain, (uint32_t)pack->coder.columns[i].length);
    }
    bool failed = false;
    for (int i = 0; i < MXP__COLUMNS; i++) {
        const mxp_strbuf *column = &pack->coder.columns[i];
        mxp__strbuf_append(&pack->plain, column->data, column->length);
        failed = failed || column->failed;
    }
    return !failed && !pack->plain.failed && pack->plain.length <= UINT32_MAX;
}

static int write_piece(packer *pack)
{
    if (pack->coder.chunks == 0) {
        return MXP_OK;
    }
    if (!join_columns(pack)) {
        return mxp__fail_memory("compressing a native trace");
    }
    mxp__strbuf_clear(&pack->content);
    put_u32(&pack->content, pack->coder.chunks);
    put_u32(&pack->content, (uint32_t)pack->plain.length);
    size_t bound = ZSTD_compressBound(pack->plain.length);
    char *at = mxp__strbuf_reserve(&pack->content, bound);
    if (at == NULL) {
        return mxp__fail_memory("compressing a native trace");
    }
    size_t made = ZSTD_compress2(pack->zstd, at, bound, pack->plain.data, pack->plain.length);
    if (ZSTD_isError(made)) {
        return mxp__fail(MXP_ENOMEM, "cannot compress: %s", ZSTD_getErrorName(made));
    }
    pack->content.length += made;
    pack->sections.progress.record_bytes += pack->coder.record_bytes;
    mxp__record_coder_clear(&pack->coder);
    return mxp__write_section(&pack->sections, MXP_SECTION_PACKED, pack->content.data,
                              pack->content.length);
}

// ---- chunks -----------------------------------------------------------------------------------
// At most PIECE_BYTES of whole records from the range's front; all of it if they are none.
static mxp_record_range front_of(const mxp_record_range *range)
{
    mxp_record_range front = *range;
    const uint64_t *at = range->words;
    while (at < range->end && at - range->words < PIECE_BYTES / (ptrdiff_t)sizeof *at) {
        uint32_t units = (uint32_t)(*at >> 8 & 0xff);
        if (units == 0 || 2 * (ptrdiff_t)units > range->end - at) {
            return front;
        }
        at += 2 * (size_t)units;
    }
    front.end = at;
    return front;
}

static int pack_range(packer *pack, mxp_record_range range, uint32_t *sequences)
{
    int error = MXP_OK;
    while (range.words < range.end && error == MXP_OK) {
        mxp_record_range front = front_of(&range);
        mxp__record_code(&pack->coder, &front, sequences[range.thread]++);
        range.words = front.end;
        range.lost_before = 0;
        error = pack->coder.record_bytes >= PIECE_BYTES ? write_piece(pack) : MXP_OK;
    }
    return error;
}

// A range that cannot be read is left out.
static int pack_ranges(packer *pack, mxp_source *source, uint32_t *sequences)
{
    int damage = MXP_OK;
    int error = MXP_OK;
    mxp_record_range range;
    int found;
    for (size_t number = 0; error == MXP_OK && (found = source->range(source, number, &range)) != 0;
         number++) {
        if (found == MXP_EFORMAT) {
            damage = found;
        } else {
            error = found == 1 ? pack_range(pack, range, sequences) : found;
        }
    }
    if (error == MXP_OK) {
        error = write_piece(pack);
    }
    return error != MXP_OK ? error : damage;
}

static int pack_chunks(packer *pack, mxp_source *source)
{
    size_t bytes = ((size_t)source->thread_count + 1) * sizeof(uint32_t);
    uint32_t *sequences = mxp__alloc(bytes);
    pack->zstd = ZSTD_createCCtx();
    if (sequences == NULL || pack->zstd == NULL) {
        mxp__free(sequences, bytes);
        return mxp__fail_memory("compressing a native trace");
    }
    ZSTD_CCtx_setParameter(pack->zstd, ZSTD_c_compressionLevel, LEVEL);
    int error = pack_ranges(pack, source, sequences);
    mxp__free(sequences, bytes);
    return error;
}

// ---- the file ---------------------------------------------------------------------------------
static int write_header(mxp_sink *sink, const mxp_source *source)
{
    mxp_file_header header = mxp__file_header_of(source, sizeof header, MXP_FILE_PACKED);
    header.version = header.min_reader = MXP_FORMAT_PACKED;
    header.checksum = mxp__file_header_checksum(&header);
    return sink->write(sink, (const char *)&header, sizeof header);
}

static int write_tables(mxp_section_writer *sections, const mxp_source *source)
{
    static int (*const writes[])(mxp_section_writer *, const mxp_source *) = {
        mxp__write_names,  mxp__write_threads, mxp__write_modules, mxp__write_clock_cuts,
        mxp__write_losses, mxp__write_stats,   mxp__write_info};
    int error = mxp__write_clock(sections, source->timebase);
    for (size_t i = 0; i < sizeof writes / sizeof writes[0] && error == MXP_OK; i++) {
        error = writes[i](sections, source);
    }
    return error;
}

static int pack_sections(packer *pack, mxp_source *source)
{
    int error = write_tables(&pack->sections, source);
    if (error != MXP_OK) {
        return error;
    }
    int damage = pack_chunks(pack, source);
    if (damage != MXP_OK && damage != MXP_EFORMAT) {
        return damage;
    }
    error = mxp__write_end(&pack->sections);  // of a damaged source too: what is there is complete
    return error != MXP_OK ? error : damage;
}

int mxp__pack(mxp_source *source, int fd, const char *path)
{
    packer pack = {.sections = {.fd = fd, .path = path}};
    mxp_sink sink;
    mxp__sink_fd(&sink, fd, path);
    int error = write_header(&sink, source);
    if (error == MXP_OK) {
        error = pack_sections(&pack, source);
    }
    ZSTD_freeCCtx(pack.zstd);
    mxp__record_coder_fini(&pack.coder);
    mxp__strbuf_fini(&pack.plain);
    mxp__strbuf_fini(&pack.content);
    mxp__strbuf_fini(&pack.sections.body);
    return error;
}
