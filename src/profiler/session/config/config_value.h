// SPDX-License-Identifier: Apache-2.0
// The values of configuration keys: one parser a type, with MXNet's rules and wording.
#ifndef MXP_SESSION_CONFIG_VALUE_H
#define MXP_SESSION_CONFIG_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"

typedef enum mxp_key_type {
    MXP__KEY_BOOL,
    MXP__KEY_STRING,
    MXP__KEY_FLOAT,
    MXP__KEY_ENUM,
    MXP__KEY_SIZE,
    MXP__KEY_COUNT,
    MXP__KEY_SIGNAL  // a bool, or which signal; in `size`, 1 for true
} mxp_key_type;

typedef struct mxp_config_key {
    const char *name;
    mxp_key_type type;
    const char *fallback;
    const char *words;  // of an enum, separated by '|', ascending
    const char *environment;  // "" if none
    const char *help;
} mxp_config_key;

typedef struct mxp_key_value {
    bool flag;
    double number;
    uint64_t size;  // also a count
    const char *text;
    bool given;  // not the default
} mxp_key_value;

// Fills the member of *value that belongs to the key's type; strings are pointed to, not copied.
// MXP_EVALUE with the reason.
int mxp__config_value(const mxp_config_key *key, const char *text, mxp_key_value *value);

// strtod with a '.' as the decimal point, whatever the program's locale expects.
double mxp__config_double(const char *text, char **end);

// Appends the words of an enum as {'a', 'b'}.
void mxp__config_words(const char *words, mxp_strbuf *out);

#endif
