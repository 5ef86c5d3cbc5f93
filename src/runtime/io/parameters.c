// SPDX-License-Identifier: Apache-2.0
#include "runtime/io/parameters.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "runtime/io/shuffle.h"

enum { TEXT, NUMBER, TRUTH, SHAPE, DTYPE, ORDER, IGNORED };

typedef struct field {
    const char *name, *type_text;
    int kind;
    size_t offset;
} field;

#define FIELD(member, kind) kind, offsetof(mxn_iter_settings, member)

#define TYPES                                                                                \
    "{None, 'bfloat16', 'float16', 'float32', 'float64', 'int32', 'int64', 'int8', 'uint8'}" \
    ",optional, default='None'"

static const field fields[] = {
    {"image", "string, optional, default='./train-images-idx3-ubyte'", FIELD(image, TEXT)},
    {"label", "string, optional, default='./train-labels-idx1-ubyte'", FIELD(label, TEXT)},
    {"data_csv", "string, required", FIELD(data_csv, TEXT)},
    {"data_shape", "Shape(tuple), required", FIELD(data_shape, SHAPE)},
    {"label_csv", "string, optional, default='NULL'", FIELD(label_csv, TEXT)},
    {"label_shape", "Shape(tuple), optional, default=[1]", FIELD(label_shape, SHAPE)},
    {"batch_size", "int, optional, default='128'", FIELD(batch_size, NUMBER)},
    {"round_batch", "boolean, optional, default=1", FIELD(round_batch, TRUTH)},
    {"shuffle", "boolean, optional, default=1", FIELD(shuffle, TRUTH)},
    {"flat", "boolean, optional, default=0", FIELD(flat, TRUTH)},
    {"seed", "int, optional, default='0'", FIELD(seed, NUMBER)},
    {"silent", "boolean, optional, default=0", FIELD(silent, TRUTH)},
    {"num_parts", "int, optional, default='1'", FIELD(num_parts, NUMBER)},
    {"part_index", "int, optional, default='0'", FIELD(part_index, NUMBER)},
    {"prefetch_buffer", "long (non-negative), optional, default=4", FIELD(prefetch_buffer, NUMBER)},
    {"ctx", "{'cpu', 'cpu_pinned', 'gpu'},optional, default='gpu'", IGNORED, 0},
    {"device_id", "int, optional, default='-1'", IGNORED, 0},
    {"dtype", TYPES, FIELD(dtype, DTYPE)},
    {"shuffle_order", "{'1.9.1', '2.0'},optional, default='1.9.1'", FIELD(order, ORDER)},
};

// ---- what programs are told -------------------------------------------------------------------
#define SHARED                                                                                 \
    {"prefetch_buffer", "long (non-negative), optional, default=4",                            \
     "Has no effect: batches are filled by the engine."},                                      \
        {"ctx", "{'cpu', 'cpu_pinned', 'gpu'},optional, default='gpu'",                        \
         "Has no effect: batches are on cpu(0)."},                                             \
        {"device_id", "int, optional, default='-1'", "Has no effect: batches are on cpu(0)."}, \
    {                                                                                          \
        "dtype", TYPES, "Type of the data; None: float32."                                     \
    }

static const mxn_iter_parameter mnist_parameters[] = {
    {"image", "string, optional, default='./train-images-idx3-ubyte'", "File of the images."},
    {"label", "string, optional, default='./train-labels-idx1-ubyte'", "File of the labels."},
    {"batch_size", "int, optional, default='128'", "Images of a batch."},
    {"shuffle", "boolean, optional, default=1", "Whether to shuffle them once, by `seed`."},
    {"flat", "boolean, optional, default=0", "Whether an image is one row of numbers."},
    {"seed", "int, optional, default='0'", "Of the shuffle."},
    {"silent", "boolean, optional, default=0", "Whether to say nothing when it is made."},
    {"num_parts", "int, optional, default='1'", "Into how many parts the images are cut."},
    {"part_index", "int, optional, default='0'", "Which of the parts it reads."},
    SHARED,
    {"shuffle_order", "{'1.9.1', '2.0'},optional, default='1.9.1'",
     "Which line's order a seed gives."},
};

static const mxn_iter_parameter csv_parameters[] = {
    {"data_csv", "string, required", "File of the data, numbers separated by commas."},
    {"data_shape", "Shape(tuple), required", "Shape of one row."},
    {"label_csv", "string, optional, default='NULL'", "File of the labels; NULL: they are zeros."},
    {"label_shape", "Shape(tuple), optional, default=[1]", "Shape of one label."},
    {"batch_size", "int (non-negative), required", "Rows of a batch."},
    {"round_batch", "boolean, optional, default=1",
     "Whether the last batch is filled up with the first rows."},
    SHARED,
};

const mxn_iter_kind mxn__iter_mnist = {
    "MNISTIter", "Reads images and labels of MNIST's format, whose pixels become 0 to 255/256.",
    sizeof mnist_parameters / sizeof *mnist_parameters, mnist_parameters, NULL};

const mxn_iter_kind mxn__iter_csv = {"CSVIter", "Reads rows of numbers that commas separate.",
                                     sizeof csv_parameters / sizeof *csv_parameters, csv_parameters,
                                     NULL};

// Front ends import MXNet's kinds by name, so each is in the list; `needs` says why none is made.
#define NOT_READ(name, needs)                                  \
    {                                                          \
        name, "Not there: it reads " needs ".", 0, NULL, needs \
    }

static const mxn_iter_kind not_read[] = {
    NOT_READ("ImageDetRecordIter", "record files of images"),
    NOT_READ("ImageRecordInt8Iter", "record files of images"),
    NOT_READ("ImageRecordIter", "record files of images"),
    NOT_READ("ImageRecordIter_v1", "record files of images"),
    NOT_READ("ImageRecordUInt8Iter", "record files of images"),
    NOT_READ("ImageRecordUInt8Iter_v1", "record files of images"),
    NOT_READ("LibSVMIter", "files of sparse rows"),
};

static const mxn_iter_kind *const all_kinds[] = {
    &mxn__iter_csv, &mxn__iter_mnist, &not_read[0], &not_read[1], &not_read[2],
    &not_read[3],   &not_read[4],     &not_read[5], &not_read[6],
};

enum { KINDS = sizeof all_kinds / sizeof *all_kinds };

uint32_t mxn_iter_kinds(const mxn_iter_kind *const **kinds)
{
    *kinds = all_kinds;
    return KINDS;
}

int mxn_iter_kind_check(const void *kind)
{
    for (size_t i = 0; i < KINDS; i++) {
        if (kind == all_kinds[i]) {
            return MXP_OK;
        }
    }
    return mxp__fail(MXP_EHANDLE, "%p is no creator of a data iterator", kind);
}

// ---- values -----------------------------------------------------------------------------------
static bool parse_number(const char *text, int64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return errno == 0 && end != text && *end == '\0';
}

static bool parse_truth(const char *text, bool *value)
{
    *value = strcmp(text, "1") == 0 || strcasecmp(text, "true") == 0;
    return *value || strcmp(text, "0") == 0 || strcasecmp(text, "false") == 0;
}

// "(3,)", "[2, 3]" or "3": sizes of at least 1.
static bool parse_shape(const char *text, mxn_shape *shape)
{
    int64_t sizes[MXN_DIMS_MAX];
    int count = 0;
    const char *at = text + strspn(text, " (["), *stop = text + strcspn(text, ")]");
    while (at < stop && *at != '\0') {
        char *end;
        errno = 0;
        const long long size = strtoll(at, &end, 10);
        if (end == at || errno != 0 || size < 1 || count == MXN_DIMS_MAX) {
            return false;
        }
        sizes[count++] = size;
        at = end + strspn(end, " ,L");
    }
    return count > 0 && mxn_shape_set(shape, count, sizes, "a row") == MXP_OK;
}

static bool parse_dtype(const char *text, int32_t *dtype)
{
    for (int32_t i = 0; i < MXN_DTYPE_COUNT; i++) {
        if (strcmp(text, mxn_dtype_name(i)) == 0) {
            *dtype = i;
            return true;
        }
    }
    return strcmp(text, "None") == 0;
}

static bool parse(const field *f, const char *text, mxn_iter_settings *settings)
{
    void *at = (char *)settings + f->offset;
    switch (f->kind) {
    case TEXT:
        *(const char **)at = text;
        return true;
    case NUMBER:
        return parse_number(text, at);
    case TRUTH:
        return parse_truth(text, at);
    case SHAPE:
        return parse_shape(text, at);
    case DTYPE:
        return parse_dtype(text, at);
    case ORDER:
        *(int *)at = strcmp(text, "2.0") == 0 ? MXN_ORDER_2_0 : MXN_ORDER_1_9;
        return strcmp(text, "2.0") == 0 || strcmp(text, "1.9.1") == 0;
    default:
        return true;
    }
}

static const char *const kind_texts[] = {"string",       "int",    "boolean",
                                         "Shape(tuple)", "a type", "a line"};

// Keys of the other kind are unknown to this one: nothing checks their values.
static bool has_parameter(const mxn_iter_kind *kind, const char *key)
{
    for (uint32_t i = 0; i < kind->count; i++) {
        if (strcmp(kind->parameters[i].name, key) == 0) {
            return true;
        }
    }
    return false;
}

static int parse_one(const char *key, const char *value, mxn_iter_settings *settings)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (strcmp(fields[i].name, key) == 0 && !parse(&fields[i], value, settings)) {
            return mxp__fail(MXP_EINVAL, "Invalid Parameter format for %s expect %s but value='%s'",
                             key, kind_texts[fields[i].kind], value);
        }
    }
    return MXP_OK;
}

static int check_least(const char *name, int64_t value, int64_t least)
{
    return value >= least && value <= INT32_MAX
               ? MXP_OK
               : mxp__fail(MXP_EINVAL,
                           "value %lld for Parameter %s should be greater equal to %lld",
                           (long long)value, name, (long long)least);
}

static int check_mnist(const mxn_iter_settings *s)
{
    int error = check_least("num_parts", s->num_parts, 1);
    if (error == MXP_OK && (s->part_index < 0 || s->part_index >= s->num_parts)) {
        error = mxp__fail(MXP_EINVAL, "part_index is %lld, and there are parts 0 to %lld",
                          (long long)s->part_index, (long long)s->num_parts - 1);
    }
    return error;
}

static int check_csv(const mxn_iter_settings *s)
{
    const char *missing = s->data_csv == NULL          ? "data_csv of string"
                          : s->data_shape.ndim < 0     ? "data_shape of Shape(tuple)"
                          : s->batch_size == INT64_MIN ? "batch_size of int (non-negative)"
                                                       : NULL;
    return missing == NULL
               ? MXP_OK
               : mxp__fail(MXP_EINVAL, "Required parameter %s is not presented", missing);
}

int mxn__iter_settings_parse(const mxn_iter_kind *kind, uint32_t count, const char *const *keys,
                             const char *const *values, mxn_iter_settings *s)
{
    if (kind->needs != NULL) {
        return mxp__fail(MXP_EINVAL, "%s is not there: %s are not read", kind->name, kind->needs);
    }
    const bool is_csv = kind == &mxn__iter_csv;
    *s = (mxn_iter_settings){.image = "./train-images-idx3-ubyte",
                             .label = "./train-labels-idx1-ubyte",
                             .label_csv = "NULL",
                             .batch_size = is_csv ? INT64_MIN : 128,
                             .num_parts = 1,
                             .prefetch_buffer = 4,
                             .shuffle = true,
                             .round_batch = true,
                             .dtype = MXN_FLOAT32,
                             .data_shape.ndim = -1,
                             .label_shape.ndim = -1};
    int error = MXP_OK;
    for (uint32_t i = 0; i < count && error == MXP_OK; i++) {
        error = has_parameter(kind, keys[i]) ? parse_one(keys[i], values[i], s) : MXP_OK;
    }
    if (error == MXP_OK) {
        error = is_csv ? check_csv(s) : check_mnist(s);
    }
    if (error == MXP_OK) {
        error = check_least("batch_size", s->batch_size, 1);
    }
    if (error == MXP_OK && s->prefetch_buffer < 1) {
        error = mxp__fail(MXP_EINVAL, "Prefetch_buffer must be positive number");
    }
    return error;
}
