// SPDX-License-Identifier: Apache-2.0
// A template of rows that are added to others.
static void NAME(add_row)(const void *from, void *to, int64_t count)
{
    const T *x = from;
    T *sums = to;
    for (int64_t i = 0; i < count; i++) {
        sums[i] = (T)(sums[i] + x[i]);
    }
}
