// SPDX-License-Identifier: Apache-2.0
// mxprof recover: what can be read of an unfinished or damaged file, as a finished one with right
// checksums, and an account of it.
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "output_format.h"
#include "overview.h"
#include "profiler/trace/merge.h"
#include "profiler/trace/recovered_source.h"

static const char help[] =
    "mxprof recover makes a finished file of one that a process left behind when it died, or that\n"
    "is damaged, or of the core file of a process that recorded into memory, and says what is in\n"
    "it.\n"
    "\n"
    "usage: mxprof recover FILE|CORE -o OUT\n"
    "\n"
    "  -o, --output OUT   the native trace to write; it appears under its name when it is "
    "complete\n"
    "\n"
    "Everything that can be read is written, with checksums that are right. Spans that were open\n"
    "when the process died become records that are marked so; they end at the last time known.\n"
    "Sections that cannot be read are left out, and told with their offsets; reading continues at "
    "the\n"
    "next one that proves itself. Of a chunk with a damaged record what comes after it is left\n"
    "out.\n"
    "\n"
    "examples\n"
    "  mxprof recover profile.mxp -o recovered.mxp\n"
    "  mxprof recover core -o recovered.mxp\n"
    "\n"
    "exit code: 0 all of it was there, 1 cannot be read or written, or something is lost (the "
    "rest\n"
    "is written), 2 wrong call\n";

static void print_lost(const mxp_recovery_loss *lost, mxp_strbuf *out)
{
    if (lost->chunks == 0) {
        return;
    }
    mxp__strbuf_printf(out,
                       "damaged    %" PRIu64 " chunks: %" PRIu64 " bytes of records are left out "
                       "(%s)\n",
                       lost->chunks, lost->bytes, lost->text);
}

// Records that the threads have counted and that are not there. Only of a damaged file: a snapshot
// holds a part of them by intent.
static void print_missing(const mxp_input *input, const mxp_summary *summary, mxp_strbuf *out)
{
    uint64_t counted = 0;
    const mxp_source *process;
    for (size_t i = 0; (process = mxp__source_process(input->source, i)) != NULL; i++) {
        for (uint32_t thread = 0; thread < process->thread_count; thread++) {
            counted += process->threads[thread].records;
        }
    }
    if (input->damaged && counted > summary->records) {
        mxp__strbuf_printf(
            out, "missing    %" PRIu64 " of %" PRIu64 " records that the threads counted\n",
            counted - summary->records, counted);
    }
}

static void print_account(const mxp_input *input, const mxp_summary *summary,
                          const mxp_recovery_loss *lost, const char *out_path, mxp_strbuf *out)
{
    mxp__strbuf_printf(out,
                       "recovered  %" PRIu64 " records in %" PRIu64 " bytes of %" PRIu64
                       " threads, written to %s\n",
                       summary->records, summary->bytes, summary->threads, out_path);
    const mxp_source *process;
    for (size_t i = 0; (process = mxp__source_process(input->source, i)) != NULL; i++) {
        const char *became = mxp__what_became(process);
        mxp__strbuf_printf(out, "process    %" PRIu32 "%s%s\n", process->pid,
                           became != NULL ? ": it " : "", became != NULL ? became : "");
        mxp__open_spans_print(&summary->open, process, out);
        if (mxp__left_out(process) != NULL) {
            mxp__strbuf_printf(out, "left out   %s\n", mxp__left_out(process));
        }
    }
    if (summary->lost > 0) {
        mxp__strbuf_printf(out, "lost       %" PRIu64 " records while recording\n", summary->lost);
    }
    print_lost(lost, out);
    print_missing(input, summary, out);
}

static int print_summary(const mxp_command *self, mxp_input *readable,
                         const mxp_recovery_loss *lost, const char *out_path)
{
    mxp_summary summary;
    if (mxp__summary_make(self, readable, &summary) != MXP_OK) {
        return mxp__command_failed(self);
    }
    mxp_strbuf out = {0};
    print_account(readable, &summary, lost, out_path, &out);
    int code = mxp__output_print(self, &out);
    mxp__strbuf_fini(&out);
    mxp__summary_fini(&summary);
    return code;
}

static int recover(const mxp_command *self, const char *file, const char *out_path)
{
    mxp_input input;
    if (mxp__input_open(self, file, &input) != MXP_OK) {
        return MXP_EXIT_ERROR;
    }
    mxp_recovery_loss lost = {0};
    mxp_input readable = {.path = file, .damaged = input.damaged};
    int error = mxp__recovered_open(input.source, &readable.source, &lost);
    if (error == MXP_OK) {
        error = mxp__native_write(out_path, readable.source);
    }
    int code = error == MXP_OK ? print_summary(self, &readable, &lost, out_path)
                               : mxp__command_failed(self);
    input.damaged = input.damaged || lost.chunks > 0;
    code = code == MXP_EXIT_FINE ? mxp__input_exit_code(&input) : code;
    mxp__source_close(readable.source);
    mxp__input_close(&input);
    return code;
}

static int run(const mxp_command *self, int count, char **arguments)
{
    const char *out_path = NULL;
    const char *file;
    const mxp_option options[] = {
        {.name = "--output", .letter = 'o', .text = &out_path},
        {.name = NULL},
    };
    int code = mxp__options_parse(self, options, count, arguments, &file);
    if (code >= 0) {
        return code;
    }
    struct stat in, out;
    if (out_path == NULL || strcmp(out_path, "-") == 0) {
        return mxp__usage_error(self, "where to? For example: mxprof recover %s -o recovered.mxp",
                                file);
    }
    if (stat(file, &in) == 0 && stat(out_path, &out) == 0 && in.st_dev == out.st_dev &&
        in.st_ino == out.st_ino) {
        return mxp__usage_error(self, "'%s' is the input; write the result to another file",
                                out_path);
    }
    code = mxp__check_native_name(self, out_path);
    return code >= 0 ? code : recover(self, file, out_path);
}

const mxp_command mxp__command_recover = {
    .name = "recover",
    .summary = "a finished file of what a dead process left, or of a damaged one",
    .help = help,
    .example = "profile.mxp -o recovered.mxp",
    .run = run,
};
