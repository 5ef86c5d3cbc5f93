// SPDX-License-Identifier: Apache-2.0
// Lists of the page's head: processes, threads, kinds, tracks, steps.
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "page/columns.h"
#include "view/view_head.h"

static void put_info(const mxp_source *source, mxp_json *json)
{
    mxp__json_array(json, "info");
    for (size_t i = 0; i < source->info_count; i++) {
        const mxp_info_pair *pair = &source->info[i];
        mxp__json_list(json, NULL);
        mxp__json_text(json, NULL, pair->key);
        mxp__json_text(json, NULL, pair->value);
        mxp__json_end(json);
    }
    mxp__json_end(json);
}

void mxp__view_put_processes(const mxp_view *view, mxp_strbuf *out)
{
    mxp_json json = {.out = out};
    mxp__json_array(&json, NULL);
    for (size_t i = 0; i < view->process_count; i++) {
        const mxp_source *source = mxp__view_source(view, i);
        const char *own = mxp__source_info(source, "process_name");  // "worker 0 (host)"
        const char *name = own != NULL ? own : mxp__source_info(source, "command");
        const bool is_hidden = view->wish->is_anonymous && source->clock_bytes == 0;  // no worker
        mxp__json_object(&json, NULL);
        mxp__json_u64(&json, "pid", source->pid);
        mxp__json_text(&json, "name", is_hidden || name == NULL ? "" : name);
        mxp__json_bool(&json, "died", source->state == MXP__PROCESS_DIED);
        put_info(source, &json);
        mxp__json_end(&json);
    }
    mxp__json_end(&json);
}

// The name of a thread that has one; else its number.
static void put_thread_name(const mxp_source *source, size_t thread, mxp_json *json,
                            const char *key)
{
    const mxp_thread_entry *entry = &source->threads[thread];
    const mxp_name_view name = source->name(source, entry->name);
    char number[32];
    if (entry->name != 0 && name.length > 0) {
        const size_t most = MXP_PAGE_NAME_MAX;
        mxp__json_bytes(json, key, name.text, name.length < most ? name.length : most);
        return;
    }
    snprintf(number, sizeof number, "thread %" PRIu32, entry->tid);
    mxp__json_text(json, key, number);
}

void mxp__view_put_threads(const mxp_view *view, mxp_strbuf *out)
{
    mxp_json json = {.out = out};
    mxp__json_array(&json, NULL);
    for (size_t i = 0; i < view->process_count; i++) {
        const mxp_source *source = mxp__view_source(view, i);
        for (size_t k = 0; k < source->thread_count; k++) {
            mxp__json_row(&json, NULL);
            mxp__json_u64(&json, "process", i);
            put_thread_name(source, k, &json, "name");
            mxp__json_u64(&json, "tid", source->threads[k].tid);
            mxp__json_end(&json);
        }
    }
    mxp__json_end(&json);
}

// ---- kinds -------------------------------------------------------------------------------------
static void put_text(const mxp_view *view, uint32_t number, mxp_json *json)
{
    size_t length;
    const char *text = mxp__texts_at(&view->page.kinds.texts, number, &length);
    mxp__json_bytes(json, NULL, text, length);
}

void mxp__view_put_kinds(const mxp_view *view, mxp_strbuf *out)
{
    mxp_json json = {.out = out};
    mxp__json_array(&json, NULL);
    for (size_t i = 0; i < view->page.kinds.count; i++) {
        const mxp_page_kind *kind = &view->page.kinds.all[i];
        mxp__json_list(&json, NULL);
        put_text(view, kind->name, &json);
        put_text(view, kind->category, &json);
        put_text(view, kind->scope, &json);
        mxp__json_u64(&json, NULL, kind->phase);
        mxp__json_u64(&json, NULL, kind->form);
        mxp__json_end(&json);
    }
    mxp__json_end(&json);
}

static uint64_t fitting(uint64_t ns)
{
    return ns < MXP_PAGE_NUMBER_MAX ? ns : MXP_PAGE_NUMBER_MAX;
}

void mxp__view_put_stats(const mxp_view *view, mxp_strbuf *out)
{
    static const double fractions[] = {0.5, 0.9, 0.99, 1};
    mxp_json json = {.out = out};
    mxp__json_array(&json, NULL);
    for (size_t i = 0; i < view->page.kinds.count; i++) {
        mxp_page_kind *kind = &view->page.kinds.all[i];
        bool is_exact = true;
        mxp__json_list(&json, NULL);
        mxp__json_u64(&json, NULL, kind->count);
        mxp__json_u64(&json, NULL, fitting(kind->total_ns));
        mxp__json_u64(&json, NULL, kind->count > 0 ? kind->least_ns : 0);
        for (size_t k = 0; k < sizeof fractions / sizeof fractions[0]; k++) {
            mxp__json_u64(
                &json, NULL,
                fitting(mxp__samples_quantile(&kind->durations, fractions[k], &is_exact)));
        }
        mxp__json_u64(&json, NULL, is_exact);
        mxp__json_end(&json);
    }
    mxp__json_end(&json);
}

// ---- tracks ------------------------------------------------------------------------------------
static void put_track_name(const mxp_view *view, const mxp_page_track *track, mxp_json *json)
{
    const mxp_source *source = mxp__view_source(view, track->process);
    const uint32_t base = view->processes[track->process].thread_base;
    if (track->name != 0) {
        const mxp_name_view name = source->name(source, track->name);
        mxp__json_bytes(json, "name", name.text, name.length);
    } else if (track->thread >= 0) {
        put_thread_name(source, (size_t)track->thread - base, json, "name");
    } else {
        const size_t lanes = view->page.quiet_lanes;
        char text[80];
        snprintf(text, sizeof text, lanes > 0 ? "%zu quiet threads and lanes" : "%zu quiet threads",
                 view->dropped.quiet_threads + lanes);
        mxp__json_text(json, "name", text);
    }
}

void mxp__view_put_tracks(const mxp_view *view, mxp_strbuf *out)
{
    static const char *const whats[MXP_TRACK_KINDS] = {"operators", "calls", "async", "lane",
                                                       "instants"};
    mxp_json json = {.out = out};
    mxp__json_array(&json, NULL);
    for (size_t i = 0; i < view->page.blocks.track_count; i++) {
        const mxp_page_track *track = view->page.blocks.tracks[i];
        mxp__json_row(&json, NULL);
        put_track_name(view, track, &json);
        mxp__json_i64(&json, "thread", track->thread);
        mxp__json_u64(&json, "process", track->process);
        mxp__json_text(&json, "what", whats[track->what]);
        mxp__json_u64(&json, "rows", track->rows);
        mxp__json_u64(&json, "spans", track->spans);
        mxp__json_bool(&json, "is_full", track->depths.is_full);
        mxp__json_end(&json);
    }
    mxp__json_end(&json);
}

// ---- steps -------------------------------------------------------------------------------------
static unsigned flags_of(const mxp_report_process *process, size_t place)
{
    const mxp_step_window *step = &process->steps.all[place];
    const bool is_chosen = process->choice.steps != NULL && process->choice.steps[place];
    return (is_chosen ? 1u : 0) | (step->is_first_run ? 2u : 0) | (step->has_loss ? 4u : 0) |
           (step->has_pause ? 8u : 0) | (step->is_open ? 16u : 0);
}

static void put_step(const mxp_view *view, size_t process, size_t place, mxp_strbuf *out)
{
    const mxp_report_process *of = &view->report.processes[process];
    const mxp_step_window *step = &of->steps.all[place];
    const mxp_step_sums *sums = &view->processes[process].sums[place];
    mxp__strbuf_printf(out, "[%zu, %" PRIu64 ", %" PRId64 ", %" PRId64, process,
                       fitting(step->number), step->begin_ns - view->page.begin_ns,
                       step->end_ns - view->page.begin_ns);
    for (int phase = 1; phase < MXP_PHASES; phase++) {
        mxp__strbuf_printf(out, ", %" PRIu64, fitting(sums->phases_ns[phase]));
    }
    mxp__strbuf_printf(out, ", %" PRIu64 ", ", fitting(sums->phases_ns[0]));
    if (view->page.has_waits) {
        mxp__strbuf_printf(out, "%" PRIu64, fitting(sums->waiting_ns));
    } else {
        mxp__strbuf_puts(out, "-1");
    }
    mxp__strbuf_printf(out, ", %u]", flags_of(of, place));
}

void mxp__view_put_steps(const mxp_view *view, mxp_strbuf *out)
{
    const char *comma = "";
    mxp__strbuf_puts(out, "[");
    for (size_t p = 0; p < view->process_count; p++) {
        for (size_t i = 0; i < view->report.processes[p].steps.count; i++) {
            mxp__strbuf_puts(out, comma);
            put_step(view, p, i, out);
            comma = ",\n";
        }
    }
    mxp__strbuf_puts(out, "]");
}

static void put_recorded(uint64_t ns, mxp_strbuf *out)
{
    if (ns == MXP__NOT_RECORDED) {
        mxp__strbuf_puts(out, "-1");
    } else {
        mxp__strbuf_printf(out, "%" PRIu64, fitting(ns));
    }
}

void mxp__view_put_cpu(const mxp_view *view, mxp_strbuf *out)
{
    bool is_any = false;
    mxp_strbuf list = {0};
    const char *comma = "";
    for (size_t p = 0; p < view->process_count; p++) {
        const mxp_steps *steps = &view->report.processes[p].steps;
        for (size_t i = 0; i < steps->count; i++) {
            const mxp_step_window *step = &steps->all[i];
            is_any |= step->cpu_ns != MXP__NOT_RECORDED || step->run_delay_ns != MXP__NOT_RECORDED;
            mxp__strbuf_printf(&list, "%s[", comma);
            put_recorded(step->cpu_ns, &list);
            mxp__strbuf_puts(&list, ", ");
            put_recorded(step->run_delay_ns, &list);
            mxp__strbuf_puts(&list, "]");
            comma = ",\n";
        }
    }
    if (is_any && !list.failed) {
        mxp__strbuf_printf(out, "[%s]", mxp__strbuf_text(&list));
    } else {
        mxp__strbuf_puts(out, "null");
    }
    mxp__strbuf_fini(&list);
}
