// SPDX-License-Identifier: Apache-2.0
// Fuzzes compressed native files. What an input unpacks to must be a file that the reader finds
// whole. Its checksums are made right first, or a fuzzer would get nowhere; and since zstd's frames
// are as hard to come by, each input is also taken as the columns inside of one, and as records,
// which must come out of the columns as they went in.
#include <stdlib.h>
#include <string.h>

#include "compression/packed_file.h"
#include "compression/record_code.h"
#include "profiler/trace/file/section.h"
#include "profiler/trace/reader.h"
#include "seal_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_whole(const mxp_strbuf *file)
{
    mxp_source *source;
    mxp_damage damage;
    if (mxp__native_open_memory(file->data, file->length, &source, &damage) != 0) {
        return;
    }
    mxp_reader *reader;
    if (mxp__reader_open(source, &reader) == 0) {
        mxp_event event;
        while (mxp__reader_next(reader, &event) == 1) {
        }
        mxp__reader_close(reader);
    }
    mxp__source_close(source);
}

static void unpack(const void *data, size_t size)
{
    mxp_strbuf file = {0};
    mxp_sink sink;
    mxp_damage damage;
    mxp__sink_string(&sink, &file);
    if (mxp__is_packed(data, size) && mxp__unpack(data, size, &sink, &damage) == 0) {
        if (damage.text != NULL && (damage.offset > size || damage.text[0] == 0)) {
            abort();
        }
        read_whole(&file);
    }
    mxp__strbuf_fini(&file);
}

// Each column gets a part of the bytes.
static void decode_columns(const uint8_t *data, size_t size)
{
    mxp_column_bytes columns[MXP__COLUMNS];
    mxp_strbuf out = {0};
    uint64_t record_bytes = 0;
    for (size_t i = 0; i < MXP__COLUMNS; i++) {
        columns[i] = (mxp_column_bytes){data + size * i / MXP__COLUMNS,
                                        data + size * (i + 1) / MXP__COLUMNS};
    }
    (void)mxp__record_decode(columns, size > 0 ? data[0] : 1, &out, &record_bytes);
    mxp__strbuf_fini(&out);
}

static void code_and_decode(const uint8_t *data, size_t size)
{
    size_t bytes = size / 16 * 16;
    uint64_t *words = malloc(bytes > 0 ? bytes : 1);
    if (words == NULL || bytes == 0) {
        free(words);
        return;
    }
    memcpy(words, data, bytes);
    mxp_record_range range = {.words = words,
                              .end = words + bytes / sizeof *words,
                              .base_ticks = words[0],
                              .thread = 7,
                              .lost_before = words[1]};
    mxp_record_coder coder = {0};
    mxp_column_bytes columns[MXP__COLUMNS];
    mxp_strbuf out = {0};
    uint64_t record_bytes = 0;
    mxp__record_code(&coder, &range, 3);
    for (int i = 0; i < MXP__COLUMNS; i++) {
        const uint8_t *at = (const uint8_t *)mxp__strbuf_text(&coder.columns[i]);
        columns[i] = (mxp_column_bytes){at, at + coder.columns[i].length};
    }
    if (mxp__record_decode(columns, 1, &out, &record_bytes) != 0 || record_bytes != bytes ||
        out.length != bytes + sizeof(mxp_chunk_header) ||
        memcmp(out.data + sizeof(mxp_chunk_header), data, bytes) != 0) {
        abort();
    }
    mxp__strbuf_fini(&out);
    mxp__record_coder_fini(&coder);
    free(words);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unpack(data, size);
    use_sealed_copy(data, size, unpack);
    decode_columns(data, size);
    code_and_decode(data, size);
    return 0;
}
