// SPDX-License-Identifier: Apache-2.0
// A template of where the extreme element of a row is, the first of several; a NaN counts as
// extreme. IS_NAN(x): whole numbers are none.
static int64_t NAME(find)(const void *data, int64_t at, int64_t count, int64_t step, bool smallest)
{
    const T *from = (const T *)data + at;
    int64_t found = 0;
    T best = from[0];
    for (int64_t i = 0; i < count; i++) {
        const T x = from[i * step];
        if (IS_NAN(x)) {
            return i;
        }
        if (smallest ? x < best : x > best) {
            best = x;
            found = i;
        }
    }
    return found;
}
