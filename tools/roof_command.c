// SPDX-License-Identifier: Apache-2.0
// mxprof roof: how fast operators were beside what the machine that they ran on can do.
#include <inttypes.h>
#include <mxprof/error.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "ceilings_of_trace.h"
#include "command.h"
#include "coverage.h"
#include "profiler/analysis/path/path_rows.h"
#include "profiler/trace/merge.h"
#include "roof_shown.h"
#include "selection.h"
#include "text/json_writer.h"

static const char help[] =
    "mxprof roof tells how near operators come to what the machine can do: those that are far "
    "from\n"
    "it can become faster, the others only if they have less to do.\n"
    "\n"
    "usage: mxprof roof [OPTIONS] FILE|DIRECTORY\n"
    "       mxprof roof --measure [--ceilings FILE]\n"
    "\n"
    "  --measure        measures the ceilings of this machine, in some seconds; nothing else "
    "should\n"
    "                   run. They are kept in the user's cache, for traces of this machine\n"
    "  --ceilings FILE  takes the ceilings from there (or measures them into it): of a trace from\n"
    "                   another machine, those that were measured on it\n"
    "  --top N          operators at most (15)\n"
    "  --unit UNIT      auto (default), ns, us, ms or s\n"
    "  --json           everything as JSON\n"
    "\n" MXP_WINDOW_HELP
    "  --name GLOB      operators of these names; --scope GLOB those of these scopes\n"
    "\n"
    "Ceilings are multiply-adds from registers, and bytes a second from each level of cache and "
    "from\n"
    "memory (a triad, whose three streams count), with all threads. The ceiling of an operator is "
    "the\n"
    "one that takes it longest: its floating-point operations, or its inputs and outputs read and\n"
    "written once, from the smallest level that holds them. Rows are of calls with equal shapes.\n"
    "'above' is the time beyond what the ceiling allows; operators are in the order of what of "
    "that\n"
    "is on the critical path. Where an operator is above 105 % of its ceiling, the ceilings are\n"
    "void, and no share is told.\n"
    "\n"
    "examples\n"
    "  mxprof roof --measure\n"
    "  mxprof roof profile.mxp\n"
    "  mxprof roof --measure --ceilings server.txt      on the server, then here:\n"
    "  mxprof roof --ceilings server.txt profile.mxp\n"
    "\n"
    "exit code: 0 fine, 1 cannot be read or is damaged (what could be read is shown), 2 wrong "
    "call,\n"
    "3 what was asked cannot be answered from this trace, or with these ceilings\n";

typedef struct roof_options {
    const char *ceilings;
    int measure, json, unit;
    mxp_selection selection;
} roof_options;

// ---- measuring ---------------------------------------------------------------------------------
static int write_ceilings(const mxp_command *self, const mxp_ceilings *ceilings, const char *path)
{
    mxp_strbuf text = {0};
    mxp_output output;
    mxp__ceilings_write(ceilings, &text);
    int error = text.failed ? mxp__fail_memory("the ceilings") : mxp__output_open(path, &output);
    if (error == MXP_OK) {
        error = output.sink.write(&output.sink, text.data, text.length);
        int closed = mxp__output_close(&output, error == MXP_OK);
        error = error == MXP_OK ? closed : error;
    }
    mxp__strbuf_fini(&text);
    return error == MXP_OK ? MXP_EXIT_FINE : mxp__command_failed(self);
}

static int measure(const mxp_command *self, const roof_options *options)
{
    mxp_ceilings ceilings;
    mxp_strbuf path = {0}, out = {0};
    int code = MXP_EXIT_FINE;
    if (mxp__ceilings_measure(&ceilings) != MXP_OK ||
        (options->ceilings == NULL &&
         mxp__ceilings_path(&ceilings.machine, true, &path) != MXP_OK)) {
        code = mxp__command_failed(self);
    } else {
        code = write_ceilings(self, &ceilings,
                              options->ceilings != NULL ? options->ceilings : path.data);
    }
    if (code == MXP_EXIT_FINE) {
        mxp_screen screen;
        mxp__screen_look(STDOUT_FILENO, &screen);
        if (options->json) {
            mxp__ceilings_json(&ceilings, &out);
        } else {
            mxp__ceilings_text(&ceilings, &screen, &out);
            mxp__strbuf_printf(&out, "kept in %s\n",
                               options->ceilings != NULL ? options->ceilings : path.data);
        }
        code = mxp__output_print(self, &out);
    }
    mxp__strbuf_fini(&path);
    mxp__strbuf_fini(&out);
    return code;
}

// ---- what is not known -----------------------------------------------------------------------
// The answer where there is none: why.
static int unknown(const roof_options *options, const mxp_source *source, mxp_strbuf *out,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));
static int unknown(const roof_options *options, const mxp_source *source, mxp_strbuf *out,
                   const char *format, ...)
{
    char text[1024];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    if (options->json) {
        mxp_json json = {.out = out};
        mxp__json_object(&json, NULL);
        mxp__json_u64(&json, "pid", source->pid);
        mxp__json_text(&json, "unknown", text);
        mxp__json_end(&json);
    } else {
        mxp__strbuf_printf(out, "process %" PRIu32 ": %s\n", source->pid, text);
    }
    return MXP_EXIT_UNKNOWN;
}

// -1, or the exit code after an error line.
static int find_ceilings(const mxp_command *self, const roof_options *options,
                         mxp_roof_shown *shown, mxp_strbuf *out)
{
    mxp_strbuf why = {0};
    int code = mxp__ceilings_of_trace(shown->source, options->ceilings, &shown->ceilings, &why);
    if (code == 1) {
        code = unknown(options, shown->source, out, "%s", mxp__strbuf_text(&why));
    } else {
        code = code == MXP_OK ? -1 : mxp__command_failed(self);
    }
    mxp__strbuf_fini(&why);
    return code;
}

// ---- a process ---------------------------------------------------------------------------------
typedef struct group_place {
    uint64_t key;  // name and scope
    size_t group;
} group_place;

static uint64_t key_of(uint32_t name, uint32_t scope)
{
    const uint64_t key = ((uint64_t)scope << 32 | name) + 1;
    return key == 0 ? UINT64_MAX : key;  // ids of damaged records may be any
}

static int find_groups(const mxp_roof *roof, mxp_id_map *places)
{
    *places = (mxp_id_map){.entry_bytes = sizeof(group_place)};
    for (size_t i = 0; i < roof->group_count; i++) {
        group_place *place =
            mxp__id_map_add(places, key_of(roof->groups[i].name, roof->groups[i].scope));
        if (place == NULL) {
            return mxp__fail_memory("the operators on the path");
        }
        place->group = i;
    }
    return MXP_OK;
}

// How much of each group is on the path of the steps. Without it groups keep their run time.
static int add_path(mxp_roof_shown *shown)
{
    if (shown->choice.steps == NULL) {
        return MXP_OK;
    }
    mxp_path_rows rows = {0};
    int error = mxp__path_rows_of_steps(shown->source, &shown->steps, shown->choice.steps,
                                        MXP__GRAPH_BYTES_MAX, &rows);
    mxp_id_map places = {0};
    if (error == MXP_OK) {
        error = find_groups(&shown->roof, &places);
    }
    for (size_t i = 0; error == MXP_OK && i < shown->roof.group_count; i++) {
        shown->roof.groups[i].has_path = true;
    }
    for (size_t i = 0; error == MXP_OK && i < rows.count; i++) {
        const mxp_path_row *row = &rows.rows[i];
        bool runs = row->kind == MXP__PATH_RUN || row->kind == MXP__PATH_COMMUNICATION;
        const group_place *place =
            runs ? mxp__id_map_find(&places, key_of(row->name, row->scope)) : NULL;
        if (place != NULL) {
            shown->roof.groups[place->group].path_ns += row->total_ns;
        }
    }
    mxp__id_map_fini(&places);
    mxp__path_rows_fini(&rows);
    shown->has_path = error == MXP_OK;
    mxp__roof_sort(&shown->roof);
    return error;
}

static int show(const mxp_command *self, mxp_input *input, const roof_options *options,
                mxp_roof_shown *shown, mxp_strbuf *out)
{
    int error = mxp__roof_make(shown->source, &shown->choice, &shown->ceilings, &shown->roof);
    if (error != MXP_OK && error != MXP_ENOMEM) {
        mxp__input_cut_short(self, input);
        error = MXP_OK;
    }
    if (error == MXP_OK && shown->roof.row_count == 0) {
        return unknown(options, shown->source, out, "no operator was recorded");
    }
    if (error == MXP_OK && shown->roof.known_run_ns == 0) {
        return unknown(options, shown->source, out,
                       "no operator tells how much it computes or moves");
    }
    if (error == MXP_OK) {
        error = add_path(shown);
    }
    if (error != MXP_OK) {
        return mxp__command_failed(self);
    }
    if (options->json) {
        mxp__roof_json(shown, out);
    } else {
        mxp__selection_put_no_end(&options->selection, &shown->choice, out);
        mxp__roof_text(shown, out);
    }
    return shown->roof.is_void ? MXP_EXIT_UNKNOWN : MXP_EXIT_FINE;
}

static int show_process(const mxp_command *self, mxp_input *input, const roof_options *options,
                        mxp_roof_shown *shown, mxp_strbuf *out)
{
    int code = find_ceilings(self, options, shown, out);
    if (code >= 0) {
        return code;
    }
    if (mxp__steps_find(shown->source, &shown->steps) != MXP_OK) {
        return mxp__command_failed(self);
    }
    code = mxp__selection_whole_window(self, &options->selection, &shown->steps, &shown->choice);
    if (code < 0) {
        code = mxp__selection_filter(self, &options->selection, shown->source, &shown->filter);
        if (code < 0) {
            code = show(self, input, options, shown, out);
            mxp__filter_fini(&shown->filter);
        }
        mxp__choice_fini(&shown->choice);
    }
    mxp__steps_fini(&shown->steps);
    mxp__roof_fini(&shown->roof);
    return code;
}

// The code of all processes: the first that is an error, else 3 if any is.
static int show_processes(const mxp_command *self, mxp_input *input, const roof_options *options,
                          mxp_strbuf *out)
{
    int code = MXP_EXIT_FINE;
    mxp_screen screen;
    mxp__screen_look(STDOUT_FILENO, &screen);
    screen.unit = options->unit;
    bool is_several = input->source->process_count > 1;
    mxp__strbuf_puts(out, options->json && is_several ? "[\n" : "");
    for (size_t i = 0; code == MXP_EXIT_FINE || code == MXP_EXIT_UNKNOWN; i++) {
        mxp_roof_shown shown = {.source = mxp__source_process(input->source, i),
                                .top = options->selection.top_count,
                                .screen = screen};
        if (shown.source == NULL) {
            break;
        }
        if (is_several && options->json) {
            mxp__strbuf_puts(out, out->length > 2 ? ",\n" : "");
        } else if (is_several) {
            mxp__strbuf_printf(out, "%sprocess %" PRIu32 "\n", i == 0 ? "" : "\n",
                               shown.source->pid);
        }
        int one = show_process(self, input, options, &shown, out);
        code = one != MXP_EXIT_FINE ? one : code;
    }
    mxp__strbuf_puts(out, options->json && is_several ? "]\n" : "");
    return code;
}

static int show_file(const mxp_command *self, const char *file, const roof_options *options)
{
    mxp_input input;
    mxp_strbuf out = {0};
    if (mxp__input_open(self, file, &input) != MXP_OK) {
        return MXP_EXIT_ERROR;
    }
    mxp_strbuf note = {0};
    int code =
        mxp__coverage_take(&input, &note) == MXP_OK ? MXP_EXIT_FINE : mxp__command_failed(self);
    if (code == MXP_EXIT_FINE) {
        roof_options shared = *options;  // its processes share the selection
        mxp__strbuf_puts(&out, options->json ? "" : mxp__strbuf_text(&note));
        code = mxp__selection_share(self, &shared.selection, input.source);
        code = code < 0 ? show_processes(self, &input, &shared, &out) : code;
    }
    mxp__strbuf_fini(&note);
    if (code == MXP_EXIT_FINE || code == MXP_EXIT_UNKNOWN) {
        int printed = mxp__output_print(self, &out);
        printed = printed == MXP_EXIT_FINE ? mxp__input_exit_code(&input) : printed;
        code = printed == MXP_EXIT_FINE ? code : printed;
    }
    mxp__strbuf_fini(&out);
    mxp__input_close(&input);
    return code;
}

// ---- options -----------------------------------------------------------------------------------
// The options are taken apart with one more argument where a file need not be: "-", which is not
// opened.
static int parse(const mxp_command *self, const mxp_option *options, int count, char **arguments,
                 bool needs_file, const char **file)
{
    if (needs_file) {
        return mxp__options_parse(self, options, count, arguments, file);
    }
    static char none[] = "-";
    size_t bytes = ((size_t)count + 2) * sizeof *arguments;
    char **more = mxp__alloc(bytes);
    if (more == NULL) {
        mxp__fail_memory("the options");
        return mxp__command_failed(self);
    }
    memcpy(more, arguments, (size_t)count * sizeof *arguments);
    more[count] = none;
    int files = 0;
    int code = mxp__options_parse_all(self, options, count + 1, more, &files);
    if (code < 0 && files > 1) {
        code = mxp__usage_error(self, "--measure takes no file, but there is '%s'", more[0]);
    }
    mxp__free(more, bytes);
    return code;
}

static int run(const mxp_command *self, int count, char **arguments)
{
    roof_options chosen = {.selection = {.top_count = 15}};
    const mxp_option options[] = {
        {.name = "--measure", .number = &chosen.measure},
        {.name = "--ceilings", .text = &chosen.ceilings},
        {.name = "--unit", .words = mxp__unit_words, .number = &chosen.unit},
        {.name = "--json", .number = &chosen.json},
        MXP_WINDOW_OPTIONS(&chosen.selection),
        {.name = "--name", .list = &chosen.selection.names},
        {.name = "--scope", .list = &chosen.selection.scopes},
        {.name = "--top", .text = &chosen.selection.top},
        {.name = NULL},
    };
    bool measures = false;
    for (int i = 0; i < count; i++) {
        measures = measures || strcmp(arguments[i], "--measure") == 0;
    }
    const char *file = NULL;
    int code = parse(self, options, count, arguments, !measures, &file);
    if (code < 0) {
        code = mxp__selection_check(self, &chosen.selection);
    }
    if (code >= 0) {
        return code;
    }
    return chosen.measure ? measure(self, &chosen) : show_file(self, file, &chosen);
}

const mxp_command mxp__command_roof = {
    .name = "roof",
    .summary = "how near operators come to what the machine can do",
    .help = help,
    .run = run,
};
