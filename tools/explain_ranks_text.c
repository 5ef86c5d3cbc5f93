// SPDX-License-Identifier: Apache-2.0
// What is said across the workers of a job: who is waited for, why, and what it costs.
#include <math.h>
#include <string.h>

#include "explain_bound.h"
#include "text/figure.h"
#include "text/label.h"

static double step_share(const mxp_explain_ranks *ranks, double ns)
{
    return ranks->found.step_ns > 0 ? ns / ranks->found.step_ns : 0;
}

// "Worker 2 (n7)": names are "worker 2 (n7)".
static void put_name(const char *name, mxp_strbuf *out)
{
    const char first = name[0] >= 'a' && name[0] <= 'z' ? (char)(name[0] - 32) : name[0];
    mxp__strbuf_putc(out, first);
    mxp__strbuf_puts(out, name + (name[0] != '\0'));
}

static void put_whole_percent(double share, mxp_strbuf *out)
{
    mxp__strbuf_printf(out, "%.0f %%", share * 100);
}

// ---- the verdict -------------------------------------------------------------------------------
// What its own critical paths tell. False: nothing.
static bool put_longer(const mxp_explain_ranks *ranks, const mxp_screen *screen, mxp_strbuf *out)
{
    if (ranks->longer[0] == '\0' || ranks->longer_ns < ranks->found.cost_ns / 2) {
        return false;
    }
    // "Its net/conv1 takes", "Its input, Loader, takes", "The program between its spans takes"
    const bool is_program = strncmp(ranks->longer, "the ", strlen("the ")) == 0;
    mxp__strbuf_puts(out, is_program ? "T" : ranks->is_input ? "Its input, " : "Its ");
    mxp__put_label(screen, ranks->longer + is_program, strlen(ranks->longer + is_program), out);
    mxp__strbuf_puts(out, ranks->is_input ? ", takes " : " takes ");
    mxp__put_duration(screen, ranks->longer_ns, out);
    mxp__strbuf_puts(out, " a step longer than the others'.\n");
    return true;
}

static void put_why(const mxp_explain_ranks *ranks, const mxp_screen *screen, mxp_strbuf *out)
{
    const mxp_stragglers *found = &ranks->found;
    if (found->kind == MXP__STRAGGLER_LATE_START) {
        mxp__strbuf_puts(out,
                         "Its steps begin late: after its last exchange the step before goes on ");
        mxp__put_duration(screen, found->late_start_ns, out);
        mxp__strbuf_puts(out, "\nlonger than the others'.\n");
    }
    const bool is_delayed = found->run_delay_ns >= found->cost_ns / 2;
    if (is_delayed) {
        mxp__strbuf_puts(out, "Its threads wait ");
        mxp__put_duration(screen, found->run_delay_ns, out);
        mxp__strbuf_puts(out, " a step longer for a core than the others'.\n");
    }
    if (!put_longer(ranks, screen, out) && !is_delayed) {
        mxp__strbuf_puts(out, "Nothing in its own steps takes as much longer than in the others'");
        mxp__strbuf_puts(out, isnan(found->run_delay_ns) ? ";\nhow long threads waited for a core "
                                                           "is not recorded.\n"
                                                         : ".\n");
    }
}

// "Worker 2 (n7) was last in 97 % of 400 steps.", or of all workers of its host.
static void put_who(const mxp_explain_ranks *ranks, mxp_strbuf *out)
{
    const mxp_stragglers *found = &ranks->found;
    if (found->is_whole_host) {
        mxp__strbuf_printf(out, "All workers of %s come late; one of them", ranks->host);
    } else {
        put_name(ranks->names[found->named], out);
    }
    mxp__strbuf_puts(out, " was last in ");
    put_whole_percent((double)found->last_steps / (double)found->steps, out);
    mxp__strbuf_printf(out, " of %zu steps.\n", found->steps);
}

static void put_named(const mxp_explain_ranks *ranks, const mxp_screen *screen, mxp_strbuf *out)
{
    const mxp_stragglers *found = &ranks->found;
    put_who(ranks, out);
    mxp__strbuf_puts(out, "The others waited ");
    mxp__put_duration(screen, found->cost_ns, out);
    mxp__strbuf_puts(out, " of a ");
    mxp__put_duration(screen, found->step_ns, out);
    mxp__strbuf_printf(out, " step for %s (", found->is_whole_host ? "them" : "it");
    put_whole_percent(step_share(ranks, found->cost_ns), out);
    mxp__strbuf_puts(out, ").\n");
    if (found->is_whole_host) {
        put_name(ranks->names[found->named], out);
        mxp__strbuf_puts(out, " costs most.\n");
    }
    put_why(ranks, screen, out);
    mxp__strbuf_puts(out, found->is_whole_host ? "Equal to the slowest of the other hosts: "
                                               : "Equal to the second slowest: ");
    mxp__put_duration(screen, found->step_ns - found->gain_ns, out);
    mxp__strbuf_puts(out, " a step (");
    mxp__put_duration(screen, found->step_ns - found->gain_high_ns, out);
    mxp__strbuf_puts(out, " to ");
    mxp__put_duration(screen, found->step_ns - found->gain_low_ns, out);
    mxp__strbuf_puts(out, ").\n");
}

static void put_costliest(const mxp_explain_ranks *ranks, const mxp_screen *screen, mxp_strbuf *out)
{
    const mxp_stragglers *found = &ranks->found;
    put_name(ranks->names[found->costliest], out);
    mxp__strbuf_puts(out, " costs most, ");
    mxp__put_duration(screen, found->cost_ns, out);
    mxp__strbuf_printf(out, " a step, and was last in %zu of %zu steps.\n",
                       found->rows[found->costliest].last_steps, found->steps);
}

// Whether one of equals may be the last in all of them: then nothing is chance, and nothing is not.
static bool are_too_few(const mxp_stragglers *found)
{
    return found->steps <= found->chance_most;
}

static void put_one_step(const mxp_explain_ranks *ranks, const mxp_screen *screen, mxp_strbuf *out)
{
    const mxp_stragglers *found = &ranks->found;
    mxp__strbuf_puts(out, "The others waited ");
    mxp__put_duration(screen, found->cost_ns, out);
    mxp__strbuf_puts(out, " of a ");
    mxp__put_duration(screen, found->step_ns, out);
    mxp__strbuf_printf(out, " step for %s (", ranks->names[found->costliest]);
    put_whole_percent(step_share(ranks, found->cost_ns), out);
    mxp__strbuf_puts(out, ").\nOne step does not tell whether that is more than chance.\n");
}

static void put_few(const mxp_explain_ranks *ranks, const mxp_screen *screen, mxp_strbuf *out)
{
    const mxp_stragglers *found = &ranks->found;
    if (found->costliest == MXP__STRAGGLERS_NONE) {
        mxp__strbuf_puts(out, found->steps == 1 ? "No worker waited for another.\n"
                                                : "In most steps no worker waited for another.\n");
    } else if (found->steps == 1) {
        put_one_step(ranks, screen, out);
    } else {
        put_costliest(ranks, screen, out);
        mxp__strbuf_puts(out, "So few do not tell whether that is more than chance.\n");
    }
}

static void put_nobody(const mxp_explain_ranks *ranks, const mxp_screen *screen, mxp_strbuf *out)
{
    const mxp_stragglers *found = &ranks->found;
    mxp__strbuf_puts(out, "No worker keeps the others waiting more than chance does.\n");
    if (found->costliest != MXP__STRAGGLERS_NONE) {
        put_costliest(ranks, screen, out);
        mxp__strbuf_printf(out,
                           "Chance alone makes one of equal workers last in up to %zu steps.\n",
                           found->chance_most);
    }
    mxp__strbuf_puts(out, "Chance alone makes the slowest ");
    mxp__put_duration(screen, found->noise_ns, out);
    mxp__strbuf_puts(out, " a step slower than the mean.\n");
}

// Whether the others wait for one that is not among them more than for any that is.
static bool waits_for_absent(const mxp_explain_ranks *ranks)
{
    static const double least = 0.02;
    return ranks->absent.waited_ns >= least * ranks->found.step_ns &&
           !(ranks->found.cost_ns > ranks->absent.waited_ns);
}

static void put_absent(const mxp_explain_ranks *ranks, const mxp_screen *screen, mxp_strbuf *out)
{
    mxp__strbuf_printf(out, "The workers wait for worker %u: ", ranks->absent.rank);
    mxp__put_duration(screen, ranks->absent.waited_ns, out);
    mxp__strbuf_puts(out, " of a ");
    mxp__put_duration(screen, ranks->found.step_ns, out);
    mxp__strbuf_puts(out, " step (");
    mxp__put_percent(ranks->absent.waited_ns / ranks->found.step_ns, out);
    mxp__strbuf_puts(out, ").\nWhy is not known: its operations are not recorded "
                          "(distributed_ranks), or its file is missing.\n");
}

void mxp__explain_ranks_say(const mxp_explain_ranks *ranks, const mxp_screen *screen,
                            mxp_strbuf *out)
{
    if (waits_for_absent(ranks)) {
        put_absent(ranks, screen, out);
    } else if (ranks->found.named != MXP__STRAGGLERS_NONE) {
        put_named(ranks, screen, out);
    } else if (are_too_few(&ranks->found)) {
        put_few(ranks, screen, out);
    } else {
        put_nobody(ranks, screen, out);
    }
    mxp__explain_bound_put(ranks, screen, out);
}

void mxp__explain_ranks_put(const mxp_explain_ranks *ranks, const mxp_screen *screen,
                            mxp_strbuf *out)
{
    mxp__explain_ranks_say(ranks, screen, out);
    mxp__strbuf_putc(out, '\n');
    mxp__ranks_tables_put(ranks, screen, out);
}

// ---- for programs ------------------------------------------------------------------------------
static void put_known(mxp_json *json, const char *key, double ns)
{
    if (isnan(ns)) {
        mxp__json_null(json, key);
    } else {
        mxp__json_number(json, key, ns);
    }
}

static void put_kind_json(const mxp_explain_ranks *ranks, mxp_json *json)
{
    static const char *const kinds[] = {
        [MXP__STRAGGLER_UNEXPLAINED] = "unexplained", [MXP__STRAGGLER_NOISE] = "noise",
        [MXP__STRAGGLER_COMPUTE] = "compute",         [MXP__STRAGGLER_INPUT] = "input",
        [MXP__STRAGGLER_LATE_START] = "late start",   [MXP__STRAGGLER_HOST] = "host"};
    mxp__json_text(json, "kind", kinds[ranks->found.kind]);
    mxp__json_bool(json, "is_whole_host", ranks->found.is_whole_host);
    put_known(json, "late_start_ns", ranks->found.late_start_ns);
    put_known(json, "run_delay_ns", ranks->found.run_delay_ns);
}

void mxp__explain_ranks_json(const mxp_explain_ranks *ranks, mxp_json *json)
{
    const mxp_stragglers *found = &ranks->found;
    const bool is_named = found->named != MXP__STRAGGLERS_NONE;
    mxp__json_object(json, "between_ranks");
    mxp__json_u64(json, "steps", found->steps);
    mxp__json_number(json, "step_ns", found->step_ns);
    if (is_named) {
        mxp__json_u64(json, "straggler", found->rows[found->named].rank);
        mxp__json_text(json, "host", ranks->host);
        mxp__json_text(json, "longer", ranks->longer);
        mxp__json_number(json, "longer_ns", ranks->longer_ns);
    } else {
        mxp__json_null(json, "straggler");
    }
    if (ranks->absent.rank != MXP__RANK_UNKNOWN) {
        mxp__json_u64(json, "absent", ranks->absent.rank);
        mxp__json_number(json, "absent_waited_ns", ranks->absent.waited_ns);
    }
    put_kind_json(ranks, json);
    mxp__json_number(json, "cost_ns", found->cost_ns);
    mxp__json_number(json, "gain_ns", found->gain_ns);
    mxp__json_number(json, "gain_low_ns", found->gain_low_ns);
    mxp__json_number(json, "gain_high_ns", found->gain_high_ns);
    mxp__json_u64(json, "chance_most_steps", found->chance_most);
    mxp__json_bool(json, "too_few_steps", are_too_few(found));
    mxp__json_number(json, "compute_imbalance", found->imbalance);
    mxp__json_number(json, "noise_ns", found->noise_ns);
    mxp__ranks_tables_json(ranks, json);
    mxp__json_end(json);
}
