// SPDX-License-Identifier: Apache-2.0
// Arguments of spans: what a piece of work was about. Keys are names (mxp_string), made once.
#ifndef MXPROF_ARGS_H
#define MXPROF_ARGS_H

#include <stddef.h>
#include <stdint.h>

#include <mxprof/format.h>
#include <mxprof/gate.h>

// One argument of a long span; made by the functions below.
typedef struct mxp_arg {
    mxp_name key;
    uint32_t type;  // MXP_ARG_*; of a text also its length in bytes, above the low 8 bits
    union {
        uint64_t u64;
        int64_t i64;
        double f64;
        const char *text;  // read during the call that takes the argument, and not kept
    } value;
} mxp_arg;

static inline mxp_arg mxp_u64(mxp_name key, uint64_t value)
{
    mxp_arg arg = {key, MXP_ARG_U64, {value}};
    return arg;
}

static inline mxp_arg mxp_i64(mxp_name key, int64_t value)
{
    mxp_arg arg = {key, MXP_ARG_I64, {(uint64_t)value}};
    return arg;
}

static inline mxp_arg mxp_f64(mxp_name key, double value)
{
    mxp_arg arg = {key, MXP_ARG_F64, {0}};
    arg.value.f64 = value;
    return arg;
}

// The text of a name: for what has few values.
static inline mxp_arg mxp_name_arg(mxp_name key, mxp_name name)
{
    mxp_arg arg = {key, MXP_ARG_NAME, {name}};
    return arg;
}

// Any text: its bytes are in the record, so values that never repeat fill no table. Of one text
// MXP_ARG_TEXT_MAX_BYTES are kept, of a record's texts what fits into it; outputs tell what is cut.
static inline mxp_arg mxp_text(mxp_name key, const char *text, size_t length_bytes)
{
    const uint32_t most = 0xffffff;
    uint32_t length = length_bytes < most ? (uint32_t)length_bytes : most;
    mxp_arg arg = {key, MXP_ARG_TEXT | length << 8, {0}};
    arg.value.text = text;
    return arg;
}

#ifdef __cplusplus
extern "C" {
#endif

// Spans with arguments. Those given at the begin, or while the span is open, are in the recording
// file at once: what was going on when a process died says what it was about. mxp_end_args takes a
// token of any begin and records them and its own, the first MXP_SPAN_ARGS_MAX of all; a plain end
// records none, nor does a stop. What finds no place among those of a thread's open spans (1.5 KiB,
// 31 levels) is left out and counted, and so is what is given on another thread than the begin.
uint64_t mxp_begin_args(uint32_t classes, mxp_name name, const mxp_arg *args, uint32_t count);
void mxp_open_args(uint64_t token, const mxp_arg *args, uint32_t count);
void mxp_end_args(mxp_name name, uint64_t token, const mxp_arg *args, uint32_t count);

// The same at a time in the past, as mxp_end_at has it; 0: now.
void mxp_end_args_at(mxp_name name, uint64_t token, uint64_t end_ticks, const mxp_arg *args,
                     uint32_t count);

#ifdef __cplusplus
}
#endif

#endif
