// SPDX-License-Identifier: Apache-2.0
// A template of sums along rows, in place, from one end or the other.
static void NAME(sum_rows)(void *data, const mxn_axis_view *s, bool backward)
{
    for (int64_t row = 0; row < s->outer * s->inner; row++) {
        T *at = (T *)data + mxn__axis_view_at(s, row);
        for (int64_t i = 1; i < s->count; i++) {
            int64_t here = (backward ? s->count - 1 - i : i) * s->inner;
            int64_t before = backward ? here + s->inner : here - s->inner;
            at[here] = (T)(at[here] + at[before]);
        }
    }
}
