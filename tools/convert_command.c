// SPDX-License-Identifier: Apache-2.0
// mxprof convert: a native trace in another format. The formats are the exporters of
// profiler/export and those of the command; the output's extension chooses one where --to does not.
#include <inttypes.h>
#include <mxprof/profiler.h>
#include <string.h>

#include "base/fail.h"
#include "base/os/same_file.h"
#include "command.h"
#include "compression/gzip.h"
#include "compression/packed_file.h"
#include "coverage.h"
#include "export/sqlite/sqlite_export.h"
#include "instances/cut.h"
#include "output_format.h"
#include "profiler/export/export.h"
#include "profiler/trace/merge.h"
#include "profiler/trace/recovered_source.h"

static const char help[] =
    "mxprof convert writes a profile in another format.\n"
    "\n"
    "usage: mxprof convert FILE|DIRECTORY -o OUT [OPTIONS]\n"
    "\n"
    "  -o, --output OUT   the file to write; - for standard output. It appears under its name "
    "when\n"
    "                     it is complete; a failure leaves what was there. If it ends in .gz it "
    "is\n"
    "                     compressed as gzip does.\n"
    "  --args             spans of other profilers' traces keep their arguments\n"
    "  --step N|A:B       what is in these steps only; also 'last' and 'slowest'\n"
    "  --from TIME        what is from there on, spans that reach into it whole: 1.5s, 20ms of "
    "the\n"
    "                     trace's time; +0.5s after its begin, -2s before its end\n"
    "  --until TIME       what is up to there; +0.5s is after --from\n"
    "  --to FORMAT        what it becomes; without it OUT's ending tells, and - is chrome\n";

static const char help_end[] =
    "\n"
    "examples\n"
    "  mxprof convert profile.mxp -o profile.json\n"
    "  mxprof convert profile.mxp -o profile.pftrace.gz\n"
    "  mxprof convert profile.mxp -o profile.mxpz\n"
    "  mxprof convert profile.mxpz -o profile.mxp\n"
    "  mxprof convert profile.mxp -o table.json --to json\n"
    "  mxprof convert profile.mxp -o profile.folded && flamegraph.pl profile.folded > flames.svg\n"
    "  mxprof convert profile.mxp -o profile.sqlite && sqlite3 profile.sqlite .schema\n"
    "  mxprof convert profile.mxp -o profile.pb.gz && go tool pprof -top profile.pb.gz\n"
    "  mxprof convert trace.json.gz -o trace.mxp      torch.profiler's, MXNet's, viztracer's JSON\n"
    "\n"
    "exit code: 0 fine, 1 cannot be read or written or is damaged (what could be read is "
    "written),\n"
    "2 wrong call\n";

// ---- formats ----------------------------------------------------------------------------------
static void print_formats(FILE *stream)
{
    const mxp_output_format *formats = mxp__output_formats();
    for (int i = 0; i < MXP__FORMATS; i++) {
        fprintf(stream, "      %-10s %-16s %s\n", formats[i].name, formats[i].extension,
                formats[i].help);
    }
}

static int does_not_tell(const mxp_command *self, const char *path)
{
    mxp_strbuf names = {0};
    for (int i = 0; i < MXP__FORMATS; i++) {
        const char *between = i == 0 ? "" : i + 1 < MXP__FORMATS ? ", " : " or ";
        mxp__strbuf_printf(&names, "%s%s", between, mxp__output_formats()[i].name);
    }
    int code = mxp__usage_error(self, "the name '%s' does not tell the format; add --to %s", path,
                                mxp__strbuf_text(&names));
    mxp__strbuf_fini(&names);
    return code;
}

static bool is_table(const mxp_exporter *exporter)
{
    return exporter != NULL && exporter->is_table;
}

// Reports what the table cannot show: how many records were lost, and the time that a ring covers.
static void note_what_is_missing(const mxp_command *self, const mxp_exporter *exporter,
                                 const mxp_input *input)
{
    uint64_t lost = 0;
    const mxp_source *process;
    for (size_t i = 0; (process = mxp__source_process(input->source, i)) != NULL; i++) {
        for (size_t j = 0; j < process->loss_count; j++) {
            const mxp_loss_entry *loss = &process->losses[j];
            lost += loss->reason == MXP_LOSS_NAMES_FULL ? 0 : loss->count;
        }
    }
    if (mxp__is_ring(input->source) && is_table(exporter)) {
        fprintf(stderr,
                "mxprof %s: note: the threads of a ring may cover different times; 'mxprof report' "
                "counts from where all are covered\n",
                self->name);
    }
    if (lost > 0 && is_table(exporter)) {
        fprintf(stderr,
                "mxprof %s: note: %" PRIu64 " records were lost while recording and are in no "
                "number of this table; 'mxprof report' shows it with the table\n",
                self->name, lost);
    }
}

// What is written to `sink`, through gzip if the name says so. `exporter` null: a packed file.
static int write_to(const mxp_exporter *exporter, mxp_source *source, mxp_sink *sink, bool compress,
                    mxp_strbuf *notes)
{
    const mxp_export_options options = {
        .sort_by = MXP_SORT_TOTAL, .group = MXP_GROUP_NAME, .notes = notes};
    if (exporter == NULL) {
        return mxp__pack(source, sink->fd, sink->path);
    }
    if (!compress) {
        return mxp__export(exporter, source, &options, sink);
    }
    mxp_gzip *gzip;
    int error = mxp__gzip_open(sink, &gzip);
    if (error != MXP_OK) {
        return error;
    }
    error = mxp__export(exporter, source, &options, mxp__gzip_sink(gzip));
    if (error == MXP_OK || error == MXP_EFORMAT) {
        int finish_error = mxp__gzip_finish(gzip);
        error = finish_error != MXP_OK ? finish_error : error;
    }
    mxp__gzip_close(gzip);
    return error;
}

static void print_notes(const mxp_command *self, const mxp_strbuf *notes)
{
    const char *line = mxp__strbuf_text(notes);
    for (size_t length; *line != '\0'; line += length + (line[length] == '\n')) {
        length = strcspn(line, "\n");
        fprintf(stderr, "mxprof %s: note: %.*s\n", self->name, (int)length, line);
    }
}

// Returns the exit code; `source` is what is read of `input`.
static int convert_to(const mxp_command *self, const mxp_exporter *exporter, mxp_input *input,
                      mxp_source *source, const char *out_path)
{
    mxp_output output;
    if (mxp__output_open(out_path, &output) != MXP_OK) {
        return mxp__command_failed(self);
    }
    mxp_strbuf notes = {0};
    int error = write_to(exporter, source, &output.sink, mxp__is_gzip_name(out_path), &notes);
    if (error == MXP_EFORMAT) {
        mxp__input_cut_short(self, input);  // what came before the damage has been written
        error = MXP_OK;
    }
    print_notes(self, &notes);
    mxp__strbuf_fini(&notes);
    bool reader_gone = output.reader_gone;
    int close_error = mxp__output_close(&output, error == MXP_OK);
    if (error == MXP_OK) {
        error = close_error;
    }
    if (error != MXP_OK && !reader_gone) {
        return mxp__command_failed(self);
    }
    return mxp__input_exit_code(input);
}

// Opens what can be read of the input. The caller closes it, whatever is returned.
static int open_readable(const mxp_command *self, mxp_input *input, mxp_source **readable)
{
    mxp_recovery_loss lost = {0};
    *readable = NULL;
    int error = mxp__recovered_open(input->source, readable, &lost);
    mxp__input_unread(self, input, &lost);
    return error;
}

static int convert_native(const mxp_command *self, mxp_input *input, const char *out_path)
{
    mxp_source *readable;
    int error = open_readable(self, input, &readable);
    if (error == MXP_OK) {
        error = mxp__native_write(out_path, readable);
    }
    mxp__source_close(readable);
    return error == MXP_OK ? mxp__input_exit_code(input) : mxp__command_failed(self);
}

static int convert_by_command(const mxp_command *self, const mxp_exporter *exporter,
                              mxp_input *input, const char *out_path)
{
    mxp_source *readable;
    int error = open_readable(self, input, &readable);
    int code = error == MXP_OK ? convert_to(self, exporter, input, readable, out_path)
                               : mxp__command_failed(self);
    mxp__source_close(readable);
    return code;
}

#ifdef MXP_WITH_SQLITE
static int write_database(mxp_source *source, const mxp_output *output, mxp_strbuf *notes)
{
    const char *temporary = output->file.temporary;
    return temporary != NULL ? mxp__sqlite_write(temporary, output->path, source, notes)
                             : mxp__fail(MXP_EIO, "'%s' is no place for a database", output->path);
}

static int convert_sqlite(const mxp_command *self, mxp_input *input, const char *out_path)
{
    mxp_source *readable;
    mxp_output output;
    mxp_strbuf notes = {0};
    int error = open_readable(self, input, &readable);
    if (error == MXP_OK) {
        error = mxp__output_open(out_path, &output);
    }
    if (error == MXP_OK) {
        error = write_database(readable, &output, &notes);
        int close_error = mxp__output_close(&output, error == MXP_OK);
        error = error == MXP_OK ? close_error : error;
    }
    mxp__source_close(readable);
    print_notes(self, &notes);
    mxp__strbuf_fini(&notes);
    return error == MXP_OK ? mxp__input_exit_code(input) : mxp__command_failed(self);
}
#else
static int convert_sqlite(const mxp_command *self, mxp_input *input, const char *out_path)
{
    (void)input, (void)out_path;
    mxp__fail(MXP_EIO, "this mxprof was built without SQLite; build it where libsqlite3-dev is "
                       "(scripts/setup build installs it)");
    return mxp__command_failed(self);
}
#endif

static int convert_input(const mxp_command *self, int format, mxp_input *input,
                         const char *out_path)
{
    const mxp_exporter *exporter = mxp__output_formats()[format].exporter;
    if (format == MXP__FORMAT_NATIVE) {
        return convert_native(self, input, out_path);
    }
    if (format == MXP__FORMAT_SQLITE) {
        return convert_sqlite(self, input, out_path);
    }
    if (exporter == NULL && input->source->process_count > 1) {
        return mxp__usage_error(self, "a compressed file holds one process, and here are %zu",
                                input->source->process_count);
    }
    bool is_commands = format >= MXP__EXPORTERS && format < MXP__FORMAT_SQLITE;
    int code = is_commands ? convert_by_command(self, exporter, input, out_path)
                           : convert_to(self, exporter, input, input->source, out_path);
    note_what_is_missing(self, exporter, input);
    return code;
}

static int convert_file(const mxp_command *self, int format, const char *in_path,
                        const char *out_path, const mxp_selection *selection)
{
    mxp_input input;
    if (mxp__input_open(self, in_path, &input) != MXP_OK) {
        return MXP_EXIT_ERROR;
    }
    int code = mxp__input_cut(self, &input, selection);
    code = code < 0 ? convert_input(self, format, &input, out_path) : code;
    mxp__input_close(&input);
    return code;
}

// -1, or the exit code of a call in which the format and the place it goes to do not fit.
static int check_place(const mxp_command *self, int format, const char *out_path)
{
    bool is_stdout = strcmp(out_path, "-") == 0;
    if (format == MXP__FORMAT_PACKED && mxp__is_gzip_name(out_path)) {
        return mxp__usage_error(self, "a packed file is compressed already; leave out the .gz");
    }
    if (format == MXP__FORMAT_NATIVE && (mxp__is_gzip_name(out_path) || is_stdout)) {
        return mxp__usage_error(self, "a native trace is written into a file of its own; give a "
                                      "name like profile.mxp");
    }
    if (format == MXP__FORMAT_SQLITE && (mxp__is_gzip_name(out_path) || is_stdout)) {
        return mxp__usage_error(self, "a database is written into a file of its own; give a name "
                                      "like profile.sqlite");
    }
    return format < 0 && !is_stdout ? does_not_tell(self, out_path) : -1;
}

static int run(const mxp_command *self, int count, char **arguments)
{
    const char *out_path = NULL;
    const char *file;
    int format = -1, with_args = 0;
    mxp_selection selection = {.step = NULL};
    const mxp_option options[] = {
        {.name = "--output", .letter = 'o', .text = &out_path},
        {.name = "--to", .words = mxp__output_format_names(), .number = &format},
        {.name = "--args", .number = &with_args},
        MXP_WINDOW_OPTIONS(&selection),
        {.name = NULL},
    };
    int code = mxp__options_parse(self, options, count, arguments, &file);
    code = code < 0 ? mxp__selection_check(self, &selection) : code;
    if (code >= 0) {
        return code;
    }
    if (out_path == NULL) {
        return mxp__usage_error(self,
                                "where to? For example: mxprof convert %s -o profile.json "
                                "(or -o - for standard output)",
                                file);
    }
    if (mxp__os_same_file(file, out_path)) {
        return mxp__usage_error(self, "'%s' is the input; write the result to another file",
                                out_path);
    }
    if (with_args) {
        mxp__input_take_args();
    }
    format = format >= 0 ? format : mxp__output_format_of(out_path);
    code = check_place(self, format, out_path);
    return code >= 0 ? code
                     : convert_file(self, format < 0 ? MXP__EXPORTER_chrome : format, file,
                                    out_path, &selection);
}

const mxp_command mxp__command_convert = {
    .name = "convert",
    .summary = "to Chrome JSON, Perfetto's format, SQLite, stacks for flame graphs, or the table "
               "in a file",
    .help = help,
    .help_list = print_formats,
    .help_end = help_end,
    .example = "profile.mxp -o profile.json",
    .run = run,
};
