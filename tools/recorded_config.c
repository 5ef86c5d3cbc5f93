// SPDX-License-Identifier: Apache-2.0
#include "recorded_config.h"

#include <mxprof/gate.h>
#include <mxprof/profiler.h>
#include <stdlib.h>
#include <string.h>

// One "key=value"; the last one goes to the end, because it may have blanks.
typedef struct config_pair {
    char key[32];
    const char *value;
    size_t length;
} config_pair;

// Takes the next pair off the text. False: there is none.
static bool next_pair(const char **at, config_pair *pair)
{
    *at += strspn(*at, " ");
    size_t key = strcspn(*at, "=");
    if ((*at)[key] != '=') {
        return false;
    }
    size_t kept = key < sizeof pair->key ? key : sizeof pair->key - 1;
    memcpy(pair->key, *at, kept);
    pair->key[kept] = '\0';
    pair->value = *at + key + 1;
    pair->length = strcmp(pair->key, "snapshot_counter") == 0 ? strlen(pair->value)
                                                              : strcspn(pair->value, " ");
    *at = pair->value + pair->length;
    return true;
}

static void put_classes(unsigned long classes, mxp_strbuf *out)
{
    static const struct {
        unsigned long bit;
        const char *name;
    } names[] = {{MXP_CLASS_SYMBOLIC, "symbolic"},
                 {MXP_CLASS_IMPERATIVE, "imperative"},
                 {MXP_CLASS_API, "api"},
                 {MXP_CLASS_MEMORY, "memory"},
                 {MXP_CLASS_USER, "user"}};
    const char *before = "";
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if ((classes & names[i].bit) != 0 || names[i].bit == MXP_CLASS_USER) {
            mxp__strbuf_printf(out, "%s%s", before, names[i].name);
            before = ",";
        }
    }
}

// What the value says. True: it is text and no number.
static bool put_value(const config_pair *pair, mxp_strbuf *out)
{
    unsigned long number = strtoul(pair->value, NULL, 10);
    if (strcmp(pair->key, "classes") == 0) {
        put_classes(number, out);
        return true;
    }
    if (strcmp(pair->key, "store") == 0 && number <= MXP_STORE_FILE) {
        mxp__strbuf_puts(out, number == MXP_STORE_FILE ? "file" : "memory");
        return true;
    }
    mxp__strbuf_append(out, pair->value, pair->length);
    char *end;
    strtod(pair->value, &end);
    return pair->length == 0 || end != pair->value + pair->length;
}

void mxp__recorded_config_put(const char *config, mxp_strbuf *out)
{
    config_pair pair;
    const char *before = "";
    while (next_pair(&config, &pair)) {
        if (pair.length > 0) {
            mxp__strbuf_printf(out, "%s%s=", before, pair.key);
            put_value(&pair, out);
            before = " ";
        }
    }
}

void mxp__recorded_config_json(mxp_json *json, const char *config)
{
    config_pair pair;
    mxp_strbuf value = {0};
    mxp__json_object(json, "config");
    while (next_pair(&config, &pair)) {
        mxp__strbuf_clear(&value);
        if (put_value(&pair, &value)) {
            mxp__json_bytes(json, pair.key, mxp__strbuf_text(&value), value.length);
        } else {
            mxp__json_number(json, pair.key, strtod(mxp__strbuf_text(&value), NULL));
        }
    }
    mxp__json_end(json);
    mxp__strbuf_fini(&value);
}
