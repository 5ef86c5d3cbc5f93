// SPDX-License-Identifier: Apache-2.0
// mxprof at: what every thread was doing at one moment.
#include <inttypes.h>
#include <mxprof/error.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "command.h"
#include "instances/arguments.h"
#include "instances/life_print.h"
#include "instances/moment.h"
#include "instances/thread_labels.h"
#include "profiler/trace/merge.h"
#include "selection.h"
#include "text/figure.h"
#include "text/label.h"
#include "text/text_table.h"

static const char help[] =
    "mxprof at prints what every thread was doing at one moment: the spans that were open, what\n"
    "they were about, since when and how much longer; asynchronous spans and counters too.\n"
    "\n"
    "usage: mxprof at [OPTIONS] FILE TIME\n"
    "\n"
    "  TIME            of the trace: 1.5, 1.5s, 20ms; +0.5s after its begin, -50ms before its "
    "end,\n"
    "                  or `end`, where a process that died was\n"
    "  --unit UNIT     one unit for all times: ns, us, ms or s; else each has one that fits\n"
    "  --json          as JSON, times in ns\n"
    "\n"
    "examples\n"
    "  mxprof at profile.mxp 1.5s\n"
    "  mxprof at core end\n"
    "\n"
    "exit code: 0 fine, 1 cannot be read or is damaged (what could be read is shown), 2 wrong "
    "call,\n"
    "3 nothing was recorded at that time\n";

typedef struct at_options {
    int json, unit;
    char sign;  // '+', '-', 'e' of `end`, or 0
    int64_t ns;
} at_options;

typedef struct at_state {
    const mxp_command *command;
    const at_options *options;
    mxp_input *input;
    mxp_screen screen;
    int64_t first_ns, last_ns, at_ns;
    mxp_text_table table;
    mxp_thread_labels labels;
    mxp_json json;
    mxp_strbuf out;
    bool is_damaged;
} at_state;

static bool parse_time(const char *text, at_options *options)
{
    options->sign = strcmp(text, "end") == 0 ? 'e' : 0;
    if (options->sign == 'e') {
        return true;
    }
    options->sign = text[0] == '+' || text[0] == '-' ? text[0] : 0;
    return mxp__duration_parse(text + (options->sign != 0), &options->ns);
}

// ---- text --------------------------------------------------------------------------------------
static void put_open(at_state *self, const mxp_instance *instance, bool of_thread)
{
    enum { INDENT = 2 };
    mxp_text_table *table = &self->table;
    const mxp_source *source = instance->source;
    mxp_name_view name = source->name(source, instance->name);
    mxp_strbuf *cell = mxp__text_cell(table);
    if (of_thread) {
        mxp__put_thread(&self->labels, &self->screen, source, instance->thread,
                        self->input->source->process_count > 1, cell);
    } else {
        mxp__strbuf_puts(cell, "async");
    }
    cell = mxp__text_cell(table);
    for (uint32_t i = 0; i < INDENT * instance->depth; i++) {
        mxp__strbuf_putc(cell, ' ');
    }
    mxp__put_label(&self->screen, name.text, name.length, cell);
    mxp__put_duration(&self->screen, (double)(self->at_ns - instance->begin_ns),
                      mxp__text_cell(table));
    cell = mxp__text_cell(table);
    if ((instance->flags & MXP_SPAN_OPEN_AT_CRASH) != 0 && instance->kind == MXP_KIND_SPAN) {
        mxp__strbuf_puts(cell, "no end");
    } else {
        mxp__put_duration(&self->screen, (double)(instance->end_ns - self->at_ns), cell);
    }
    mxp__put_args(&self->screen, instance, mxp__text_cell(table));
    mxp__text_row(table, MXP_LOOK_PLAIN);
}

static void put_idle(at_state *self, const mxp_moment *moment, uint32_t thread)
{
    const mxp_source *source = moment->source;
    int64_t since = moment->idle_since_ns[thread];
    mxp__put_thread(&self->labels, &self->screen, source, thread,
                    self->input->source->process_count > 1, mxp__text_cell(&self->table));
    mxp__strbuf_puts(mxp__text_cell(&self->table), "(in no span)");
    mxp_strbuf *cell = mxp__text_cell(&self->table);
    if (since != INT64_MIN) {
        mxp__put_duration(&self->screen, (double)(moment->at_ns - since), cell);
    }
    mxp__text_row(&self->table, MXP_LOOK_FAINT);
}

// Of a thread that had begun by then and not ended.
static bool was_there(const mxp_moment *moment, uint32_t thread)
{
    const mxp_thread_entry *entry = &moment->source->threads[thread];
    const mxp_timebase *timebase = moment->source->timebase;
    bool begun = mxp__timebase_ns(timebase, entry->start_ticks) <= moment->at_ns;
    bool ended =
        entry->end_ticks != 0 && mxp__timebase_ns(timebase, entry->end_ticks) <= moment->at_ns;
    return moment->idle_since_ns[thread] != INT64_MIN || (begun && !ended);
}

// What was open, thread by thread: the first of each, and the one after each, from 1 on; 0: none.
typedef struct thread_lists {
    uint32_t *first, *next;
    size_t threads, count;
} thread_lists;

static int make_lists(const mxp_moment *moment, thread_lists *lists)
{
    const size_t threads = moment->source->thread_count, count = moment->open.count;
    *lists = (thread_lists){.first = mxp__alloc(threads * sizeof *lists->first),
                            .next = mxp__alloc(count * sizeof *lists->next),
                            .threads = threads,
                            .count = count};
    if ((lists->first == NULL && threads > 0) || (lists->next == NULL && count > 0)) {
        return mxp__fail_memory("the threads of a moment");
    }
    for (size_t i = count; i-- > 0;) {
        const mxp_instance *instance = &moment->open.all[i];
        if (!instance->is_async) {
            lists->next[i] = lists->first[instance->thread];
            lists->first[instance->thread] = (uint32_t)i + 1;
        }
    }
    return MXP_OK;
}

static void free_lists(thread_lists *lists)
{
    mxp__free(lists->first, lists->threads * sizeof *lists->first);
    mxp__free(lists->next, lists->count * sizeof *lists->next);
}

static int put_threads(at_state *self, const mxp_moment *moment)
{
    thread_lists lists;
    const int error = make_lists(moment, &lists);
    for (uint32_t thread = 0; error == MXP_OK && thread < lists.threads; thread++) {
        for (uint32_t at = lists.first[thread]; at != 0; at = lists.next[at - 1]) {
            put_open(self, &moment->open.all[at - 1], true);
        }
        if (lists.first[thread] == 0 && was_there(moment, thread)) {
            put_idle(self, moment, thread);
        }
    }
    free_lists(&lists);
    for (size_t i = 0; i < moment->open.count; i++) {
        if (moment->open.all[i].is_async) {
            put_open(self, &moment->open.all[i], false);
        }
    }
    return error;
}

static double value_of(const mxp_moment_counter *counter)
{
    double number = 0;
    mxp__arg_number(counter->type, counter->bits, &number);
    return number;
}

static void put_counters(at_state *self, const mxp_moment *moment)
{
    for (size_t i = 0; i < moment->counter_count; i++) {
        const mxp_moment_counter *counter = &moment->counters[i];
        mxp_name_view name = moment->source->name(moment->source, counter->name);
        mxp__strbuf_puts(mxp__text_cell(&self->table), "counter");
        mxp__put_label(&self->screen, name.text, name.length, mxp__text_cell(&self->table));
        mxp__put_duration(&self->screen, (double)(moment->at_ns - counter->at_ns),
                          mxp__text_cell(&self->table));
        mxp__strbuf_puts(mxp__text_cell(&self->table), "");
        mxp_strbuf *cell = mxp__text_cell(&self->table);
        if (name.unit == MXP_UNIT_BYTES) {
            mxp__put_bytes(value_of(counter), cell);
        } else {
            mxp__strbuf_printf(cell, "%.12g", value_of(counter));
        }
        mxp__text_row(&self->table, MXP_LOOK_PLAIN);
    }
}

static void put_title(at_state *self, const mxp_moment *moment)
{
    mxp__look_begin(&self->screen, MXP_LOOK_TOTAL, &self->out);
    mxp__strbuf_printf(&self->out, "at %.6f s", (double)moment->at_ns / 1e9);
    if (moment->has_step) {
        mxp__strbuf_printf(&self->out, ", in step %" PRIu64 " for ", moment->step);
        mxp__put_duration(&self->screen, (double)(moment->at_ns - moment->step_begin_ns),
                          &self->out);
    }
    mxp__look_end(&self->screen, MXP_LOOK_TOTAL, &self->out);
    mxp__strbuf_puts(&self->out, "\n\n");
}

static int put_text(at_state *self, const mxp_moment *moment)
{
    static const mxp_text_column columns[] = {{"thread", MXP_COLUMN_NAME, 0},
                                              {"what", MXP_COLUMN_NAME, 0},
                                              {"since", MXP_COLUMN_RIGHT, 0},
                                              {"more", MXP_COLUMN_RIGHT, 2},
                                              {"with", MXP_COLUMN_NAME, 1}};
    put_title(self, moment);
    mxp__text_table_init(&self->table, &self->screen, columns, sizeof columns / sizeof columns[0]);
    const int error = put_threads(self, moment);
    put_counters(self, moment);
    mxp__text_table_put(&self->table, &self->out);
    mxp__text_table_fini(&self->table);
    return error;
}

// ---- JSON --------------------------------------------------------------------------------------
static int put_json(at_state *self, const mxp_moment *moment)
{
    mxp_json *json = &self->json;
    mxp__json_object(json, NULL);
    mxp__json_u64(json, "process", moment->source->pid);
    mxp__json_i64(json, "at_ns", moment->at_ns);
    if (moment->has_step) {
        mxp__json_u64(json, "step", moment->step);
        mxp__json_i64(json, "step_begin_ns", moment->step_begin_ns);
    }
    mxp__json_array(json, "open");
    for (size_t i = 0; i < moment->open.count; i++) {
        mxp__json_row(json, NULL);
        mxp__instance_json(json, &moment->open.all[i]);
        mxp__json_end(json);
    }
    mxp__json_end(json);
    mxp__json_array(json, "counters");
    for (size_t i = 0; i < moment->counter_count; i++) {
        mxp_name_view name = moment->source->name(moment->source, moment->counters[i].name);
        mxp__json_row(json, NULL);
        mxp__json_bytes(json, "name", name.text, name.length);
        mxp__json_number(json, "value", value_of(&moment->counters[i]));
        mxp__json_i64(json, "set_at_ns", moment->counters[i].at_ns);
        mxp__json_end(json);
    }
    mxp__json_end(json);
    mxp__json_end(json);
    return MXP_OK;
}

// ---- the command -------------------------------------------------------------------------------
static int find_extent(at_state *self)
{
    mxp_source *process;
    bool any = false;
    int error = MXP_OK;
    for (size_t i = 0;
         error == MXP_OK && (process = mxp__source_process(self->input->source, i)) != NULL; i++) {
        int64_t first, last;
        if (mxp__recorded_extent(process, &first, &last, &error)) {
            self->first_ns = !any || first < self->first_ns ? first : self->first_ns;
            self->last_ns = !any || last > self->last_ns ? last : self->last_ns;
            any = true;
        }
    }
    if (error != MXP_OK) {
        return mxp__command_failed(self->command);
    }
    if (!any) {
        fprintf(stderr, "mxprof %s: nothing was recorded that lasts\n", self->command->name);
        return MXP_EXIT_UNKNOWN;
    }
    return -1;
}

static int find_moment(at_state *self)
{
    const at_options *options = self->options;
    int code = find_extent(self);
    if (code >= 0) {
        return code;
    }
    self->at_ns = options->sign == 'e'   ? self->last_ns
                  : options->sign == '+' ? self->first_ns + options->ns
                  : options->sign == '-' ? self->last_ns - options->ns
                                         : options->ns;
    if (self->at_ns < self->first_ns || self->at_ns > self->last_ns) {
        fprintf(stderr,
                "mxprof %s: nothing was recorded at %.6f s; the recording goes from %.6f s to %.6f "
                "s\n",
                self->command->name, (double)self->at_ns / 1e9, (double)self->first_ns / 1e9,
                (double)self->last_ns / 1e9);
        return MXP_EXIT_UNKNOWN;
    }
    return -1;
}

static int put_processes(at_state *self)
{
    bool several = self->input->source->process_count > 1, as_json = self->options->json;
    mxp_source *process;
    int error = MXP_OK;
    if (as_json && several) {
        mxp__json_array(&self->json, NULL);
    }
    for (size_t i = 0;
         error == MXP_OK && (process = mxp__source_process(self->input->source, i)) != NULL; i++) {
        mxp_moment moment;
        mxp__strbuf_puts(&self->out, i > 0 && !as_json ? "\n" : "");
        error = mxp__moment_make(process, self->at_ns, &moment);
        if (error == MXP_OK) {
            error = (as_json ? put_json : put_text)(self, &moment);
        }
        self->is_damaged = self->is_damaged || moment.is_damaged;
        mxp__moment_fini(&moment);
    }
    if (as_json && several) {
        mxp__json_end(&self->json);
    }
    return error;
}

static int at(const mxp_command *command, const char *file, const at_options *options)
{
    mxp_input input;
    if (mxp__input_open(command, file, &input) != MXP_OK) {
        return MXP_EXIT_ERROR;
    }
    at_state self = {.command = command, .options = options, .input = &input};
    self.json.out = &self.out;
    mxp__screen_look(STDOUT_FILENO, &self.screen);
    self.screen.unit = options->unit;
    int code = find_moment(&self);
    if (code < 0 && put_processes(&self) != MXP_OK) {
        code = mxp__command_failed(command);
    }
    if (self.is_damaged) {
        mxp__input_cut_short(command, &input);
    }
    if (code < 0) {
        code = mxp__output_print(command, &self.out);
    }
    code = mxp__input_end(&input, code);
    mxp__thread_labels_fini(&self.labels);
    mxp__strbuf_fini(&self.out);
    mxp__input_close(&input);
    return code;
}

// A time before the end looks like an option; no option begins with a digit.
static const char *take_negative(int *count, char **arguments)
{
    const char *found = NULL;
    int kept = 0;
    for (int i = 0; i < *count; i++) {
        const char *word = arguments[i];
        bool is_time = found == NULL && word[0] == '-' && word[1] >= '0' && word[1] <= '9';
        if (is_time) {
            found = word;
        } else {
            arguments[kept++] = arguments[i];
        }
    }
    *count = kept;
    return found;
}

static int run(const mxp_command *self, int count, char **arguments)
{
    at_options chosen = {0};
    const mxp_option options[] = {
        {.name = "--unit", .words = mxp__unit_words, .number = &chosen.unit},
        {.name = "--json", .number = &chosen.json},
        {.name = NULL},
    };
    int files;
    const char *time = take_negative(&count, arguments);
    int code = mxp__options_parse_all(self, options, count, arguments, &files);
    if (code >= 0) {
        return code;
    }
    if (files + (time != NULL) != 2) {
        return mxp__usage_error(self, "a file and a time; for example: mxprof at %s 1.5s",
                                arguments[0]);
    }
    time = time != NULL ? time : arguments[1];
    if (!parse_time(time, &chosen)) {
        return mxp__usage_error(self,
                                "a time is such as 1.5, 1.5s, 20ms, +0.5s, -50ms or `end`, not "
                                "'%s'",
                                time);
    }
    mxp__input_take_args();
    return at(self, arguments[0], &chosen);
}

const mxp_command mxp__command_at = {
    .name = "at",
    .summary = "what every thread was doing at a moment",
    .help = help,
    .example = "profile.mxp 1.5s",
    .run = run,
};
