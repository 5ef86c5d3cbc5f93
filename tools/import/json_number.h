// SPDX-License-Identifier: Apache-2.0
// Numbers of a trace. Times are read digit by digit: a double cannot hold microseconds of an epoch
// to the nanosecond.
#ifndef MXP_TOOLS_JSON_NUMBER_H
#define MXP_TOOLS_JSON_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Times beyond are refused: 126 years, which is 2096 for those since 1970.
#define MXP__JSON_NS_MAX INT64_C(4000000000000000000)

// A time or duration: ns + ps / 1000, rounded down; ps is from 0 to 999.
typedef struct mxp_json_time {
    int64_t ns;
    uint32_t ps;
} mxp_json_time;

// Microseconds, as a decimal number with or without an exponent. False: it is none, or too large.
bool mxp__json_time(const char *text, size_t length, mxp_json_time *time);
static inline int64_t mxp__json_round(mxp_json_time time)
{
    return time.ns + (time.ps >= 500);
}
// The rounded sum.
static inline int64_t mxp__json_time_end(mxp_json_time begin, mxp_json_time duration)
{
    return begin.ns + duration.ns + (int64_t)((begin.ps + duration.ps + 500) / 1000);
}

// A number as the type that holds it: MXP_ARG_U64, MXP_ARG_I64 or MXP_ARG_F64; 0: it is none, or is
// infinite.
uint32_t mxp__json_value(const char *text, size_t length, uint64_t *bits);
// A whole number from 0 on. Decimal, or hexadecimal behind 0x.
bool mxp__json_whole(const char *text, size_t length, uint64_t *value);

#endif
