// SPDX-License-Identifier: Apache-2.0
// A template of elements that are added to what they were repeated from, as SUMs.
static void NAME(add_rows)(const void *from, void *to, mxn_iterator *it)
{
    const T *g = from;
    SUM *sums = to;
    for (bool more = it->total > 0; more; more = mxn__iterator_next(it)) {
        for (int64_t i = 0; i < it->count; i++) {
            sums[it->at[0] + i * it->step[0]] += (SUM)*g++;
        }
    }
}
