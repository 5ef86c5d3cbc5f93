// SPDX-License-Identifier: Apache-2.0
// mxprof view: one HTML file that shows a profile, from the verdict to the nanosecond.
#include <errno.h>
#include <mxprof/error.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/os/same_file.h"
#include "coverage.h"
#include "page/page_text.h"
#include "profiler/analysis/window/side_by_side.h"
#include "profiler/trace/file/file_bytes.h"
#include "same_step.h"
#include "text/figure.h"
#include "view/view.h"

static const char help[] =
    "mxprof view writes a page that shows a profile: what took the time, step by step, every span "
    "on\n"
    "a timeline, memory, the critical path and what changes would gain. It is one HTML file that "
    "needs\n"
    "no network, no server and nothing installed, and can be sent to somebody.\n"
    "\n"
    "usage: mxprof view [OPTIONS] FILE|DIRECTORY\n"
    "\n"
    "  -o, --output FILE  the page; else the trace's name with .html, in this directory\n"
    "  --open             opens it in the browser ($BROWSER, or what xdg-open takes)\n"
    "  --with OTHER       compares with another trace, of the program before a change\n"
    "  --size BYTES       of the page at most, as 32M (default) or 500k; none: all spans, however\n"
    "                     large it is. What is left out first are short spans of steps that are\n"
    "                     neither slowest, median, first nor last; tables stay those of "
    "everything\n"
    "  --verdict N|A:B    steps of which verdict and tables are, as --step of explain and report;\n"
    "                     else whole ones without the slow first ones\n"
    "  --memory MIB       how much a window of steps may take (default 1024), as of explain\n"
    "  --anonymous        without host, command and paths of the program\n"
    "  --page-assets DIR  takes scripts and style of the page from there, to work on them\n"
    "\n"
    "These times have all their spans, whatever the size:\n" MXP_WINDOW_HELP "\n"
    "examples\n"
    "  mxprof view profile.mxp --open\n"
    "  mxprof view after.mxp --with before.mxp -o page.html\n"
    "  mxprof view --size 5M --step slowest profile.mxp\n"
    "\n"
    "exit code: 0 fine, 1 cannot be read or is damaged (what could be read is shown), 2 wrong "
    "call,\n"
    "3 steps were asked for, and none are marked\n";

// ---- the call ----------------------------------------------------------------------------------
static bool parse_bytes(const char *text, uint64_t *bytes)
{
    static const char letters[] = "kMG";
    char *end;
    const unsigned long long value = strtoull(text, &end, 10);
    const char *letter = *end != '\0' ? strchr(letters, *end) : NULL;
    uint64_t unit = 1;
    for (long i = letter == NULL ? -1 : letter - letters; i >= 0; i--) {
        unit *= 1000;
    }
    *bytes = value * unit;
    return text[0] >= '1' && text[0] <= '9' && value < UINT64_C(1000000000) &&
           (*end == '\0' || (letter != NULL && end[1] == '\0'));
}

static int check(const mxp_command *self, mxp_view_wish *wish)
{
    size_t mib = 0;
    wish->limit_bytes = 32000000;
    wish->memory_bytes = MXP__GRAPH_BYTES_MAX;
    if (wish->size != NULL && strcmp(wish->size, "none") == 0) {
        wish->limit_bytes = UINT64_MAX;
    } else if (wish->size != NULL && !parse_bytes(wish->size, &wish->limit_bytes)) {
        return mxp__usage_error(self, "--size takes bytes as 32M or 500k, or none, not '%s'",
                                wish->size);
    }
    int code = mxp__count_option(self, "--memory", wish->memory, &mib);
    wish->memory_bytes = mib > 0 ? (uint64_t)mib << 20 : wish->memory_bytes;
    code = code >= 0 ? code : mxp__selection_check(self, &wish->verdict);
    return code >= 0 ? code : mxp__selection_check(self, &wish->selection);
}

// The length of a name without its ending; 0: it is nothing else.
static size_t without_ending(const char *name, size_t length)
{
    size_t at = length;
    while (at > 0 && name[at - 1] != '.') {
        at--;
    }
    return at > 0 ? at - 1 : length;
}

static size_t without_endings(const char *name, size_t length)
{
    const size_t shorter = without_ending(name, length);
    const bool is_packed = length - shorter == 3 && memcmp(name + shorter, ".gz", 3) == 0;
    return is_packed ? without_ending(name, shorter) : shorter;
}

// "run.71.mxp" makes "run.71.html", a folder "run.d" makes "run.d.html"; a name that is nothing
// but an ending, "page.html".
static void put_name(const char *file, mxp_strbuf *out)
{
    struct stat status;
    size_t end = strlen(file);
    while (end > 0 && file[end - 1] == '/') {
        end--;
    }
    size_t begin = end;
    while (begin > 0 && file[begin - 1] != '/') {
        begin--;
    }
    const bool is_folder = stat(file, &status) == 0 && S_ISDIR(status.st_mode);
    const size_t whole = file[begin] == '.' && is_folder ? 0 : end - begin;
    const size_t length = is_folder ? whole : without_endings(file + begin, whole);
    mxp__strbuf_append(out, length > 0 ? file + begin : "page", length > 0 ? length : 4);
    mxp__strbuf_puts(out, ".html");
}

// -1, or the exit code after an error line: the page goes to no trace that it is made of.
static int check_out(const mxp_command *self, const mxp_view_wish *wish)
{
    const char *const inputs[] = {wish->file, wish->other};
    if (wish->out == NULL) {
        return -1;
    }
    if (strcmp(wish->out, "-") == 0) {
        return wish->opens ? mxp__usage_error(self, "--open needs a file: leave out '-o -'") : -1;
    }
    for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++) {
        if (inputs[i] != NULL && mxp__os_same_file(inputs[i], wish->out)) {
            return mxp__usage_error(self, "'%s' is the input; write the page to another file",
                                    wish->out);
        }
    }
    return -1;
}

// ---- the browser -------------------------------------------------------------------------------
static int open_browser(const mxp_command *self, const char *page)
{
    const char *browser = getenv("BROWSER");
    browser = browser != NULL && browser[0] != '\0' ? browser : "xdg-open";
    const pid_t child = fork();
    if (child == 0) {
        execlp(browser, browser, page, (char *)NULL);
        _exit(127);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0 || !WIFEXITED(status) ||
        WEXITSTATUS(status) != 0) {
        fprintf(stderr,
                "mxprof %s: '%s' could not open the page: open %s in a browser, or name "
                "one in BROWSER\n",
                self->name, browser, page);
        return MXP_EXIT_ERROR;
    }
    return MXP_EXIT_FINE;
}

// ---- the page ----------------------------------------------------------------------------------
static int find_assets(const mxp_view_wish *wish, mxp_page_text *text)
{
    if (wish->assets != NULL) {
        return mxp__page_join(wish->assets, text);
    }
    *text = (mxp_page_text){0};
    for (int i = 0; i < MXP_PAGE_PIECES; i++) {
        mxp__strbuf_append(&text->pieces[i], mxp__page_pieces[i].text, mxp__page_pieces[i].length);
    }
    return MXP_OK;
}

// -1, or the exit code after an error line: what was asked for must be there before all is read.
static int check_windows(const mxp_command *self, mxp_view *view)
{
    const mxp_selection *asked = &view->wish->selection;
    int code = -1;
    if (!mxp__selection_has_window(asked)) {
        return -1;
    }
    for (size_t i = 0; i < view->process_count && code < 0; i++) {
        mxp_choice choice;
        code = mxp__selection_window(self, asked, &view->report.processes[i].steps, &choice);
        if (code < 0) {
            mxp__choice_fini(&choice);
        }
    }
    return code;
}

static int list_processes(mxp_view *view)
{
    uint32_t base = 0;
    const mxp_summary *summary = &view->report.summary;
    view->process_count = view->report.process_count;
    view->processes = mxp__alloc(view->process_count * sizeof *view->processes);
    if (view->processes == NULL) {
        return mxp__fail_memory("the processes of the page");
    }
    for (size_t i = 0; i < view->process_count; i++) {
        view->processes[i].of = &view->report.processes[i];
        view->processes[i].thread_base = base;
        view->processes[i].thread_count = mxp__view_source(view, i)->thread_count;
        base += mxp__view_source(view, i)->thread_count;
    }
    view->page.begin_ns = summary->has_time ? summary->first_ns : 0;
    view->page.end_ns = summary->has_time ? summary->last_ns : 0;
    return MXP_OK;
}

static int read_part(void *context, size_t part)
{
    return part == 0 ? mxp__view_documents(context) : mxp__view_spans(context);
}

// Documents and spans are read at once where nothing is left out; else what is kept of the spans
// depends on the documents.
static int read_all(mxp_view *view)
{
    if (view->wish->limit_bytes == UINT64_MAX) {
        const int error = mxp__side_by_side(2, read_part, view);
        return error == MXP_OK ? mxp__view_windows(view) : error;
    }
    int error = mxp__view_documents(view);
    error = error == MXP_OK ? mxp__view_windows(view) : error;
    return error == MXP_OK ? mxp__view_spans(view) : error;
}

static int make_sections(mxp_view *view)
{
    static int (*const parts[])(mxp_view * view) = {
        mxp__view_memory, mxp__view_path, mxp__view_icicle, mxp__view_other, mxp__view_title};
    int error = read_all(view);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && error == MXP_OK; i++) {
        error = parts[i](view);
    }
    return error;
}

static int write_page(const mxp_command *self, mxp_view *view)
{
    mxp_page_text assets;
    int error = find_assets(view->wish, &assets);
    error = error == MXP_OK ? make_sections(view) : error;
    error = error == MXP_OK ? mxp__view_write(view, &assets) : error;
    mxp__page_text_fini(&assets);
    return error == MXP_OK ? -1 : view->is_told ? MXP_EXIT_ERROR : mxp__command_failed(self);
}

static void tell(const mxp_view *view)
{
    struct stat status;
    mxp_strbuf text = {0};
    if (strcmp(view->wish->out, "-") == 0 || stat(view->wish->out, &status) != 0) {
        return;
    }
    mxp__strbuf_printf(&text, "%s: ", view->wish->out);
    mxp__put_bytes((double)status.st_size, &text);
    mxp__strbuf_puts(&text, ", ");
    mxp__view_put_whole(view, &text);
    printf("%s\n", mxp__strbuf_text(&text));
    if ((uint64_t)status.st_size > view->wish->limit_bytes) {
        fprintf(stderr, "mxprof view: the page is larger than --size: what is left cannot be left "
                        "out\n");
    }
    mxp__strbuf_fini(&text);
}

static void view_fini(mxp_view *view)
{
    for (size_t i = 0; i < view->process_count; i++) {
        mxp_view_process *process = &view->processes[i];
        if (process->is_quiet != NULL) {
            mxp__free(process->is_quiet, process->thread_count * sizeof *process->is_quiet);
        }
        mxp__free(process->sums, process->of->steps.count * sizeof *process->sums);
    }
    mxp__free(view->processes, view->process_count * sizeof *view->processes);
    mxp__free(view->windows, view->window_capacity * sizeof *view->windows);
    mxp__free(view->sections, view->section_capacity * sizeof *view->sections);
    mxp_strbuf *const texts[] = {&view->title, &view->plain,  &view->explain_json, &view->memory,
                                 &view->path,  &view->whatif, &view->icicle,       &view->texts};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        mxp__strbuf_fini(texts[i]);
    }
    mxp__page_data_fini(&view->page);
    mxp__explain_view_fini(&view->explain);
    if (view->has_report) {
        mxp__report_fini(&view->report);
    }
}

// What is asked for is one time, and one slowest step, of all processes.
static int share(const mxp_command *self, mxp_source *source, mxp_view_wish *wish)
{
    if (mxp__same_step(source, &wish->verdict.window) != MXP_OK) {
        return mxp__command_failed(self);
    }
    return mxp__selection_share(self, &wish->selection, source);
}

static int view_input(const mxp_command *self, mxp_view *view)
{
    static const mxp_screen screen = {.columns = MXP_SCREEN_COLUMNS, .is_utf8 = true};
    view->report_wish = (mxp_report_wish){.key = -1,
                                          .json = true,
                                          .selection = view->wish->verdict,
                                          .leaves_steps_out = true,
                                          .leaves_path_out = true,
                                          .memory_bytes = view->wish->memory_bytes,
                                          .screen = screen};
    int code = mxp__coverage_take(&view->input, &view->explain.note) == MXP_OK
                   ? -1
                   : mxp__command_failed(self);
    code =
        code < 0 ? mxp__report_make(self, &view->input, &view->report_wish, &view->report) : code;
    view->has_report = code < 0;
    if (code < 0 && list_processes(view) != MXP_OK) {
        code = mxp__command_failed(self);
    }
    code = code < 0 ? check_windows(self, view) : code;
    code = code < 0 ? write_page(self, view) : code;
    if (code < 0) {
        tell(view);
        code = MXP_EXIT_FINE;
    }
    return code;
}

static int view_file(const mxp_command *self, mxp_view_wish *wish)
{
    mxp_strbuf name = {0};
    mxp_view view = {.command = self, .wish = wish, .page = {.blocks.spool.fd = -1}};
    if (wish->out == NULL) {
        put_name(wish->file, &name);
        wish->out = mxp__strbuf_text(&name);
    }
    mxp__file_bytes_resident = wish->memory_bytes;
    if (wish->is_anonymous) {
        mxp__input_take_anonymous();
    }
    if (mxp__input_open(self, wish->file, &view.input) != MXP_OK) {
        mxp__strbuf_fini(&name);
        return MXP_EXIT_ERROR;
    }
    int code = share(self, view.input.source, wish);
    code = code < 0 ? view_input(self, &view) : code;
    if (code == MXP_EXIT_FINE && wish->opens) {
        code = open_browser(self, wish->out);
    }
    code = mxp__input_end(&view.input, code);
    code = code == MXP_EXIT_FINE ? mxp__input_exit_code(&view.input) : code;
    view_fini(&view);
    mxp__input_close(&view.input);
    mxp__strbuf_fini(&name);
    return code;
}

static int run(const mxp_command *self, int count, char **arguments)
{
    mxp_view_wish wish = {0};
    const mxp_option options[] = {
        {.name = "--output", .letter = 'o', .text = &wish.out},
        {.name = "--open", .number = &wish.opens},
        {.name = "--with", .text = &wish.other},
        {.name = "--size", .text = &wish.size},
        {.name = "--memory", .text = &wish.memory},
        {.name = "--verdict", .text = &wish.verdict.step},
        {.name = "--anonymous", .number = &wish.is_anonymous},
        {.name = "--page-assets", .text = &wish.assets},
        MXP_WINDOW_OPTIONS(&wish.selection),
        {.name = NULL},
    };
    int code = mxp__options_parse(self, options, count, arguments, &wish.file);
    code = code < 0 ? check(self, &wish) : code;
    code = code < 0 ? check_out(self, &wish) : code;
    return code >= 0 ? code : view_file(self, &wish);
}

const mxp_command mxp__command_view = {
    .name = "view",
    .summary = "one page that shows it all, for a browser, without network or server",
    .help = help,
    .run = run,
};
