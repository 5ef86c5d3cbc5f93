// SPDX-License-Identifier: Apache-2.0
// A template of products with a mask that is repeated, for T float and double.
static void NAME(times_mask)(const void *from, const void *mask, void *to, mxn_walk *walk)
{
    const T *x = from;
    T *y = to;
    for (bool more = walk->total > 0; more; more = mxn__walk_next(walk)) {
        const T *m = (const T *)mask + walk->at[0];
        for (int64_t i = 0; i < walk->count; i++) {
            *y++ = *x++ * m[i * walk->step[0]];
        }
    }
}
