// SPDX-License-Identifier: Apache-2.0
// Parts of the page's head that are words: explain's causes, and whether the profile can be
// trusted.
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "coverage.h"
#include "explain_ranks.h"
#include "summary.h"
#include "view/view_head.h"

// Each line of a text as a value of its own.
static void put_lines(mxp_json *json, const mxp_strbuf *text)
{
    const char *line = mxp__strbuf_text(text);
    while (*line != '\0') {
        const size_t length = strcspn(line, "\n");
        mxp__json_bytes(json, NULL, line, length);
        line += length + (line[length] == '\n');
    }
}

// The step to look at: -1 of what is told of several processes.
static int64_t step_of(const mxp_view *view, int process, const mxp_explained *of,
                       const mxp_cause *cause)
{
    const size_t place = process < 0 ? SIZE_MAX : mxp__view_told_step(of, cause);
    const size_t number = mxp__view_process_of(view, of);
    return place == SIZE_MAX || number == SIZE_MAX ? -1
                                                   : (int64_t)mxp__view_step(view, number, place);
}

static void put_cause(const mxp_view *view, int process, size_t place, const mxp_explained *of,
                      const mxp_cause *cause, mxp_json *json)
{
    mxp_strbuf text = {0};
    mxp__json_object(json, NULL);
    mxp__json_i64(json, "process", process);
    mxp__json_u64(json, "cause", place);
    mxp__cause_title(of, cause, &mxp__page_screen, &text);
    mxp__json_text(json, "title", mxp__strbuf_text(&text));
    mxp__strbuf_clear(&text);
    mxp__cause_evidence(of, cause, &mxp__page_screen, &text);
    mxp__json_array(json, "evidence");
    put_lines(json, &text);
    mxp__json_end(json);
    mxp__strbuf_clear(&text);
    mxp__cause_next(&view->explain, of, cause, &text);
    mxp__json_text(json, "next", mxp__strbuf_text(&text));
    mxp__json_i64(json, "step", step_of(view, process, of, cause));
    mxp__json_end(json);
    mxp__strbuf_fini(&text);
}

static void put_causes(const mxp_view *view, int process, const mxp_explained *of,
                       const mxp_causes *causes, mxp_json *json)
{
    for (size_t i = 0; i < causes->count; i++) {
        if (causes->all[i].is_told) {
            put_cause(view, process, i, of, &causes->all[i], json);
        }
    }
}

void mxp__view_put_told(const mxp_view *view, mxp_strbuf *out)
{
    mxp_json json = {.out = out};
    const mxp_explain_view *explain = &view->explain;
    mxp__json_array(&json, NULL);
    for (size_t i = 0; view->is_explained && i < explain->count; i++) {
        put_causes(view, (int)i, &explain->all[i], &explain->all[i].verdict.causes, &json);
    }
    if (view->is_explained && explain->is_paired) {
        put_causes(view, -1, mxp__explain_view_shown(explain), &explain->imbalance.causes, &json);
    }
    mxp__json_end(&json);
}

void mxp__view_put_workers(const mxp_view *view, mxp_strbuf *out)
{
    mxp_strbuf text = {0};
    if (view->is_explained && view->explain.ranks != NULL) {
        mxp__explain_ranks_say(view->explain.ranks, &mxp__page_screen, &text);
    }
    mxp__json_string(out, mxp__strbuf_text(&text), text.length);
    mxp__strbuf_fini(&text);
}

// ---- trust -------------------------------------------------------------------------------------
// Lines of report's quality as pairs: what each is about, and the rest.
static void put_quality(const mxp_view *view, mxp_json *json)
{
    enum { ABOUT = 11 };  // columns
    mxp_strbuf text = {0};
    mxp__report_put_quality(&view->report, &text);
    const char *line = mxp__strbuf_text(&text);
    while (*line != '\0') {
        const size_t length = strcspn(line, "\n");
        size_t about = length < ABOUT ? length : ABOUT;
        const size_t rest = about;
        while (about > 0 && line[about - 1] == ' ') {
            about--;
        }
        if (length > 0) {
            mxp__json_list(json, NULL);
            mxp__json_bytes(json, NULL, line, about);
            mxp__json_bytes(json, NULL, line + rest, length - rest);
            mxp__json_end(json);
        }
        line += length + (line[length] == '\n');
    }
    mxp__strbuf_fini(&text);
}

// Whether a ring of one of the processes has overwritten records.
static bool has_made_room(const mxp_view *view)
{
    bool has = view->input.made_room;
    for (size_t i = 0; i < view->process_count && !has; i++) {
        mxp_coverage coverage;
        if (mxp__coverage_make(mxp__view_source(view, i), &coverage) == MXP_OK) {
            has = coverage.overwritten;
            mxp__coverage_fini(&coverage);
        }
    }
    return has;
}

// What became of the first process that did not end its recording itself, or null.
static const char *what_became(const mxp_view *view)
{
    const char *became = NULL;
    for (size_t i = 0; i < view->process_count && became == NULL; i++) {
        became = mxp__what_became(mxp__view_source(view, i));
    }
    return became;
}

static bool has_unread(const mxp_view *view)
{
    bool has = view->input.damaged || view->report.summary.unread_bytes > 0;
    for (size_t i = 0; i < view->process_count && !has; i++) {
        has = mxp__left_out(mxp__view_source(view, i)) != NULL;
    }
    return has;
}

static void put_counted(uint64_t count, const char *one, const char *several, mxp_strbuf *out)
{
    mxp__put_grouped(count, out);
    mxp__strbuf_printf(out, " %s", count == 1 ? one : several);
}

// What is missing, the worst first, and how bad that is: "bad", "warn", "good".
static const char *put_word(const mxp_view *view, mxp_strbuf *out)
{
    const char *became = what_became(view);
    if (has_unread(view)) {
        mxp__strbuf_puts(out, "The file is damaged: not all of it could be read");
        return "bad";
    }
    if (view->report.summary.lost > 0) {
        put_counted(view->report.summary.lost, "record was lost", "records were lost", out);
    } else if (view->input.left_out > 0) {
        put_counted(view->input.left_out, "file could not be read", "files could not be read", out);
    } else if (has_made_room(view)) {
        mxp__strbuf_puts(out, "The last part of a ring: what came before was overwritten");
    } else if (became != NULL) {
        mxp__strbuf_printf(out, "%s %s: what it recorded up to then is here",
                           view->process_count == 1 ? "The process" : "A process", became);
    } else if (mxp__report_incomplete(&view->report) != NULL) {
        mxp__strbuf_puts(out, "The trace says that it does not have all");
    } else {
        mxp__strbuf_puts(out, "Complete: nothing was lost");
        return "good";
    }
    return "warn";
}

void mxp__view_put_trust(const mxp_view *view, mxp_strbuf *out)
{
    mxp_json json = {.out = out};
    mxp_strbuf word = {0}, whole = {0};
    const char *state = put_word(view, &word);
    mxp__view_put_whole(view, &whole);
    mxp__json_object(&json, NULL);
    mxp__json_text(&json, "state", state);
    mxp__json_text(&json, "word", mxp__strbuf_text(&word));
    mxp__json_array(&json, "rows");
    put_quality(view, &json);
    mxp__json_list(&json, NULL);
    mxp__json_text(&json, NULL, "this page");
    mxp__json_text(&json, NULL, mxp__strbuf_text(&whole));
    mxp__json_end(&json);
    mxp__json_end(&json);
    mxp__json_end(&json);
    mxp__strbuf_fini(&word);
    mxp__strbuf_fini(&whole);
}

void mxp__view_put_whole(const mxp_view *view, mxp_strbuf *out)
{
    const mxp_view_dropped *dropped = &view->dropped;
    const uint64_t *width_ns = view->page.blocks.tiles.levels.width_ns;
    if (dropped->spans == 0) {
        mxp__strbuf_puts(out, "every span, to the nanosecond");
        mxp__strbuf_puts(out, dropped->columns ? "; ids of operators only in some steps" : "");
        return;
    }
    if (dropped->class_outside <= view->levels) {
        mxp__strbuf_puts(out, "spans under ");
        mxp__put_duration(&mxp__page_screen, (double)width_ns[dropped->class_outside - 1], out);
        mxp__strbuf_printf(out, " outside of %zu %s only as sums", view->window_count,
                           view->window_count == 1 ? "time" : "times");
    }
    if (dropped->class_kept <= view->levels) {
        mxp__strbuf_puts(out, ", and under ");
        mxp__put_duration(&mxp__page_screen, (double)width_ns[dropped->class_kept - 1], out);
        mxp__strbuf_puts(out, " but in the slowest and the median step");
    }
}
