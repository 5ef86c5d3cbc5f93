// SPDX-License-Identifier: Apache-2.0
// See record_code.h. A time is coded as its distance from the time before; for a lean span that
// time is its end, because spans are in the order of their ends. The words after the second one are
// coded, in halves, as differences from those of the last record of the same kind. Everything is a
// varint.
#include "compression/record_code.h"

#include <mxprof/error.h>
#include <string.h>

#include "base/fail.h"
#include "profiler/trace/file/section.h"

enum { VARINT_BYTES = 10, KINDS_KEPT = 16, HALVES_KEPT = 32, CHUNK_NUMBERS = 5 };

// What both sides know of the records before.
typedef struct context {
    uint64_t time, variables;
    uint32_t halves[KINDS_KEPT][HALVES_KEPT];
    uint32_t no_half;  // stands for those that are not kept: always 0
} context;

static uint64_t zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static uint64_t unzigzag(uint64_t value)
{
    return value >> 1 ^ (0 - (value & 1));
}

static int64_t signed48(uint64_t value)
{
    return (int64_t)(value << 16) >> 16;
}

// The half that predicts half `i` of a record.
static uint32_t *half_before(context *before, uint32_t kind, uint32_t i)
{
    before->no_half = 0;
    return kind < KINDS_KEPT && i < HALVES_KEPT ? &before->halves[kind][i] : &before->no_half;
}

static uint64_t duration_of(uint32_t kind, uint64_t second)
{
    return kind == MXP_KIND_SPAN ? second >> 32 : 0;
}

// ---- coding -----------------------------------------------------------------------------------
static void put(mxp_record_coder *coder, mxp_column column, uint64_t value)
{
    char *start = mxp__strbuf_reserve(&coder->columns[column], VARINT_BYTES);
    if (start == NULL) {
        return;
    }
    char *at = start;
    for (; value >= 0x80; value >>= 7) {
        *at++ = (char)(value | 0x80);
    }
    *at++ = (char)value;
    coder->columns[column].length += (size_t)(at - start);
}

static void put_halves(mxp_record_coder *coder, context *before, uint32_t kind,
                       const uint64_t *words, uint64_t count)
{
    for (uint32_t i = 0; i < 2 * count; i++) {
        uint32_t half = (uint32_t)(words[i / 2] >> 32 * (i % 2));
        uint32_t *last = half_before(before, kind, i);
        put(coder, MXP__COLUMN_REST, zigzag((int32_t)(half - *last)));
        *last = half;
    }
}

static void put_record(mxp_record_coder *coder, context *before, const uint64_t *words,
                       uint32_t units)
{
    uint32_t kind = (uint32_t)(words[0] & 0xff);
    uint64_t stamp = words[0] >> 16;
    char head[2] = {(char)kind, (char)units};
    mxp__strbuf_append(&coder->columns[MXP__COLUMN_HEADS], head, sizeof head);
    if (kind == MXP_KIND_VARIABLES) {
        put(coder, MXP__COLUMN_REST, zigzag(signed48(stamp - before->variables)));
        before->variables = stamp;
    } else {
        uint64_t time = stamp + duration_of(kind, words[1]);
        put(coder, MXP__COLUMN_TIMES, zigzag(signed48(time - before->time)));
        before->time = time;
    }
    put(coder, MXP__COLUMN_NAMES, (uint32_t)words[1]);
    put(coder, MXP__COLUMN_VALUES, words[1] >> 32);
    put_halves(coder, before, kind, words + 2, 2 * (uint64_t)units - 2);
}

void mxp__record_code(mxp_record_coder *coder, const mxp_record_range *range, uint32_t sequence)
{
    uint64_t words = (uint64_t)(range->end - range->words);
    const uint64_t numbers[CHUNK_NUMBERS] = {range->thread, sequence, range->base_ticks,
                                             range->lost_before, words / 2};
    for (int i = 0; i < CHUNK_NUMBERS; i++) {
        put(coder, MXP__COLUMN_CHUNKS, numbers[i]);
    }
    context before = {.time = range->base_ticks};
    const uint64_t *at = range->words;
    while (at < range->end) {
        uint32_t units = (uint32_t)(*at >> 8 & 0xff);
        if (units == 0 || 2 * (ptrdiff_t)units > range->end - at) {
            static const char none[2];  // no record: the rest as it is
            mxp__strbuf_append(&coder->columns[MXP__COLUMN_HEADS], none, sizeof none);
            put_halves(coder, &before, UINT8_MAX, at, (uint64_t)(range->end - at));
            break;
        }
        put_record(coder, &before, at, units);
        at += 2 * (size_t)units;
    }
    coder->chunks++;
    coder->record_bytes += words * sizeof *range->words;
}

void mxp__record_coder_clear(mxp_record_coder *coder)
{
    for (int i = 0; i < MXP__COLUMNS; i++) {
        mxp__strbuf_clear(&coder->columns[i]);
    }
    coder->chunks = 0;
    coder->record_bytes = 0;
}

void mxp__record_coder_fini(mxp_record_coder *coder)
{
    for (int i = 0; i < MXP__COLUMNS; i++) {
        mxp__strbuf_fini(&coder->columns[i]);
    }
}

// ---- decoding ---------------------------------------------------------------------------------
// Once a column has ended too early, `failed` stays set and every value is 0.
typedef struct decoder {
    mxp_column_bytes *columns;
    context before;
    bool failed;
} decoder;

static uint64_t take(decoder *from, mxp_column column)
{
    mxp_column_bytes *bytes = &from->columns[column];
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && bytes->at < bytes->end; shift += 7) {
        uint8_t byte = *bytes->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            return value;
        }
    }
    from->failed = true;
    return 0;
}

static void take_halves(decoder *from, uint32_t kind, uint64_t *words, uint64_t count)
{
    for (uint32_t i = 0; i < 2 * count; i++) {
        uint32_t *last = half_before(&from->before, kind, i);
        uint32_t half = *last + (uint32_t)unzigzag(take(from, MXP__COLUMN_REST));
        *last = half;
        words[i / 2] = i % 2 == 0 ? half : words[i / 2] | (uint64_t)half << 32;
    }
}

static void take_record(decoder *from, uint32_t kind, uint32_t units, uint64_t *words)
{
    uint64_t name, value, stamp;
    if (kind == MXP_KIND_VARIABLES) {
        stamp = from->before.variables + unzigzag(take(from, MXP__COLUMN_REST));
        from->before.variables = stamp;
        name = (uint32_t)take(from, MXP__COLUMN_NAMES);
        value = take(from, MXP__COLUMN_VALUES);
    } else {
        from->before.time += unzigzag(take(from, MXP__COLUMN_TIMES));
        name = (uint32_t)take(from, MXP__COLUMN_NAMES);
        value = take(from, MXP__COLUMN_VALUES);
        stamp = from->before.time - duration_of(kind, value << 32);
    }
    words[0] = kind | (uint64_t)units << 8 | stamp << 16;
    words[1] = name | value << 32;
    take_halves(from, kind, words + 2, 2 * (uint64_t)units - 2);
}

// Appends the records of one chunk, `words` words in all.
static void take_records(decoder *from, uint64_t words, mxp_strbuf *out)
{
    mxp_column_bytes *heads = &from->columns[MXP__COLUMN_HEADS];
    while (words > 0 && !from->failed && !out->failed) {
        if (heads->end - heads->at < 2) {
            from->failed = true;
            return;
        }
        uint32_t kind = heads->at[0], units = heads->at[1];
        heads->at += 2;
        uint64_t count = units == 0 ? words : 2 * (uint64_t)units;
        // A half takes at least a byte, so that a few bytes cannot ask for all memory.
        uint64_t space =
            (uint64_t)(from->columns[MXP__COLUMN_REST].end - from->columns[MXP__COLUMN_REST].at);
        if (count > words || (units == 0 && count > space)) {
            from->failed = true;
            return;
        }
        size_t bytes = (size_t)count * sizeof(uint64_t);
        uint64_t *at = (uint64_t *)(void *)mxp__strbuf_reserve(out, bytes);
        if (at != NULL && units == 0) {
            take_halves(from, UINT8_MAX, at, count);
        } else if (at != NULL) {
            take_record(from, kind, units, at);
        }
        out->length += at != NULL ? bytes : 0;
        words -= count;
    }
}

static void seal(mxp_strbuf *out, size_t start, mxp_chunk_header *header)
{
    uint64_t length = out->length - start;
    header->section = (mxp_section){.magic = MXP_SECTION_MAGIC,
                                    .type = MXP_SECTION_CHUNK,
                                    .flags = MXP_SECTION_HAS_CHECKSUM,
                                    .length_bytes = length,
                                    .payload_bytes = length - sizeof *header};
    memcpy(out->data + start, header, sizeof *header);
    mxp_checksum checksum;
    mxp__section_checksum_begin(&checksum, &header->section);
    mxp__checksum_add(&checksum, out->data + start + sizeof header->section,
                      (size_t)length - sizeof header->section);
    header->section.checksum = mxp__checksum_end(&checksum);
    memcpy(out->data + start, header, sizeof *header);
}

static void take_chunk(decoder *from, mxp_strbuf *out, uint64_t *record_bytes)
{
    uint64_t numbers[CHUNK_NUMBERS];
    for (int i = 0; i < CHUNK_NUMBERS; i++) {
        numbers[i] = take(from, MXP__COLUMN_CHUNKS);
    }
    mxp_chunk_header header = {.thread = (uint32_t)numbers[0],
                               .sequence = (uint32_t)numbers[1],
                               .base_ticks = numbers[2],
                               .lost_before = numbers[3]};
    from->failed = from->failed || numbers[4] > UINT32_MAX;
    size_t start = out->length;
    mxp__strbuf_append(out, (const char *)&header, sizeof header);
    from->before = (context){.time = header.base_ticks};
    take_records(from, 2 * numbers[4], out);
    if (!from->failed && !out->failed) {
        seal(out, start, &header);
        *record_bytes += 2 * numbers[4] * sizeof(uint64_t);
    }
}

int mxp__record_decode(mxp_column_bytes columns[MXP__COLUMNS], uint32_t chunks, mxp_strbuf *out,
                       uint64_t *record_bytes)
{
    decoder from = {.columns = columns};
    for (uint32_t i = 0; i < chunks && !from.failed && !out->failed; i++) {
        take_chunk(&from, out, record_bytes);
    }
    for (int i = 0; i < MXP__COLUMNS; i++) {
        from.failed = from.failed || columns[i].at != columns[i].end;
    }
    if (out->failed) {
        return mxp__fail_memory("a compressed section");
    }
    return from.failed ? mxp__fail(MXP_EFORMAT, "columns that stand for no records") : MXP_OK;
}
