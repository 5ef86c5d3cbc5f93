// SPDX-License-Identifier: Apache-2.0
// Includes the template TEMPLATE, a name in quotes, for whole numbers of every width. They are
// added and multiplied as WRAPS, where what does not fit wraps.
#define T uint8_t
#define NAME(x) x##_uint8
#define WRAPS uint32_t
#include TEMPLATE
#undef T
#undef NAME
#define T int8_t
#define NAME(x) x##_int8
#include TEMPLATE
#undef T
#undef NAME
#define T int16_t
#define NAME(x) x##_int16
#include TEMPLATE
#undef T
#undef NAME
#define T uint16_t
#define NAME(x) x##_uint16
#include TEMPLATE
#undef T
#undef NAME
#define T int32_t
#define NAME(x) x##_int32
#include TEMPLATE
#undef T
#undef NAME
#define T uint32_t
#define NAME(x) x##_uint32
#include TEMPLATE
#undef T
#undef NAME
#undef WRAPS
#define WRAPS uint64_t
#define T int64_t
#define NAME(x) x##_int64
#include TEMPLATE
#undef T
#undef NAME
#define T uint64_t
#define NAME(x) x##_uint64
#include TEMPLATE
#undef T
#undef NAME
#undef WRAPS
#undef TEMPLATE
