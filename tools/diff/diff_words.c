// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "diff/diff.h"

const char *mxp__verdict_name(mxp_verdict verdict)
{
    static const char *const names[] = {
        [MXP_VERDICT_NONE] = "none",
        [MXP_VERDICT_SAME] = "same",
        [MXP_VERDICT_FASTER] = "faster",
        [MXP_VERDICT_SLOWER] = "slower",
        [MXP_VERDICT_CANNOT_TELL] = "cannot tell",
        [MXP_VERDICT_DISTURBED] = "disturbed",
    };
    return names[verdict];
}

void mxp__put_signed_percent(double share, mxp_strbuf *out)
{
    if (!isfinite(share)) {
        mxp__strbuf_puts(out, "unbounded");
        return;
    }
    const double shown = fabs(share) < 0.0005 ? 0 : share;  // and no "-0.0 %"
    mxp__strbuf_printf(out, fabs(shown) < 0.995 ? "%+.1f %%" : "%+.0f %%", 100 * shown);
}

void mxp__put_p(double p, mxp_strbuf *out)
{
    if (p < 0.0001) {
        mxp__strbuf_puts(out, "p < 0.0001");
    } else {
        mxp__strbuf_printf(out, "p = %.*f", p < 0.01 ? 4 : p < 0.1 ? 3 : 2, p);
    }
}

static void put_test(const mxp_judged *judged, mxp_strbuf *out)
{
    const mxp_permutation *test = &judged->test;
    mxp__strbuf_puts(out, " (95 %: ");
    mxp__put_signed_percent(expm1(test->low), out);
    mxp__strbuf_puts(out, " to ");
    mxp__put_signed_percent(expm1(test->high), out);
    mxp__strbuf_puts(out, "), ");
    mxp__put_p(test->p, out);
}

void mxp__put_judgement(const mxp_judged *judged, mxp_strbuf *out)
{
    const double ratio = judged->means_ns[MXP__AFTER] / judged->means_ns[MXP__BEFORE];
    mxp__put_signed_percent(ratio - 1, out);
    if (judged->test.splits > 0) {
        put_test(judged, out);
    }
}

static void put_too_few(const mxp_judged *wall, mxp_strbuf *out)
{
    if (wall->counts[MXP__BEFORE] == 1 && wall->counts[MXP__AFTER] == 1) {
        mxp__strbuf_puts(out, "differences of one run cannot be told from noise");
        return;
    }
    mxp__strbuf_printf(out, "a test takes %d runs a side, and %zu before and %zu after count",
                       MXP__RUNS_FOR_TEST, wall->counts[MXP__BEFORE], wall->counts[MXP__AFTER]);
}

void mxp__put_why_no_verdict(const mxp_diff *diff, mxp_strbuf *out)
{
    const mxp_comparison *comparison = &diff->comparison;
    const size_t runs = comparison->sides[MXP__BEFORE].count + comparison->sides[MXP__AFTER].count;
    switch (comparison->wall.verdict) {
    case MXP_VERDICT_NONE:
        put_too_few(&comparison->wall, out);
        break;
    case MXP_VERDICT_DISTURBED:
        mxp__strbuf_printf(out,
                           "%zu of %zu runs were disturbed (run delay above %.0f %% of the "
                           "time)",
                           comparison->disturbed, runs, 100 * comparison->delay_bound);
        break;
    default:
        break;
    }
}

// Where most runs waited for cores, the rule above finds none of them.
void mxp__put_busy(const mxp_diff *diff, mxp_strbuf *out)
{
    const mxp_comparison *comparison = &diff->comparison;
    size_t busy = 0, count = 0;
    for (int side = 0; side < MXP__SIDES; side++) {
        for (size_t i = 0; i < comparison->sides[side].count; i++) {
            const double delay = mxp__compared_run_delay(&comparison->sides[side].runs[i]);
            busy += mxp__run_counts(comparison, side, i) && delay > MXP_BUSY_DELAY_SHARE;
            count += mxp__run_counts(comparison, side, i);
        }
    }
    if (2 * busy > count) {
        mxp__strbuf_printf(out,
                           "The machine was busy: in %zu of %zu runs run delay was above %.0f %% "
                           "of the time.\n",
                           busy, count, 100 * MXP_BUSY_DELAY_SHARE);
    }
}

void mxp__put_row_name(const mxp_row_key *key, mxp_strbuf *out)
{
    if (strcmp(key->kind, "run") != 0 && key->kind[0] != '\0') {
        mxp__strbuf_puts(out, key->kind);
        mxp__strbuf_puts(out, key->name[0] != '\0' ? " " : "");
    }
    // Scopes of blocks end in a colon, behind which MXNet writes the operator.
    size_t length = strlen(key->scope);
    length -= length > 0 && key->scope[length - 1] == ':';
    mxp__strbuf_append(out, key->scope, length);
    mxp__strbuf_puts(out, length > 0 && key->name[0] != '\0' ? "/" : "");
    mxp__strbuf_puts(out, key->name);
}
