// SPDX-License-Identifier: Apache-2.0
// A template of elements that are added to what they were repeated from, as SUMs.
static void NAME(add_rows)(const void *from, void *to, mxn_walk *walk)
{
    const T *g = from;
    SUM *sums = to;
    for (bool more = walk->total > 0; more; more = mxn__walk_next(walk)) {
        for (int64_t i = 0; i < walk->count; i++) {
            sums[walk->at[0] + i * walk->step[0]] += (SUM)*g++;
        }
    }
}
