// SPDX-License-Identifier: Apache-2.0
// The critical path: what `mxprof path` and `mxprof whatif` tell of the usual window, and the
// pieces of steps for the timeline.
#include <stdio.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "page/columns.h"
#include "path_view.h"
#include "view/view.h"
#include "whatif_view.h"

// Operators of a trace of which all steps have their pieces in the page, or all of its time where
// no steps are marked; of longer ones the steps that are shown in full.
enum { OPERATORS_WHOLE = 300000, COLUMNS = 5 };
enum { PATH_PERCENT = 5 };  // of the page, else only these steps have theirs, too
// Of longer ones what-if takes a multiple of all else: who wants to know asks it.
enum { OPERATORS_PREDICTED = 1000000 };

enum { REPLAYED_COLUMNS = 3 };

typedef struct path_maker {
    mxp_view *view;
    mxp_strbuf columns[COLUMNS], replayed[REPLAYED_COLUMNS];
    uint64_t replayed_count;
    uint64_t prediction;  // the first one of the process at hand
    size_t process;
    mxp_strbuf documents, predictions, steps;
    size_t document_count, prediction_count, step_count;
    uint64_t pieces;
    int64_t before_ns;  // the end of the piece before
    bool only_wanted;
} path_maker;

// ---- pieces ------------------------------------------------------------------------------------
static int kind_of(path_maker *self, const mxp_path_long *piece, uint32_t *kind)
{
    mxp_page_kinds *kinds = &self->view->page.kinds;
    *kind = 0;
    if (piece->name == 0) {
        return MXP_OK;
    }
    const bool is_operator = piece->piece.op != 0;
    const int error =
        mxp__page_kind_of(kinds, piece->name, is_operator ? piece->scope : 0,
                          is_operator && piece->phase < MXP_PHASES ? (uint8_t)piece->phase : 0,
                          is_operator ? MXP_FORM_OPERATOR : MXP_FORM_SPAN, kind);
    *kind += error == MXP_OK;
    return error;
}

static int put_piece(path_maker *self, size_t process, const mxp_path_long *of)
{
    const mxp_path_piece *piece = &of->piece;
    const int64_t from_ns = piece->from_ns - self->view->page.begin_ns;
    const mxp_source *source = mxp__view_source(self->view, process);
    const uint32_t base = self->view->processes[process].thread_base;
    uint32_t kind;
    const int error = kind_of(self, of, &kind);
    if (error != MXP_OK) {
        return error;
    }
    const int64_t gap_ns = from_ns - self->before_ns;
    mxp__column_put(&self->columns[0],
                    piece->thread < source->thread_count ? base + piece->thread + 1 : 0);
    mxp__column_put(&self->columns[1], (uint64_t)gap_ns << 1 ^ (uint64_t)(gap_ns >> 63));
    mxp__column_put(&self->columns[2], (uint64_t)(piece->to_ns - piece->from_ns));
    mxp__column_put(&self->columns[3], piece->kind);
    mxp__column_put(&self->columns[4], kind);
    self->before_ns = piece->to_ns - self->view->page.begin_ns;
    self->pieces++;
    return MXP_OK;
}

static int put_pieces(path_maker *self, size_t process, const mxp_path_view *path)
{
    int error = MXP_OK;
    size_t first = 0;
    for (size_t i = 0; i < path->piece_count && error == MXP_OK; i++) {
        error = put_piece(self, process, &path->pieces[i]);
        if (i + 1 < path->piece_count && path->pieces[i + 1].step == path->pieces[i].step) {
            continue;
        }
        mxp__strbuf_puts(&self->steps, self->step_count++ > 0 ? ", " : "");
        if (path->choice->steps != NULL) {
            mxp__strbuf_printf(&self->steps, "[%zu, %zu]",
                               mxp__view_step(self->view, process, path->pieces[i].step),
                               i + 1 - first);
        } else {
            mxp__strbuf_printf(&self->steps, "[-1, %zu]", i + 1 - first);
        }
        first = i + 1;
    }
    return error;
}

static bool is_wanted(const mxp_view *view, const mxp_step_window *step)
{
    const int64_t at_ns = step->begin_ns - view->page.begin_ns;
    for (size_t i = 0; i < view->window_count; i++) {
        if (view->windows[i].from_ns <= at_ns && at_ns < view->windows[i].until_ns) {
            return true;
        }
    }
    return false;
}

// The steps that have pieces in the page. `choice` is finished by the caller.
static int choose_steps(const path_maker *self, size_t process, mxp_choice *choice)
{
    mxp_view *view = self->view;
    const mxp_steps *steps = &view->report.processes[process].steps;
    *choice = (mxp_choice){.of = steps, .steps = mxp__alloc(steps->count * sizeof(bool))};
    if (choice->steps == NULL) {
        return mxp__fail_memory("the paths of the page");
    }
    const bool takes_all = steps->operators <= OPERATORS_WHOLE && !self->only_wanted;
    for (size_t i = 0; i < steps->count; i++) {
        const bool takes = takes_all || is_wanted(view, &steps->all[i]);
        choice->steps[i] = takes && steps->all[i].end_ns > steps->all[i].begin_ns;
        choice->step_count += choice->steps[i];
        view->dropped.path_steps += !choice->steps[i];
    }
    return MXP_OK;
}

static int add_pieces(path_maker *self, size_t process)
{
    mxp_report_process *of = &self->view->report.processes[process];
    mxp_path_view path;
    mxp_choice choice;
    int error = choose_steps(self, process, &choice);
    if (error == MXP_OK && choice.step_count > 0) {
        error =
            mxp__path_view_pieces(of->source, &choice, self->view->report_wish.memory_bytes, &path);
        if (error == MXP_OK) {
            error = put_pieces(self, process, &path);
            mxp__path_view_fini(&path);
        }
    }
    mxp__choice_fini(&choice);
    return error;
}

// ---- documents ---------------------------------------------------------------------------------
// A process without steps, whose whole run has pieces in the page.
static bool is_run(const mxp_report_process *of)
{
    return of->choice.steps == NULL && of->steps.operators <= OPERATORS_WHOLE;
}

static int put_document(path_maker *self, size_t process, mxp_path_view *path)
{
    mxp_report_process *of = &self->view->report.processes[process];
    mxp_json json = {.out = &self->documents};
    const int error = is_run(of) ? put_pieces(self, process, path) : MXP_OK;
    if (error == MXP_OK) {
        path->keeps_pieces = false;
        mxp__strbuf_puts(&self->documents, self->document_count++ > 0 ? ",\n" : "");
        mxp__json_object(&json, NULL);
        mxp__path_view_json(path, &of->steps, &json);
        mxp__json_end(&json);
    }
    return error;
}

static int add_document(path_maker *self, size_t process)
{
    mxp_report_process *of = &self->view->report.processes[process];
    const bool is_one = of->choice.steps != NULL ? of->choice.step_count == 1 : is_run(of);
    mxp_explained *known = mxp__view_explained(self->view, of);
    mxp_path_view path;
    if (known != NULL && known->has_path) {
        return put_document(self, process, &known->path);
    }
    int error = mxp__path_view_make(of->source, &of->choice, self->view->report_wish.memory_bytes,
                                    is_one, &path);
    if (error == MXP_OK) {
        error = put_document(self, process, &path);
        mxp__path_view_fini(&path);
    }
    return error;
}

// What each step gains by each prediction.
static void put_replayed(void *context, const mxp_what_if *result,
                         const mxp_change_set *const *order, size_t count)
{
    path_maker *self = context;
    const size_t steps = self->view->report.processes[self->process].steps.count;
    for (size_t i = 0; i < count; i++) {
        for (size_t step = 0; step < result->count; step++) {
            if (result->places[step] < steps) {
                const int64_t gain_ns = (int64_t)order[i]->gains_ns[step];
                mxp__column_put(&self->replayed[0], self->prediction + i);
                mxp__column_put(&self->replayed[1],
                                mxp__view_step(self->view, self->process, result->places[step]));
                mxp__column_put(&self->replayed[2],
                                (uint64_t)gain_ns << 1 ^ (uint64_t)(gain_ns >> 63));
                self->replayed_count++;
            }
        }
    }
    self->prediction += count;
}

static int add_prediction(path_maker *self, size_t process)
{
    mxp_view *view = self->view;
    mxp_report_process *of = &view->report.processes[process];
    mxp_strbuf out = {0};
    mxp_json json = {.out = &out};
    if (of->steps.operators > OPERATORS_PREDICTED) {
        snprintf(
            view->whatif_refused, sizeof view->whatif_refused,
            "in a trace of this length it takes longer than all of the page: ask mxprof whatif");
        return MXP_OK;
    }
    self->process = process;
    const int error =
        mxp__whatif_best_json(of->source, &of->steps, &of->choice, view->report_wish.memory_bytes,
                              &json, put_replayed, self);
    if (error == MXP_OK) {
        mxp__strbuf_puts(&self->predictions, self->prediction_count++ > 0 ? ",\n" : "");
        mxp__strbuf_append(&self->predictions, mxp__strbuf_text(&out), out.length);
    } else if (error != MXP_ENOMEM || !out.failed) {
        snprintf(view->whatif_refused, sizeof view->whatif_refused, "%s", mxp_last_error());
    }
    mxp__strbuf_fini(&out);
    return out.failed ? MXP_ENOMEM : MXP_OK;
}

// Exchanges end on other threads, so no operator's time in a step is theirs. What a step waits for
// them stands on its path.
static int take_exchanges(mxp_view *view, const mxp_explained *of)
{
    const size_t process = mxp__view_process_of(view, of), bytes = of->facts.count * sizeof(double);
    double *waited_ns = mxp__alloc(bytes);
    if (process == SIZE_MAX || !of->is_marked || bytes == 0) {
        mxp__free(waited_ns, bytes);
        return MXP_OK;
    }
    const int error = waited_ns == NULL
                          ? mxp__fail_memory("the steps of the page")
                          : mxp__facts_kinds(&of->facts, 1u << MXP__PATH_COMMUNICATION, waited_ns);
    for (size_t i = 0; error == MXP_OK && i < of->facts.count; i++) {
        uint64_t *ns = &view->processes[process]
                            .sums[of->facts.at[i].place]
                            .phases_ns[MXP_PHASE_COMMUNICATION];
        *ns = (uint64_t)waited_ns[i] > *ns ? (uint64_t)waited_ns[i] : *ns;
    }
    mxp__free(waited_ns, bytes);
    return error;
}

// What a process cannot be asked is said in the page, and no reason to make none.
static int add_process(path_maker *self, size_t process)
{
    mxp_view *view = self->view;
    mxp_report_process *of = &view->report.processes[process];
    if (of->steps.operators == 0) {
        return MXP_OK;
    }
    int error = mxp__page_kinds_next(&view->page.kinds, of->source);
    error = error == MXP_OK ? add_document(self, process) : error;
    if (error == MXP_OK && of->choice.steps != NULL) {
        error = add_pieces(self, process);
    }
    if (error == MXP_ENOMEM) {
        snprintf(view->path_refused, sizeof view->path_refused, "%s", mxp_last_error());
        error = MXP_OK;
    }
    return error == MXP_OK ? add_prediction(self, process) : error;
}

static void put_categories(mxp_strbuf *out)
{
    for (int kind = 0; kind < MXP__PATH_KINDS; kind++) {
        mxp__strbuf_printf(out, "%s\"%s\"", kind > 0 ? ", " : "", mxp__path_kind_name(kind));
    }
}

static bool is_too_large(const mxp_view *view)
{
    const uint64_t limit = view->wish->limit_bytes;
    const mxp_spooled_section *at = &view->sections[view->section_count - 1].at;
    return limit != UINT64_MAX && (at->packed_bytes + 2) / 3 * 4 > limit / 100 * PATH_PERCENT;
}

// The pieces once more, of wanted steps alone. Of a window without steps they are not many.
static int begin_anew(path_maker *self)
{
    mxp_view *view = self->view;
    int error = MXP_OK;
    self->only_wanted = true;
    self->pieces = self->step_count = view->dropped.path_steps = 0;
    self->before_ns = 0;
    mxp__strbuf_clear(&self->steps);
    for (size_t i = 0; i < COLUMNS; i++) {
        mxp__strbuf_clear(&self->columns[i]);
    }
    for (size_t i = 0; i < view->process_count && error == MXP_OK; i++) {
        const mxp_report_process *of = &view->report.processes[i];
        if (of->steps.operators > 0) {
            error = mxp__page_kinds_next(&view->page.kinds, of->source);
            error = error == MXP_OK ? add_pieces(self, i) : error;
        }
    }
    return error;
}

static int put_section(path_maker *self)
{
    mxp_view *view = self->view;
    bool has_steps = true;
    for (size_t i = 0; i < view->process_count; i++) {
        has_steps &= view->report.processes[i].choice.steps != NULL;
    }
    int error = mxp__view_section(view, "p", self->columns, COLUMNS, self->pieces);
    if (error == MXP_OK && has_steps && is_too_large(view)) {
        view->section_count--;
        error = begin_anew(self);
        error = error == MXP_OK ? mxp__view_section(view, "p", self->columns, COLUMNS, self->pieces)
                                : error;
    }
    return error;
}

static int end_section(path_maker *self)
{
    mxp_view *view = self->view;
    mxp_strbuf *out = &view->path;
    if (self->document_count == 0) {
        if (view->path_refused[0] == '\0') {
            snprintf(view->path_refused, sizeof view->path_refused,
                     "no dependencies in this trace: it has no operators of libmxnet");
        }
        return MXP_OK;
    }
    const int error = put_section(self);
    mxp__strbuf_puts(out, "{\"categories\": [");
    put_categories(out);
    mxp__strbuf_printf(out, "], \"document\": {\"processes\": [%s]}, \"steps\": [%s]}",
                       mxp__strbuf_text(&self->documents), mxp__strbuf_text(&self->steps));
    return error;
}

// Like the path's pieces, they have a part of a limited page.
static int keep_replayed(path_maker *self)
{
    mxp_view *view = self->view;
    const int error =
        mxp__view_section(view, "w", self->replayed, REPLAYED_COLUMNS, self->replayed_count);
    if (error == MXP_OK && is_too_large(view)) {
        view->section_count--;
    }
    return error;
}

int mxp__view_path(mxp_view *view)
{
    path_maker self = {.view = view};
    int error = MXP_OK;
    for (size_t i = 0; view->is_explained && i < view->explain.count && error == MXP_OK; i++) {
        error = take_exchanges(view, &view->explain.all[i]);
    }
    for (size_t i = 0; i < view->process_count && error == MXP_OK; i++) {
        error = add_process(&self, i);
    }
    error = error == MXP_OK ? end_section(&self) : error;
    if (error == MXP_OK && self.replayed_count > 0) {
        error = keep_replayed(&self);
    }
    if (self.prediction_count > 0) {
        mxp__strbuf_printf(&view->whatif, "{\"processes\": [%s]}",
                           mxp__strbuf_text(&self.predictions));
    } else if (view->whatif_refused[0] == '\0') {
        snprintf(view->whatif_refused, sizeof view->whatif_refused,
                 "there are no operators of libmxnet in it, so nothing can be predicted");
    }
    for (size_t i = 0; i < COLUMNS; i++) {
        mxp__strbuf_fini(&self.columns[i]);
    }
    for (size_t i = 0; i < REPLAYED_COLUMNS; i++) {
        mxp__strbuf_fini(&self.replayed[i]);
    }
    mxp__strbuf_fini(&self.documents);
    mxp__strbuf_fini(&self.predictions);
    mxp__strbuf_fini(&self.steps);
    return error;
}
