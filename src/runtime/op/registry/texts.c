// SPDX-License-Identifier: Apache-2.0
// The tables of words. They are read once for each operator that is asked about, so they are
// searched from the top: what is said of one operator is above what is said of all.
#include "runtime/op/registry/texts.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct text {
    const char *operators, *argument, *text;
} text;

static const text texts[] = {
#define TEXT(operators, argument, words) {operators, argument, words},
#include "runtime/op/registry/layer_texts.def"
// Then those of which some are of all operators.
#include "runtime/op/registry/argument_texts.def"
#include "runtime/op/registry/operator_texts.def"
#undef TEXT
};

static bool is_among(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = words; *at != '\0'; at += *at == ' ') {
        size_t found = strcspn(at, " ");
        if (found == length && memcmp(at, word, length) == 0) {
            return true;
        }
        at += found;
    }
    return false;
}

const char *mxn__op_text(const char *op, const char *argument)
{
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const text *one = &texts[i];
        if (strcmp(one->argument, argument) == 0 &&
            (one->operators[0] == '\0' || is_among(one->operators, op))) {
            return one->text;
        }
    }
    return NULL;
}
