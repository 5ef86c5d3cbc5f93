// SPDX-License-Identifier: Apache-2.0
// A template of products with a mask that is repeated, for T float and double.
static void NAME(times_mask)(const void *from, const void *mask, void *to, mxn_iterator *it)
{
    const T *x = from;
    T *y = to;
    for (bool more = it->total > 0; more; more = mxn__iterator_next(it)) {
        const T *m = (const T *)mask + it->at[0];
        for (int64_t i = 0; i < it->count; i++) {
            *y++ = *x++ * m[i * it->step[0]];
        }
    }
}
