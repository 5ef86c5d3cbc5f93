// SPDX-License-Identifier: Apache-2.0
// The command `explain` for programs: every candidate of every process, told or not.
#include "command.h"
#include "explain_ranks.h"
#include "explain_view.h"

static void put_place(const mxp_explained *of, const char *key, const mxp_cause_place *place,
                      mxp_json *json)
{
    mxp_strbuf text = {0};
    mxp__explain_place(of, place, &text);
    mxp__json_bytes(json, key, mxp__strbuf_text(&text), text.length);
    mxp__strbuf_fini(&text);
}

static void put_gain(const mxp_cause *cause, mxp_json *json)
{
    static const char *const kinds[] = {[MXP_GAIN_NONE] = "none",
                                        [MXP_GAIN_PATH] = "path",
                                        [MXP_GAIN_REPLAY] = "replay",
                                        [MXP_GAIN_COUNTED] = "counted"};
    mxp__json_text(json, "gain_from", kinds[cause->gain]);
    if (cause->gain == MXP_GAIN_NONE) {
        return;
    }
    mxp__json_number(json, "gain_ns", cause->gain_ns);
    mxp__json_number(json, "gain_low_ns", cause->low_ns);
    mxp__json_number(json, "gain_high_ns", cause->high_ns);
    mxp__json_number(json, "left_ns", cause->left_ns);
    mxp__json_bool(json, "is_upper_bound", cause->is_upper_bound);
    mxp__json_number(json, "p", cause->doubt);
}

static void put_places(const mxp_explained *of, const mxp_cause *cause, mxp_json *json)
{
    mxp__json_array(json, "where");
    for (size_t i = 0; i < cause->place_count; i++) {
        mxp__json_row(json, NULL);
        put_place(of, "place", &cause->places[i], json);
        if (cause->place_ns[i] > 0) {
            mxp__json_number(json, "ns", cause->place_ns[i]);
        }
        mxp__json_end(json);
    }
    mxp__json_end(json);
}

// Figures that a cause has; those that it does not know are left out.
static void put_figures(const mxp_cause *cause, mxp_json *json)
{
    const struct {
        const char *key;
        double value;
    } figures[] = {{"share", cause->share},
                   {"of_roof", cause->roof},
                   {"factor", cause->factor},
                   {"forward_ns", cause->forward_ns},
                   {"backward_ns", cause->backward_ns},
                   {"update_ns", cause->update_ns},
                   {"count", cause->count},
                   {"each_ns", cause->each_ns},
                   {"run_ns", cause->run_ns},
                   {"run_delay_ns", cause->delay_ns},
                   {"blocks", cause->blocks},
                   {"bytes", cause->bytes},
                   {"width", cause->width},
                   {"workers", (double)cause->workers},
                   {"pid", cause->pid},
                   {"first_steps", (double)cause->first_steps}};
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        if (figures[i].value != 0) {
            mxp__json_number(json, figures[i].key, figures[i].value);
        }
    }
    if (cause->id == MXP_CAUSE_CUSTOM) {
        static const char *const uses[] = {"unknown", "computed", "waited"};
        mxp__json_text(json, "function", uses[cause->custom]);
    }
}

static void put_cause(const mxp_explain_view *view, const mxp_explained *of, const mxp_cause *cause,
                      mxp_json *json)
{
    mxp_strbuf next = {0};
    mxp__json_object(json, NULL);
    mxp__json_text(json, "cause", mxp__cause_name(cause->id));
    mxp__json_bool(json, "is_told", cause->is_told);
    put_gain(cause, json);
    mxp__json_u64(json, "steps", cause->steps);
    put_figures(cause, json);
    put_places(of, cause, json);
    mxp__cause_next(view, of, cause, &next);
    if (next.length > 0) {
        mxp__json_text(json, "next", mxp__strbuf_text(&next));
    }
    mxp__json_end(json);
    mxp__strbuf_fini(&next);
}

static void put_causes(const mxp_explain_view *view, const mxp_explained *of, mxp_json *json)
{
    const mxp_causes *causes = &of->verdict.causes;
    mxp__json_array(json, "causes");
    for (size_t i = 0; i < causes->count; i++) {
        put_cause(view, of, &causes->all[i], json);
    }
    mxp__json_end(json);
}

static void put_process(const mxp_explain_view *view, const mxp_explained *of, mxp_json *json)
{
    const mxp_verdict *verdict = &of->verdict;
    mxp__json_object(json, NULL);
    mxp__json_u64(json, "pid", of->process->pid);
    mxp__json_bool(json, "has_steps", of->is_marked);
    mxp__json_u64(json, "steps", of->is_marked ? verdict->steps : 0);
    mxp__json_number(json, "mean_ns", verdict->mean_ns);
    mxp__json_number(json, "median_ns", verdict->median_ns);
    mxp__json_number(json, "p90_ns", verdict->p90_ns);
    if (verdict->has_noise) {
        mxp__json_number(json, "noise_ns", verdict->noise_ns);
    }
    mxp__json_bool(json, "is_noisy", verdict->is_noisy);
    if (verdict->delay_share >= 0) {
        mxp__json_number(json, "run_delay_share", verdict->delay_share);
        mxp__json_bool(json, "is_busy", verdict->delay_share > MXP_BUSY_DELAY_SHARE);
    }
    mxp__json_u64(json, "first_run_steps_left_out", of->choice.first_run);
    mxp__json_u64(json, "incomplete_steps_left_out",
                  of->choice.is_forced ? 0 : of->choice.incomplete);
    mxp__json_bool(json, "has_operators", of->facts.operators > 0);
    mxp__json_number(json, "record_cost_ns", of->facts.record_cost_ns);
    static const char *const replays[] = {[MXP_REMEDIES_EXACT] = "exact",
                                          [MXP_REMEDIES_NO_OPERATORS] = "no operators",
                                          [MXP_REMEDIES_LOSSES] = "losses or pauses",
                                          [MXP_REMEDIES_UNKNOWN] = "unknown",
                                          [MXP_REMEDIES_TOO_LARGE] = "too large",
                                          [MXP_REMEDIES_INEXACT] = "inexact"};
    mxp__json_text(json, "replay", replays[verdict->replay]);
    put_causes(view, of, json);
    mxp__json_end(json);
}

void mxp__explain_json(const mxp_explain_view *view, mxp_json *json)
{
    mxp__json_object(json, NULL);
    mxp__json_array(json, "processes");
    for (size_t i = 0; i < view->count; i++) {
        put_process(view, &view->all[i], json);
    }
    mxp__json_end(json);
    if (view->ranks != NULL) {
        mxp__explain_ranks_json(view->ranks, json);
    }
    if (view->is_paired) {
        mxp__json_object(json, "between_processes");
        mxp__json_u64(json, "pairs", view->imbalance.pairs);
        mxp__json_u64(json, "slowest_in", view->imbalance.times);
        mxp__json_number(json, "p_sign", view->imbalance.doubt);
        mxp__json_array(json, "causes");
        for (size_t i = 0; i < view->imbalance.causes.count; i++) {
            put_cause(view, mxp__explain_view_shown(view), &view->imbalance.causes.all[i], json);
        }
        mxp__json_end(json);
        mxp__json_end(json);
    }
    mxp__json_end(json);
}
