// SPDX-License-Identifier: Apache-2.0
// mxprof show: one life, of a request or a step, across threads.
#include <errno.h>
#include <inttypes.h>
#include <mxprof/error.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "command.h"
#include "coverage.h"
#include "instances/collect.h"
#include "instances/life_print.h"
#include "instances/nearest.h"
#include "profiler/trace/merge.h"

static const char help[] =
    "mxprof show prints one life: everything that was done for one request, or in one step, on\n"
    "whichever threads, in time, with its arguments and with the times in which nothing was.\n"
    "\n"
    "usage: mxprof show [OPTIONS] FILE\n"
    "\n"
    "  --arg KEY=VALUE  spans with this argument, and what ran inside of them on their threads\n"
    "  --id ID          the same for asynchronous spans with this id, spans with this context, "
    "and\n"
    "                   spans that a flow with this id goes through\n" MXP_WINDOW_HELP
    "                  alone: everything in there; with --arg or --id: spans in there\n"
    "  --all           all rows, however short; of a value that many lives share, all of them\n"
    "  --unit UNIT     one unit for all times: ns, us, ms or s; else each has one that fits\n"
    "  --json          as JSON, times in ns\n"
    "\n"
    "Times are counted from the begin of the life. Its length is divided among what was begun "
    "last\n"
    "at each moment; the line at the end has the largest parts. A value that is in more than "
    "eight\n"
    "spans of one name belongs to many lives: then the longest of these spans are listed.\n"
    "\n"
    "examples\n"
    "  mxprof show --arg request=137 server.mxp\n"
    "  mxprof show --step slowest profile.mxp\n"
    "  mxprof show --arg request=137 core\n"
    "\n"
    "exit code: 0 fine, 1 cannot be read or is damaged (what could be read is shown), 2 wrong "
    "call\n"
    "or a key that there is not, 3 there is no such value, id or step\n";

enum { OF_ONE_NAME = 8, LISTED = 20 };

typedef struct show_options {
    const char *arg, *id;
    int all, json, unit;
    mxp_selection selection;
} show_options;

typedef struct showing {
    const mxp_command *command;
    const show_options *options;
    mxp_input *input;
    mxp_screen screen;
    mxp_collected found;
    mxp_nearest nearest;  // keys of all processes
    uint64_t id;
    int64_t begin_ns, end_ns;
    mxp_strbuf title;
    mxp_strbuf out;
} showing;

static bool has_several(const showing *self)
{
    return self->input->source->process_count > 1;
}

__attribute__((format(printf, 3, 4))) static int refuse(const showing *self, int code,
                                                        const char *format, ...)
{
    fprintf(stderr, "mxprof %s: ", self->command->name);
    va_list values;
    va_start(values, format);
    vfprintf(stderr, format, values);
    va_end(values);
    fputc('\n', stderr);
    return code;
}

// ---- what there is instead ---------------------------------------------------------------------
static int refuse_key(const showing *self, const char *key)
{
    mxp_strbuf text = {0};
    mxp__nearest_put(&self->nearest, &text);
    int code = text.length > 0
                   ? refuse(self, MXP_EXIT_USAGE, "no span has an argument '%s'; there are: %s",
                            key, mxp__strbuf_text(&text))
                   : refuse(self, MXP_EXIT_USAGE,
                            "no span has an argument '%s', nor any other; mxp_begin_args and "
                            "MXP_ARG give them in the program",
                            key);
    mxp__strbuf_fini(&text);
    return code;
}

static int refuse_value(const showing *self, const char *key, const char *value)
{
    const mxp_collected *found = &self->found;
    if (found->with_value > 0) {
        return refuse(self, MXP_EXIT_UNKNOWN, "no span with %s=%s is in what was chosen", key,
                      value);
    }
    if (found->has_numbers) {
        return refuse(self, MXP_EXIT_UNKNOWN, "no span has %s=%s; it is from %.17g to %.17g here",
                      key, value, found->least, found->most);
    }
    return refuse(self, MXP_EXIT_UNKNOWN, "none of %" PRIu64 " spans with '%s' has the value '%s'",
                  found->with_key, key, value);
}

// ---- many lives --------------------------------------------------------------------------------
static int longest_first(const void *a, const void *b)
{
    const mxp_instance *x = a, *y = b;
    int64_t left = mxp__instance_ns(x), right = mxp__instance_ns(y);
    if (left != right) {
        return left < right ? 1 : -1;
    }
    return x->begin_ns != y->begin_ns ? (x->begin_ns > y->begin_ns ? 1 : -1)
                                      : (x->thread > y->thread) - (x->thread < y->thread);
}

static int by_name(const void *a, const void *b)
{
    const mxp_instance *x = a, *y = b;
    if (x->source != y->source) {
        return x->source < y->source ? -1 : 1;
    }
    return (x->name > y->name) - (x->name < y->name);
}

static bool is_of_many(mxp_instances *carriers)
{
    if (carriers->count > 1) {
        qsort(carriers->all, carriers->count, sizeof *carriers->all, by_name);
    }
    for (size_t i = OF_ONE_NAME; i < carriers->count; i++) {
        if (by_name(&carriers->all[i - OF_ONE_NAME], &carriers->all[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void list_carriers(showing *self)
{
    mxp_instances *carriers = &self->found.carriers;
    qsort(carriers->all, carriers->count, sizeof *carriers->all, longest_first);
    mxp_instances shown = *carriers;
    shown.count = shown.count < LISTED ? shown.count : LISTED;
    if (self->options->json) {
        mxp_json json = {.out = &self->out};
        mxp__json_object(&json, NULL);
        mxp__json_text(&json, "of", mxp__strbuf_text(&self->title));
        mxp__json_u64(&json, "spans", carriers->count);
        mxp__json_array(&json, "longest");
        for (size_t i = 0; i < shown.count; i++) {
            mxp__json_row(&json, NULL);
            mxp__instance_json(&json, &shown.all[i]);
            mxp__json_end(&json);
        }
        mxp__json_end(&json);
        mxp__json_end(&json);
        return;
    }
    mxp__strbuf_printf(&self->out,
                       "%s is in %zu spans, which are of many lives (--all shows them as one); the "
                       "longest:\n\n",
                       mxp__strbuf_text(&self->title), carriers->count);
    mxp__instances_put(&shown, has_several(self), &self->screen, &self->out);
}

// ---- one life ----------------------------------------------------------------------------------
static void find_extent(showing *self)
{
    const mxp_instances *carriers = &self->found.carriers;
    for (size_t i = 0; i < carriers->count; i++) {
        const mxp_instance *at = &carriers->all[i];
        self->begin_ns = i == 0 || at->begin_ns < self->begin_ns ? at->begin_ns : self->begin_ns;
        self->end_ns = i == 0 || at->end_ns > self->end_ns ? at->end_ns : self->end_ns;
    }
}

// Of a ring the begin of a life may have made room.
static int note_ring(const showing *self)
{
    mxp_source *process;
    int error = MXP_OK;
    for (size_t i = 0;
         error == MXP_OK && (process = mxp__source_process(self->input->source, i)) != NULL; i++) {
        mxp_coverage coverage;
        error = mxp__coverage_make(process, &coverage);
        if (error == MXP_OK && coverage.is_ring && coverage.overwritten &&
            self->begin_ns < coverage.complete_ns) {
            fprintf(stderr,
                    "mxprof %s: note: the ring holds all threads only from %.6f s on; what is "
                    "before that may be missing here\n",
                    self->command->name, (double)coverage.complete_ns / 1e9);
        }
        mxp__coverage_fini(&coverage);
    }
    return error;
}

static int print_life(showing *self)
{
    mxp_life life;
    int error = note_ring(self);
    if (error == MXP_OK) {
        error = mxp__collected_finish(&self->found);
    }
    if (error == MXP_OK) {
        error = mxp__life_make(&self->found.rows, self->begin_ns, self->end_ns, &life);
    }
    if (error != MXP_OK) {
        return mxp__command_failed(self->command);
    }
    mxp__life_warn(&life, self->command->name, mxp__strbuf_text(&self->title));
    mxp_life_view view = {.title = mxp__strbuf_text(&self->title),
                          .rows = &self->found.rows,
                          .life = &life,
                          .several_processes = has_several(self),
                          .all_rows = self->options->all};
    if (self->options->json) {
        mxp__life_json(&view, &self->out);
    } else {
        mxp__life_put(&view, &self->screen, &self->out);
    }
    mxp__life_fini(&life);
    return MXP_EXIT_FINE;
}

static int print_carriers(showing *self)
{
    if (!self->options->all && is_of_many(&self->found.carriers)) {
        list_carriers(self);
        return MXP_EXIT_FINE;
    }
    find_extent(self);
    return print_life(self);
}

// ---- by argument, id, step ---------------------------------------------------------------------
typedef int (*collector)(showing *self, mxp_source *process, const mxp_selected *within);

// -1, or the exit code after an error line.
static int collect(showing *self, collector collect_one)
{
    mxp_source *process;
    mxp_selection selection = self->options->selection;
    int code = mxp__selection_share(self->command, &selection, self->input->source);
    for (size_t i = 0; code < 0 && (process = mxp__source_process(self->input->source, i)) != NULL;
         i++) {
        mxp_selected within;
        code = mxp__selected_make(self->command, &selection, process, &within);
        if (code < 0 && collect_one(self, process, &within) != MXP_OK) {
            code = mxp__command_failed(self->command);
        }
        mxp__selected_fini(&within);
    }
    return code;
}

static void offer_keys(showing *self)
{
    const mxp_collected *found = &self->found;
    for (size_t i = 0; i < found->keys.count; i++) {
        mxp_name_view name = found->keys_of->name(found->keys_of, found->keys.ids[i]);
        mxp__nearest_offer(&self->nearest, name.text, name.length);
    }
}

static int collect_arg(showing *self, mxp_source *process, const mxp_selected *within)
{
    const char *arg = self->options->arg, *value = strchr(arg, '=');
    int error =
        mxp__collect_arg(process, within, arg, (size_t)(value - arg), value + 1, &self->found);
    offer_keys(self);
    return error;
}

static int show_arg(showing *self)
{
    const char *arg = self->options->arg, *value = strchr(arg, '=');
    mxp_strbuf key = {0};
    mxp__strbuf_append(&key, arg, (size_t)(value - arg));
    self->nearest.word = mxp__strbuf_text(&key);
    int code = collect(self, collect_arg);
    if (code < 0) {
        mxp__strbuf_puts(&self->title, arg);
        code = self->found.carriers.count > 0 ? print_carriers(self)
               : self->found.with_key == 0    ? refuse_key(self, mxp__strbuf_text(&key))
                                           : refuse_value(self, mxp__strbuf_text(&key), value + 1);
    }
    mxp__strbuf_fini(&key);
    return code;
}

static int collect_id(showing *self, mxp_source *process, const mxp_selected *within)
{
    return mxp__collect_id(process, within, self->id, self->options->id, &self->found);
}

static int show_id(showing *self)
{
    char *end;
    errno = 0;
    self->id = strtoull(self->options->id, &end, 0);
    if (end == self->options->id || *end != '\0' || errno != 0 || self->id == 0) {
        return mxp__usage_error(self->command, "--id is a number above 0, not '%s'",
                                self->options->id);
    }
    int code = collect(self, collect_id);
    if (code >= 0) {
        return code;
    }
    mxp__strbuf_printf(&self->title, "id %" PRIu64, self->id);
    return self->found.carriers.count > 0
               ? print_carriers(self)
               : refuse(self, MXP_EXIT_UNKNOWN,
                        "no asynchronous span, context or flow has the id %" PRIu64, self->id);
}

// "step 37, slowest"; "steps 3:5"; "window".
static void put_window_title(showing *self, const mxp_selected *selected)
{
    const mxp_choice *choice = &selected->choice;
    const char *step = self->options->selection.step;
    if (choice->steps == NULL || step == NULL) {
        mxp__strbuf_puts(&self->title, "window");
        return;
    }
    if (choice->step_count != 1) {
        mxp__strbuf_printf(&self->title, "steps %s", step);
        return;
    }
    for (size_t i = 0; i < choice->of->count; i++) {
        if (choice->steps[i]) {
            mxp__strbuf_printf(&self->title, "step %" PRIu64 "%s%s", choice->of->all[i].number,
                               step[0] >= 'a' ? ", " : "", step[0] >= 'a' ? step : "");
        }
    }
}

// What all processes did from begin to end.
static int show_extent(showing *self)
{
    mxp_source *process;
    int error = MXP_OK;
    for (size_t i = 0;
         error == MXP_OK && (process = mxp__source_process(self->input->source, i)) != NULL; i++) {
        error = mxp__collect_time(process, self->begin_ns, self->end_ns, &self->found);
    }
    return error == MXP_OK ? print_life(self) : mxp__command_failed(self->command);
}

// Of several processes steps are each one's own, and a time is that of all.
static int show_window_of_several(showing *self)
{
    mxp_selection selection = self->options->selection;
    if (selection.step != NULL) {
        return refuse(self, MXP_EXIT_UNKNOWN,
                      "there are %zu processes, each with its own steps; show one file at a time, "
                      "or choose a time with --from and --until",
                      self->input->source->process_count);
    }
    const int code = mxp__selection_share(self->command, &selection, self->input->source);
    if (code >= 0) {
        return code;
    }
    self->begin_ns = selection.shared_from_ns;
    self->end_ns = selection.shared_until_ns;
    mxp__strbuf_puts(&self->title, "window");
    return show_extent(self);
}

// A step, or a time.
static int show_window(showing *self)
{
    mxp_source *process = mxp__source_process(self->input->source, 0);
    const mxp_selection *selection = &self->options->selection;
    mxp_selected selected;
    int code = mxp__selected_make(self->command, selection, process, &selected);
    if (code < 0) {
        mxp__selected_extent(&selected, &self->begin_ns, &self->end_ns);
        put_window_title(self, &selected);
        code = show_extent(self);
    }
    mxp__selected_fini(&selected);
    return code;
}

// ---- the command -------------------------------------------------------------------------------
static int show(const mxp_command *command, const char *file, const show_options *options)
{
    mxp_input input;
    if (mxp__input_open(command, file, &input) != MXP_OK) {
        return MXP_EXIT_ERROR;
    }
    showing self = {.command = command, .options = options, .input = &input};
    mxp__screen_look(STDOUT_FILENO, &self.screen);
    self.screen.unit = options->unit;
    int code = options->arg != NULL  ? show_arg(&self)
               : options->id != NULL ? show_id(&self)
               : has_several(&self)  ? show_window_of_several(&self)
                                     : show_window(&self);
    if (self.found.is_damaged) {
        mxp__input_cut_short(command, &input);
    }
    if (code == MXP_EXIT_FINE) {
        code = mxp__output_print(command, &self.out);
    }
    code = mxp__input_end(&input, code);
    mxp__collected_fini(&self.found);
    mxp__strbuf_fini(&self.title);
    mxp__strbuf_fini(&self.out);
    mxp__input_close(&input);
    return code;
}

static int run(const mxp_command *self, int count, char **arguments)
{
    show_options chosen = {0};
    const mxp_option options[] = {
        {.name = "--arg", .text = &chosen.arg},
        {.name = "--id", .text = &chosen.id},
        MXP_WINDOW_OPTIONS(&chosen.selection),
        {.name = "--all", .number = &chosen.all},
        {.name = "--unit", .words = mxp__unit_words, .number = &chosen.unit},
        {.name = "--json", .number = &chosen.json},
        {.name = NULL},
    };
    const char *file;
    int code = mxp__options_parse(self, options, count, arguments, &file);
    if (code >= 0) {
        return code;
    }
    bool has_window = mxp__selection_has_window(&chosen.selection);
    if ((chosen.arg != NULL && chosen.id != NULL) ||
        (chosen.arg == NULL && chosen.id == NULL && !has_window)) {
        return mxp__usage_error(self,
                                "whose life? Give one of --arg KEY=VALUE, --id ID and --step N");
    }
    const char *value = chosen.arg != NULL ? strchr(chosen.arg, '=') : NULL;
    if (chosen.arg != NULL && (value == NULL || value == chosen.arg)) {
        return mxp__usage_error(self, "--arg is KEY=VALUE, not '%s'", chosen.arg);
    }
    code = mxp__selection_check(self, &chosen.selection);
    if (code >= 0) {
        return code;
    }
    mxp__input_take_args();
    return show(self, file, &chosen);
}

const mxp_command mxp__command_show = {
    .name = "show",
    .summary = "one request's or step's life across threads",
    .help = help,
    .example = "--arg request=137 profile.mxp",
    .run = run,
};
