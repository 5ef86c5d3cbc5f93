// SPDX-License-Identifier: Apache-2.0
// A template of rows that are added to where their pieces came from. Whole numbers are added as
// SUMs, which may wrap.
static void NAME(add_rows)(rows *r, const void *large, void *small)
{
    const T *g = large;
    for (int64_t row = 0; row < r->total; row++) {
        int64_t at = next_row(r);
        mxn_piece p = {0};
        int32_t index = 0;
        for (int64_t i = 0; i < r->count; i += p.count, g += p.count) {
            p = next_piece(r, index++, i, &p);
            if (at == MXN_NOWHERE || p.place == MXN_NOWHERE) {
                continue;
            }
            T *to = (T *)small + at + p.place;
            for (int64_t k = 0; k < p.count; k++) {
                to[k * p.step] = (T)((SUM)to[k * p.step] + (SUM)g[k]);
            }
        }
    }
}
