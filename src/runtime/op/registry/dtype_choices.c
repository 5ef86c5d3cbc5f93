// SPDX-License-Identifier: Apache-2.0
// The lists are sorted, as front ends are shown them.
#include "runtime/op/registry/dtype_choices.h"

const mxn_word mxn__words_all_types[] = {{"bfloat16", MXN_BFLOAT16}, {"bool", MXN_BOOL},
                                         {"float16", MXN_FLOAT16},   {"float32", MXN_FLOAT32},
                                         {"float64", MXN_FLOAT64},   {"int16", MXN_INT16},
                                         {"int32", MXN_INT32},       {"int64", MXN_INT64},
                                         {"int8", MXN_INT8},         {"uint16", MXN_UINT16},
                                         {"uint32", MXN_UINT32},     {"uint64", MXN_UINT64},
                                         {"uint8", MXN_UINT8},       {0}};

const mxn_word mxn__words_none_or_types[] = {
    {"None", MXN_DTYPE_NONE}, {"bfloat16", MXN_BFLOAT16}, {"bool", MXN_BOOL},
    {"float16", MXN_FLOAT16}, {"float32", MXN_FLOAT32},   {"float64", MXN_FLOAT64},
    {"int16", MXN_INT16},     {"int32", MXN_INT32},       {"int64", MXN_INT64},
    {"int8", MXN_INT8},       {"uint16", MXN_UINT16},     {"uint32", MXN_UINT32},
    {"uint64", MXN_UINT64},   {"uint8", MXN_UINT8},       {0}};

const mxn_word mxn__words_none_or_older[] = {{"None", MXN_DTYPE_NONE}, {"bfloat16", MXN_BFLOAT16},
                                             {"float16", MXN_FLOAT16}, {"float32", MXN_FLOAT32},
                                             {"float64", MXN_FLOAT64}, {"int32", MXN_INT32},
                                             {"int64", MXN_INT64},     {"int8", MXN_INT8},
                                             {"uint8", MXN_UINT8},     {0}};

const mxn_word mxn__words_none_or_reals[] = {{"None", MXN_DTYPE_NONE},
                                             {"float16", MXN_FLOAT16},
                                             {"float32", MXN_FLOAT32},
                                             {"float64", MXN_FLOAT64},
                                             {0}};

const mxn_word mxn__words_maybe_reals[] = {{MXN_NONE_WORD, MXN_DTYPE_NONE},
                                           {"float16", MXN_FLOAT16},
                                           {"float32", MXN_FLOAT32},
                                           {"float64", MXN_FLOAT64},
                                           {0}};

const mxn_word mxn__words_maybe_reduced[] = {{MXN_NONE_WORD, MXN_DTYPE_NONE},
                                             {"bool", MXN_BOOL},
                                             {"float16", MXN_FLOAT16},
                                             {"float32", MXN_FLOAT32},
                                             {"float64", MXN_FLOAT64},
                                             {"int32", MXN_INT32},
                                             {"int64", MXN_INT64},
                                             {"int8", MXN_INT8},
                                             {0}};

const mxn_word mxn__words_maybe_numbers[] = {{MXN_NONE_WORD, MXN_DTYPE_NONE},
                                             {"float16", MXN_FLOAT16},
                                             {"float32", MXN_FLOAT32},
                                             {"float64", MXN_FLOAT64},
                                             {"int32", MXN_INT32},
                                             {"int64", MXN_INT64},
                                             {"int8", MXN_INT8},
                                             {0}};

const mxn_word mxn__words_maybe_types[] = {{MXN_NONE_WORD, MXN_DTYPE_NONE},
                                           {"bfloat16", MXN_BFLOAT16},
                                           {"bool", MXN_BOOL},
                                           {"float16", MXN_FLOAT16},
                                           {"float32", MXN_FLOAT32},
                                           {"float64", MXN_FLOAT64},
                                           {"int16", MXN_INT16},
                                           {"int32", MXN_INT32},
                                           {"int64", MXN_INT64},
                                           {"int8", MXN_INT8},
                                           {"uint16", MXN_UINT16},
                                           {"uint32", MXN_UINT32},
                                           {"uint64", MXN_UINT64},
                                           {"uint8", MXN_UINT8},
                                           {0}};

const mxn_word mxn__words_older[] = {
    {"bfloat16", MXN_BFLOAT16}, {"float16", MXN_FLOAT16}, {"float32", MXN_FLOAT32},
    {"float64", MXN_FLOAT64},   {"int32", MXN_INT32},     {"int64", MXN_INT64},
    {"int8", MXN_INT8},         {"uint8", MXN_UINT8},     {0}};
