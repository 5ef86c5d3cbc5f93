// SPDX-License-Identifier: Apache-2.0
// Values of parameters from text. Accepted is what MXNet's own parser accepts: numbers with leading
// blanks, 'true' in any case, tuples in round or square brackets or as a single number, None where
// the type allows it.
#include "runtime/op/registry/parameter_text.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"

#define FLOAT_MOST 3.4028235677973366e38  // what still rounds to a float

static const char *const kind_texts[] = {
#define KIND_TEXT(name, text, type, quoted) text,
    MXN_FIELD_KINDS(KIND_TEXT)
#undef KIND_TEXT
};

static const bool kind_quotes[] = {
#define KIND_QUOTES(name, text, type, quoted) quoted,
    MXN_FIELD_KINDS(KIND_QUOTES)
#undef KIND_QUOTES
};

typedef struct target {  // where a value goes, and what to say if it cannot
    const mxn_op *op;
    const mxn_field *field;
    const char *text;
    char *at;
} target;

static int ill_typed(const target *to)
{
    return mxp__fail(MXP_EINVAL,
                     "Invalid Parameter format for %s expect %s but value='%s', in operator %s",
                     to->field->name, kind_texts[to->field->kind], to->text, to->op->name);
}

static int out_of_range(const target *to)
{
    return mxp__fail(MXP_EINVAL, "Out of range value for %s, value='%s', in operator %s",
                     to->field->name, to->text, to->op->name);
}

// What a list or a type can hold is no upper limit of the parameter.
static int outside_limits(const target *to, double value)
{
    const mxn_field *field = to->field;
    if (field->max >= MXN_OPERANDS_MAX && value < field->min) {
        return mxp__fail(MXP_EINVAL,
                         "value %s for Parameter %s should be greater equal to %.9g, in operator "
                         "%s",
                         to->text, field->name, field->min, to->op->name);
    }
    return mxp__fail(MXP_EINVAL,
                     "value %s for Parameter %s exceed bound [%.9g,%.9g], in operator %s", to->text,
                     field->name, field->min, field->max, to->op->name);
}

static int check_end(const target *to, const char *end)
{
    if (end == to->text) {
        return ill_typed(to);
    }
    while (isspace((unsigned char)*end)) {
        end++;
    }
    if (*end != '\0') {
        return mxp__fail(MXP_EINVAL,
                         "Some trailing characters could not be parsed: '%s' of %s='%s', in "
                         "operator %s",
                         end, to->field->name, to->text, to->op->name);
    }
    return 0;
}

static int check_limits(const target *to, double value)
{
    const mxn_field *field = to->field;
    if (field->min != field->max && !(value >= field->min && value <= field->max)) {
        return outside_limits(to, value);
    }
    return 0;
}

static int parse_bool(const target *to, bool *value)
{
    if (strcasecmp(to->text, "true") == 0 || strcmp(to->text, "1") == 0) {
        *value = true;
        return 0;
    }
    *value = false;
    if (strcasecmp(to->text, "false") == 0 || strcmp(to->text, "0") == 0) {
        return 0;
    }
    return ill_typed(to);
}

static int parse_integer(const target *to, int64_t least, int64_t most, int64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoll(to->text, &end, 10);
    if (end != to->text && *end == 'L') {
        end++;
    }
    int error = check_end(to, end);
    if (error != 0) {
        return error;
    }
    if (errno == ERANGE || *value < least || *value > most) {
        return out_of_range(to);
    }
    return check_limits(to, (double)*value);
}

static int parse_unsigned_long(const target *to, uint64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoull(to->text, &end, 10);
    int error = check_end(to, end);
    if (error != 0) {
        return error;
    }
    return errno == ERANGE || strchr(to->text, '-') != NULL ? out_of_range(to) : 0;
}

static int parse_exactly(const target *to, double most, mxn_number *number)
{
    const char *end;
    *number = mxn_number_read(to->text, &end);
    int error = check_end(to, end);
    if (error != 0) {
        return error;
    }
    bool named = strpbrk(to->text, "nN") != NULL;  // inf or nan, said in words
    if (!named && fabs(number->real) > most) {
        return out_of_range(to);
    }
    return check_limits(to, number->real);
}

static int parse_number(const target *to, double most, double *value)
{
    mxn_number number;
    int error = parse_exactly(to, most, &number);
    *value = number.real;
    return error;
}

static int parse_word(const target *to, int32_t *value)
{
    for (const mxn_word *word = to->field->words; word->text != NULL; word++) {
        const char *text = word->text + (word->text[0] == MXN_NONE_WORD[0] ? 1 : 0);
        if (strcmp(text, to->text) == 0) {
            *value = word->value;
            return 0;
        }
    }
    mxp_strbuf list = {0};
    for (const mxn_word *word = to->field->words; word->text != NULL; word++) {
        const char *text = word->text + (word->text[0] == MXN_NONE_WORD[0] ? 1 : 0);
        mxp__strbuf_printf(&list, "%s'%s'", word == to->field->words ? "" : ", ", text);
    }
    int error =
        mxp__fail(MXP_EINVAL, "Invalid Input: '%s', valid values are: {%s}, for %s in operator %s",
                  to->text, mxp__strbuf_text(&list), to->field->name, to->op->name);
    mxp__strbuf_fini(&list);
    return error;
}

static const char *skip_blanks(const char *at)
{
    while (isspace((unsigned char)*at)) {
        at++;
    }
    return at;
}

// One element of a tuple; null if there is none at `at`.
static const char *parse_element(const char *at, bool open, int64_t *value)
{
    if (open && strncmp(at, "None", 4) == 0) {
        *value = MXN_NONE_ELEMENT;
        return at + 4;
    }
    char *end;
    errno = 0;
    *value = strtoll(at, &end, 10);
    if (end == at || errno == ERANGE || *value == MXN_NONE_ELEMENT) {
        return NULL;
    }
    return *end == 'L' ? end + 1 : end;
}

static int parse_tuple(const target *to, mxn_tuple *tuple)
{
    const char *at = skip_blanks(to->text);
    tuple->count = 0;
    if (strcmp(at, "None") == 0) {
        tuple->count = MXN_TUPLE_ABSENT;
        return 0;
    }
    bool open = to->field->kind == MXN_FIELD_OPEN_TUPLE || to->field->kind == MXN_FIELD_ANY_TUPLE;
    char close = *at == '(' ? ')' : *at == '[' ? ']' : '\0';
    at = skip_blanks(close == '\0' ? at : at + 1);
    while (*at != close) {
        if (tuple->count == MXN_DIMS_MAX) {
            return mxp__fail(MXP_EINVAL, "%s='%s' has more than %d elements, in operator %s",
                             to->field->name, to->text, MXN_DIMS_MAX, to->op->name);
        }
        at = parse_element(at, open, &tuple->values[tuple->count]);
        if (at == NULL) {
            return ill_typed(to);
        }
        tuple->count++;
        at = skip_blanks(at);
        if (*at == ',' && close != '\0') {
            at = skip_blanks(at + 1);
        } else if (*at != close) {
            return ill_typed(to);
        }
    }
    if (close == '\0') {
        return tuple->count == 1 ? 0 : ill_typed(to);
    }
    return *skip_blanks(at + 1) == '\0' ? 0 : ill_typed(to);
}

static int parse_floats(const target *to, mxn_floats *floats, char **extra)
{
    float *values = (float *)(void *)*extra;
    floats->count = 0;
    floats->values = values;
    const char *at = skip_blanks(to->text);
    char close = *at == '(' ? ')' : *at == '[' ? ']' : '\0';
    at = skip_blanks(close == '\0' ? at : at + 1);
    while (*at != close) {
        char *end;
        values[floats->count] = strtof(at, &end);
        if (end == at) {
            return ill_typed(to);
        }
        floats->count++;
        at = skip_blanks(end);
        if (*at == ',') {
            at = skip_blanks(at + 1);
        } else if (*at != close) {
            return ill_typed(to);
        }
    }
    *extra += (floats->count * sizeof(float) + 7u) & ~(size_t)7;
    return 0;
}

static bool is_none(const target *to)
{
    return strcmp(to->text, "None") == 0;
}

static int parse_maybe_number(const target *to, double most)
{
    mxn_maybe_double *value = (mxn_maybe_double *)(void *)to->at;
    *value = (mxn_maybe_double){.has = !is_none(to)};
    return value->has ? parse_number(to, most, &value->value) : 0;
}

static int parse_maybe_exactly(const target *to)
{
    mxn_maybe_number *value = (mxn_maybe_number *)(void *)to->at;
    *value = (mxn_maybe_number){.has = !is_none(to)};
    return value->has ? parse_exactly(to, HUGE_VAL / 2, &value->number) : 0;
}

static int parse_maybe_int(const target *to)
{
    mxn_maybe_int *value = (mxn_maybe_int *)(void *)to->at;
    *value = (mxn_maybe_int){.has = !is_none(to)};
    int64_t number = 0;
    int error = value->has ? parse_integer(to, INT32_MIN, INT32_MAX, &number) : 0;
    value->value = (int32_t)number;
    return error;
}

static int parse_maybe_bool(const target *to)
{
    mxn_maybe_int *value = (mxn_maybe_int *)(void *)to->at;
    *value = (mxn_maybe_int){.has = !is_none(to)};
    bool truth = false;
    int error = value->has ? parse_bool(to, &truth) : 0;
    value->value = truth;
    return error;
}

static int parse_string(const target *to, char **extra)
{
    size_t bytes = strlen(to->text) + 1;
    memcpy(*extra, to->text, bytes);
    memcpy(to->at, extra, sizeof(char *));
    *extra += (bytes + 7u) & ~(size_t)7;
    return 0;
}

static int parse_int(const target *to, int64_t least, int64_t most)
{
    int64_t number = 0;
    int error = parse_integer(to, least, most, &number);
    uint32_t low = (uint32_t)number;
    memcpy(to->at, &low, sizeof low);
    return error;
}

static int parse_float(const target *to)
{
    double number = 0;
    int error = parse_number(to, FLOAT_MOST, &number);
    float narrow = strtof(to->text, NULL);
    memcpy(to->at, &narrow, sizeof narrow);
    return error;
}

size_t mxn__field_extra(const mxn_field *field, const char *text)
{
    // A number takes two characters at least, with its comma.
    return field->kind == MXN_FIELD_STRING   ? ((strlen(text) + 8u) & ~(size_t)7)
           : field->kind == MXN_FIELD_FLOATS ? strlen(text) * 2 + 16
                                             : 0;
}

int mxn__field_parse(const mxn_op *op, const mxn_field *field, const char *text, void *values,
                     char **extra)
{
    const target to = {op, field, text, (char *)values + field->offset};
    switch (field->kind) {
    case MXN_FIELD_BOOL:
        return parse_bool(&to, (bool *)(void *)to.at);
    case MXN_FIELD_INT:
        return parse_int(&to, INT32_MIN, INT32_MAX);
    case MXN_FIELD_UINT:
        return parse_int(&to, 0, UINT32_MAX);
    case MXN_FIELD_LONG:
        return parse_integer(&to, INT64_MIN, INT64_MAX, (int64_t *)(void *)to.at);
    case MXN_FIELD_ULONG:
        return parse_unsigned_long(&to, (uint64_t *)(void *)to.at);
    case MXN_FIELD_FLOAT:
        return parse_float(&to);
    case MXN_FIELD_DOUBLE:
        return parse_number(&to, HUGE_VAL / 2, (double *)(void *)to.at);
    case MXN_FIELD_STRING:
        return parse_string(&to, extra);
    case MXN_FIELD_ENUM:
        return parse_word(&to, (int32_t *)(void *)to.at);
    case MXN_FIELD_MAYBE_INT:
        return parse_maybe_int(&to);
    case MXN_FIELD_MAYBE_BOOL:
        return parse_maybe_bool(&to);
    case MXN_FIELD_MAYBE_FLOAT:
        return parse_maybe_number(&to, FLOAT_MOST);
    case MXN_FIELD_MAYBE_DOUBLE:
        return parse_maybe_number(&to, HUGE_VAL / 2);
    case MXN_FIELD_NUMBER:
        return parse_exactly(&to, HUGE_VAL / 2, (mxn_number *)(void *)to.at);
    case MXN_FIELD_MAYBE_NUMBER:
        return parse_maybe_exactly(&to);
    case MXN_FIELD_WIDE_FLOAT:
        return parse_number(&to, FLOAT_MOST, (double *)(void *)to.at);
    case MXN_FIELD_FLOATS:
        return parse_floats(&to, (mxn_floats *)(void *)to.at, extra);
    case MXN_FIELD_TUPLE:
    case MXN_FIELD_MAYBE_TUPLE:
    case MXN_FIELD_OPEN_TUPLE:
    case MXN_FIELD_ANY_TUPLE:
        return parse_tuple(&to, (mxn_tuple *)(void *)to.at);
    default:
        return mxp__fail(MXP_EINVAL, "'%s' is an input of operator %s, not a parameter",
                         field->name, op->name);
    }
}

static void put_words(const mxn_field *field, mxp_strbuf *text)
{
    mxp__strbuf_putc(text, '{');
    for (const mxn_word *word = field->words; word->text != NULL; word++) {
        mxp__strbuf_puts(text, word == field->words ? "" : ", ");
        if (word->text[0] == MXN_NONE_WORD[0]) {
            mxp__strbuf_puts(text, word->text + 1);
        } else {
            mxp__strbuf_printf(text, "'%s'", word->text);
        }
    }
    mxp__strbuf_putc(text, '}');
}

void mxn__field_type(const mxn_field *field, mxp_strbuf *text)
{
    if (field->type_text != NULL || field->kind == MXN_FIELD_INPUT) {
        mxp__strbuf_puts(text,
                         field->type_text != NULL ? field->type_text : kind_texts[field->kind]);
        return;
    }
    bool word = field->kind == MXN_FIELD_ENUM;
    if (word) {
        put_words(field, text);
    } else {
        mxp__strbuf_puts(text, kind_texts[field->kind]);
    }
    if (field->value == NULL) {
        mxp__strbuf_puts(text, ", required");
        return;
    }
    const char *quote = kind_quotes[field->kind] ? "'" : "";
    mxp__strbuf_printf(text, word ? ",optional, default=%s%s%s" : ", optional, default=%s%s%s",
                       quote, field->value, quote);
}
