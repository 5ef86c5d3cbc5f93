// SPDX-License-Identifier: Apache-2.0
// A template of the gradient of a side of where: what was taken from it, or with `row` its sums,
// which are SUMs, `step` apart.
static void NAME(backward_row)(const void *gradients, const bool *truth, bool wanted, void *to,
                               void *row, int64_t step, int64_t count)
{
    const T *g = gradients;
    SUM *sums = row;
    for (int64_t i = 0; sums == NULL && i < count; i++) {
        ((T *)to)[i] = truth[i] == wanted ? g[i] : 0;
    }
    for (int64_t i = 0; sums != NULL && i < count; i++) {
        sums[i * step] += truth[i] == wanted ? (SUM)g[i] : 0;
    }
}
