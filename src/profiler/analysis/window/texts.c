// SPDX-License-Identifier: Apache-2.0
// Texts whose hashes are equal have keys that follow one another.
#include "profiler/analysis/window/texts.h"

#include <mxprof/error.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

typedef struct known_text {
    uint64_t key;
    uint32_t number;
} known_text;

static uint64_t hash_of(const char *text, size_t length)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

static bool is_at(const mxp_texts *texts, uint32_t number, const char *text, size_t length)
{
    const mxp_text_place *place = &texts->places[number];
    return place->length == length && memcmp(texts->bytes.data + place->at, text, length) == 0;
}

static int add(mxp_texts *texts, uint64_t key, const char *text, size_t length, uint32_t *number)
{
    if (mxp__grow(&texts->places, &texts->capacity, texts->count + 1, sizeof *texts->places) !=
        MXP_OK) {
        return mxp__fail_memory("names");
    }
    const size_t at = texts->bytes.length;
    mxp__strbuf_append(&texts->bytes, text, length);
    mxp__strbuf_append(&texts->bytes, "", 1);
    known_text *known = texts->bytes.failed ? NULL : mxp__id_map_add(&texts->known, key);
    if (known == NULL) {
        return mxp__fail_memory("names");
    }
    texts->places[texts->count] = (mxp_text_place){at, length};
    *number = known->number = (uint32_t)texts->count++;
    return MXP_OK;
}

int mxp__texts_number(mxp_texts *texts, const char *text, size_t length, uint32_t *number)
{
    texts->known.entry_bytes = sizeof(known_text);
    uint64_t key = hash_of(text, length);
    for (;; key++) {
        key += key == 0;  // no key is 0
        const known_text *known = mxp__id_map_find(&texts->known, key);
        if (known == NULL) {
            return add(texts, key, text, length, number);
        }
        if (is_at(texts, known->number, text, length)) {
            *number = known->number;
            return MXP_OK;
        }
    }
}

const char *mxp__texts_at(const mxp_texts *texts, uint32_t number, size_t *length)
{
    if (length != NULL) {
        *length = texts->places[number].length;
    }
    return texts->bytes.data + texts->places[number].at;
}

void mxp__texts_fini(mxp_texts *texts)
{
    mxp__strbuf_fini(&texts->bytes);
    mxp__free(texts->places, texts->capacity * sizeof *texts->places);
    mxp__id_map_fini(&texts->known);
    *texts = (mxp_texts){0};
}
