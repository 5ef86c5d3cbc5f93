// SPDX-License-Identifier: Apache-2.0
// Includes the template TEMPLATE, a name in quotes, for float and for double.
#define T float
#define NAME(x) x##_float
#include TEMPLATE
#undef T
#undef NAME
#define T double
#define NAME(x) x##_double
#include TEMPLATE
#undef T
#undef NAME
#undef TEMPLATE
