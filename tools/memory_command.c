// SPDX-License-Identifier: Apache-2.0
// mxprof memory: who held the memory at its peak, or at another moment; what grows from step to
// step; what comes from the system; what lies there unused.
#include <inttypes.h>
#include <mxprof/error.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "coverage.h"
#include "memory_choice.h"
#include "memory_shown.h"
#include "profiler/analysis/window/choice.h"
#include "profiler/trace/merge.h"
#include "selection.h"
#include "summary.h"

static const char help[] =
    "mxprof memory tells who held the memory of each device, and whether it grows.\n"
    "\n"
    "usage: mxprof memory [OPTIONS] FILE|DIRECTORY\n"
    "\n"
    "  --at MOMENT   peak (default), end, or a time of the trace: 1.5s, 20ms; -2s is before its "
    "end\n"
    "  --growth      whose memory grows from step to step, and by how much a step\n"
    "  --fresh       whose blocks came from the system and not from the pool, in which steps\n"
    "  --later       of what lived at the peak, what was used again only later, or never\n"
    "  --by WHAT     rows: scope (default), array, category, or owner: one for each of all three\n"
    "  --top N       rows at most (10)\n"
    "  --json        everything as JSON, in bytes and ns\n"
    "\n"
    "The peak is that of the whole recording, or of a part of it:\n" MXP_WINDOW_HELP
    "Rows may be chosen; the sums stay those of everything:\n"
    "  --name GLOB     arrays of these names; --scope GLOB those made in these scopes, with what "
    "is\n"
    "                  inside. Each may be given several times\n"
    "\n"
    "Bytes are those that were asked for; what blocks are rounded up by is a row of its own. What\n"
    "lived before recording began has an owner where the recorder took a census of it, else it is\n"
    "<before recording>. The owners' rows add up to the recorded total, to the byte.\n"
    "\n"
    "Growth looks at the least total of each step. It is told over 20 steps or more, if Mann and\n"
    "Kendall's z is above 4 and the lower bound of the median slope (Theil, Sen; 95 %) above 0, "
    "and\n"
    "if the second half of the steps rises as well: what is filled at first is no leak.\n"
    "A block's next use is known where an operator allocated one block and wrote one new "
    "variable;\n"
    "all other bytes are said to be not known.\n"
    "\n"
    "examples\n"
    "  mxprof memory profile.mxp\n"
    "  mxprof memory --at end --by category profile.mxp\n"
    "  mxprof memory --growth profile.mxp\n"
    "  mxprof memory --later --top 20 profile.mxp\n"
    "\n"
    "exit code: 0 fine, 1 cannot be read or is damaged (what could be read is shown), 2 wrong "
    "call,\n"
    "3 what was asked cannot be answered from this trace\n";

enum { DEFAULT_TOP = 10 };

// ---- moments -----------------------------------------------------------------------------------
const mxp_step_window *mxp__memory_step_at(const mxp_memory_shown *view, int64_t ns)
{
    for (size_t i = 0; i < view->steps.count; i++) {
        const mxp_step_window *step = &view->steps.all[i];
        if (ns >= step->begin_ns && ns < step->end_ns) {
            return step;
        }
    }
    return NULL;
}

uint64_t mxp__memory_total(const mxp_memory_shown *view, const mxp_memory_device *device)
{
    return view->moment == MXP__MOMENT_PEAK   ? device->peak.bytes
           : view->moment == MXP__MOMENT_TIME ? device->time_bytes
                                              : device->live_bytes;
}

bool mxp__memory_uses_known(const mxp_memory_shown *view, const mxp_memory_device *device)
{
    return view->lost == 0 && device->gaps == 0 && device->resets == 0 && device->peak.is_known &&
           view->whole_from_ns == INT64_MIN;
}

// ---- a process ---------------------------------------------------------------------------------
static int look_at_ring(mxp_memory_shown *view)
{
    mxp_coverage coverage;
    int error = mxp__coverage_make(view->source, &coverage);
    if (error == MXP_OK) {
        view->whole_from_ns =
            coverage.is_ring && coverage.overwritten ? coverage.complete_ns : INT64_MIN;
        mxp__coverage_fini(&coverage);
    }
    return error;
}

static uint64_t lost_records(const mxp_source *source)
{
    uint64_t lost = 0;
    for (size_t i = 0; i < source->loss_count; i++) {
        lost += source->losses[i].reason == MXP_LOSS_NAMES_FULL ? 0 : source->losses[i].count;
    }
    return lost;
}

static int make_memory(const mxp_command *self, mxp_input *input, mxp_memory_shown *view)
{
    const mxp_live_memory_options options = {
        .from_ns = view->from_ns, .until_ns = view->until_ns, .at_ns = view->at_ns};
    int error = mxp__live_memory_of_steps(view->source, &view->steps, &options, &view->memory);
    if (error != MXP_OK && error != MXP_ENOMEM) {
        mxp__input_cut_short(self, input);
        return MXP_OK;
    }
    return error;
}

// ---- answers -----------------------------------------------------------------------------------
// What cannot be answered of a process, or null.
static const char *unknown_of(const mxp_memory_shown *view)
{
    if (view->is_outside) {
        return view->moment == MXP__MOMENT_TIME ? "nothing of it is recorded at that time"
                                                : "nothing of it is recorded in this time";
    }
    if (view->memory.count == 0) {
        return "no memory of a device was recorded: programs on libmxnet record theirs unless "
               "profile_memory is off";
    }
    if (view->what == MXP_MEMORY_GROWTH && view->steps.count < MXP__LEAK_STEPS_MIN) {
        return view->steps.count == 0
                   ? "growth needs steps, and none are marked: " MXP_STEPS_ARE_MARKED_BY
                   : "growth is told over 20 steps or more, and the trace has fewer";
    }
    if (view->what == MXP_MEMORY_FRESH && view->steps.count == 0) {
        return "blocks from the system are told by step, and none are "
               "marked: " MXP_STEPS_ARE_MARKED_BY;
    }
    return NULL;
}

static int show_process(const mxp_command *self, mxp_input *input,
                        const mxp_memory_options *options, mxp_memory_shown *view, mxp_strbuf *out,
                        int *code)
{
    int error = mxp__steps_find(view->source, &view->steps);
    if (error != MXP_OK) {
        return error;
    }
    int wrong = mxp__memory_choose(self, options, view);
    if (wrong >= 0) {
        *code = wrong;
        return MXP_OK;
    }
    view->lost = lost_records(view->source);
    error = look_at_ring(view);
    if (error == MXP_OK) {
        error = make_memory(self, input, view);
    }
    if (error != MXP_OK) {
        return error;
    }
    wrong = mxp__memory_choose_arrays(self, options, view);
    if (wrong >= 0) {
        *code = wrong;
        return MXP_OK;
    }
    const char *unknown = unknown_of(view);
    if (unknown != NULL) {
        *code = *code == MXP_EXIT_FINE ? MXP_EXIT_UNKNOWN : *code;
    }
    if (options->json) {
        return mxp__memory_json(view, out);
    }
    if (unknown != NULL) {
        mxp__strbuf_printf(out, "process %" PRIu32 ": %s\n", view->source->pid, unknown);
        return MXP_OK;
    }
    return mxp__memory_text(view, out);
}

static void view_fini(mxp_memory_shown *view)
{
    mxp__live_memory_fini(&view->memory);
    mxp__steps_fini(&view->steps);
    mxp__filter_fini(&view->filter);
}

int mxp__memory_document(const mxp_command *command, mxp_input *input, mxp_source *process,
                         mxp_strbuf *out, bool *is_known)
{
    const mxp_memory_options options = {.json = true, .selection = {.top_count = DEFAULT_TOP}};
    mxp_memory_shown view = {
        .source = process, .top = DEFAULT_TOP, .is_several = input->source->process_count > 1};
    int code = MXP_EXIT_FINE;
    const int error = show_process(command, input, &options, &view, out, &code);
    *is_known = view.memory.count > 0;
    view_fini(&view);
    return error;
}

// One code of several processes: that of an error, else 3 if there was an answer of none.
static int code_of_all(int code, int of_one, bool *is_answered)
{
    *is_answered |= of_one == MXP_EXIT_FINE;
    return of_one == MXP_EXIT_FINE || of_one == MXP_EXIT_UNKNOWN ? code : of_one;
}

static int show_processes(const mxp_command *self, mxp_input *input,
                          const mxp_memory_options *options, mxp_strbuf *out, int *code)
{
    int error = MXP_OK;
    mxp_screen screen;
    mxp__screen_look(STDOUT_FILENO, &screen);
    bool is_several = input->source->process_count > 1, is_answered = false, fits = false;
    mxp__strbuf_puts(out, options->json && is_several ? "[\n" : "");
    for (size_t i = 0; error == MXP_OK && *code == MXP_EXIT_FINE; i++) {
        mxp_memory_shown view = {.source = mxp__source_process(input->source, i),
                                 .what = options->growth  ? MXP_MEMORY_GROWTH
                                         : options->fresh ? MXP_MEMORY_FRESH
                                         : options->later ? MXP_MEMORY_LATER
                                                          : MXP_MEMORY_PEAK,
                                 .by = options->by,
                                 .top = options->selection.top_count,
                                 .is_several = is_several,
                                 .screen = screen};
        if (view.source == NULL) {
            break;
        }
        int of_one = MXP_EXIT_FINE;
        mxp__strbuf_puts(out, options->json && out->length > 2 ? ",\n" : "");
        error = show_process(self, input, options, &view, out, &of_one);
        *code = code_of_all(*code, of_one, &is_answered);
        fits |= view.fits_arrays;
        view_fini(&view);
    }
    mxp__strbuf_puts(out, options->json && is_several ? "]\n" : "");
    if (error == MXP_OK && *code == MXP_EXIT_FINE && is_answered && !fits) {
        *code = mxp__usage_error(self, "no array of any process fits '%s'",
                                 options->selection.names.words[0]);
    } else if (*code == MXP_EXIT_FINE && !is_answered) {
        *code = MXP_EXIT_UNKNOWN;
    }
    return error;
}

// The processes share the selection, in which arrays are not among a filter's names.
static int share(const mxp_command *self, mxp_input *input, mxp_memory_options *options)
{
    size_t *names = &options->selection.filter.counts[MXP_FILTER_NAME];
    const size_t count = *names;
    *names = 0;
    const int code = mxp__selection_share(self, &options->selection, input->source);
    *names = count;
    return code < 0 ? MXP_EXIT_FINE : code;
}

static int show_file(const mxp_command *self, const char *file, mxp_memory_options *options)
{
    mxp_input input;
    mxp_strbuf out = {0};
    if (mxp__input_open(self, file, &input) != MXP_OK) {
        return MXP_EXIT_ERROR;
    }
    int code = share(self, &input, options);
    if (code == MXP_EXIT_FINE && show_processes(self, &input, options, &out, &code) != MXP_OK) {
        code = mxp__command_failed(self);
    } else if (code == MXP_EXIT_FINE || code == MXP_EXIT_UNKNOWN) {
        int printed = mxp__output_print(self, &out);
        printed = printed == MXP_EXIT_FINE ? mxp__input_exit_code(&input) : printed;
        code = printed == MXP_EXIT_FINE ? code : printed;
    }
    mxp__strbuf_fini(&out);
    mxp__input_close(&input);
    return code;
}

static int run(const mxp_command *self, int count, char **arguments)
{
    static const char *const by_words[] = {[MXP_MEMORY_BY_SCOPE] = "scope",
                                           [MXP_MEMORY_BY_ARRAY] = "array",
                                           [MXP_MEMORY_BY_CATEGORY] = "category",
                                           [MXP_MEMORY_BY_OWNER] = "owner",
                                           NULL};
    mxp_memory_options chosen = {.selection = {.top_count = DEFAULT_TOP}};
    const mxp_option options[] = {
        {.name = "--at", .text = &chosen.at},
        {.name = "--growth", .number = &chosen.growth},
        {.name = "--fresh", .number = &chosen.fresh},
        {.name = "--later", .number = &chosen.later},
        {.name = "--by", .words = by_words, .number = &chosen.by},
        {.name = "--top", .text = &chosen.selection.top},
        MXP_WINDOW_OPTIONS(&chosen.selection),
        {.name = "--name", .list = &chosen.selection.names},
        {.name = "--scope", .list = &chosen.selection.scopes},
        {.name = "--json", .number = &chosen.json},
        {.name = NULL},
    };
    const char *file;
    int code = mxp__options_parse(self, options, count, arguments, &file);
    if (code >= 0) {
        return code;
    }
    if (chosen.growth + chosen.fresh + chosen.later > 1) {
        return mxp__usage_error(self,
                                "--growth, --fresh and --later are three tables; ask for one");
    }
    if (chosen.at != NULL && chosen.growth + chosen.fresh + chosen.later > 0) {
        return mxp__usage_error(self, "--at is for the table of one moment, and not for "
                                      "--growth, --fresh or --later");
    }
    code = mxp__selection_check(self, &chosen.selection);
    return code >= 0 ? code : show_file(self, file, &chosen);
}

const mxp_command mxp__command_memory = {
    .name = "memory",
    .summary = "who held the memory at its peak, and whether it grows",
    .help = help,
    .run = run,
};
