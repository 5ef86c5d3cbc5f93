// SPDX-License-Identifier: Apache-2.0
// The files are read in a child process, because that can be ended after 2 s wherever it is, and
// because whatever happens there is not the run's. It writes all at its end, so half a table is
// never seen.
#include "run_summary.h"

#include <errno.h>
#include <mxprof/loss.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/os.h"
#include "profiler/trace/merge.h"
#include "run_figures.h"
#include "run_job.h"

enum { SECONDS_MAX = 2 };

// ---- streams -----------------------------------------------------------------------------------
static void print(const mxp_run_result *result, mxp_strbuf *text)
{
    if (!result->is_quiet) {
        mxp__os_write(STDERR_FILENO, mxp__strbuf_text(text), text->length);
    }
    mxp__strbuf_fini(text);
}

static void print_json(const mxp_run_result *result, const mxp_run_figures *figures)
{
    mxp_strbuf json = {0};
    if (result->as_json) {
        mxp__run_put_json(result, figures, &json);
        mxp__os_write(STDOUT_FILENO, mxp__strbuf_text(&json), json.length);
    }
    mxp__strbuf_fini(&json);
}

// ---- figures -----------------------------------------------------------------------------------
static int read_process(mxp_source *process, mxp_run_figures *figures)
{
    figures->processes++;
    if (process->state == MXP__PROCESS_RECORDING) {
        figures->living++;
        figures->living_pid = process->pid;
    }
    for (size_t i = 0; i < process->loss_count; i++) {
        const bool is_foreign = process->losses[i].reason == MXP_LOSS_FOREIGN;
        figures->foreign += is_foreign ? process->losses[i].count : 0;
    }
    const char *full = mxp__source_info(process, "names_full");
    if (full != NULL && figures->names_full[0] == '\0') {
        snprintf(figures->names_full, sizeof figures->names_full, "%s", full);
    }
    return mxp__own_times_add(&figures->times, process);
}

static bool is_module(mxp_input *input, const char *category)
{
    const mxp_source *process;
    for (size_t i = 0; (process = mxp__source_process(input->source, i)) != NULL; i++) {
        for (size_t j = 0; j < process->module_count; j++) {
            if (strcmp(process->name(process, process->modules[j].name).text, category) == 0) {
                return true;
            }
        }
    }
    return false;
}

// What is said of a function's time counts the hooks inside of it, and a part of its own.
static void count_brief(mxp_input *input, mxp_run_figures *figures)
{
    enum { COSTS = 20 };
    const mxp_own_times *times = &figures->times;
    for (size_t i = 0; i < times->row_count; i++) {
        const mxp_own_row *row = &times->rows[i];
        const double cost_ns = (double)row->count * figures->summary.record_cost_ns;
        if ((double)row->own_ns < COSTS * cost_ns &&
            is_module(input, mxp__own_times_text(times, row->category))) {
            figures->brief++;
        }
    }
}

static int read_figures(const mxp_run_result *result, mxp_input *input, mxp_run_figures *figures)
{
    mxp_source *process;
    int error = mxp__summary_make(result->command, input, &figures->summary);
    for (size_t i = 0; error == MXP_OK; i++) {
        if ((process = mxp__source_process(input->source, i)) == NULL) {
            break;
        }
        error = read_process(process, figures);
    }
    if (error == MXP_OK) {
        error = mxp__own_times_rank(&figures->times);
        count_brief(input, figures);
    }
    figures->foreign =
        figures->foreign < figures->summary.lost ? figures->foreign : figures->summary.lost;
    return error;
}

static void say(const mxp_run_result *result, const mxp_run_figures *figures)
{
    mxp_strbuf text = {0};
    mxp__run_put_text(result, figures, &text);
    print(result, &text);
    print_json(result, figures);
}

// In the child, of a job: what each process left, and what to type.
static int tell_job(const mxp_run_result *result)
{
    mxp_strbuf text = {0};
    mxp__run_put_end(result, &text);
    mxp__strbuf_putc(&text, '\n');
    if (mxp__job_files(result->folder, result->traces, &text) != MXP_OK) {
        mxp__strbuf_fini(&text);
        return 1;
    }
    mxp__strbuf_puts(&text, "mxprof: next   mxprof explain ");
    mxp__run_put_typed(&text, result->folder);
    mxp__strbuf_puts(&text, "   |   mxprof merge ");
    mxp__run_put_typed(&text, result->folder);
    mxp__strbuf_puts(&text, " -o all.mxp\n");
    mxp__run_put_others(result, &text);
    print(result, &text);
    return 0;
}

// In the child. It says everything at once.
static int tell(const mxp_run_result *result)
{
    if (result->is_job && !result->as_json) {
        return tell_job(result);
    }
    mxp_input input;
    mxp_run_figures figures = {0};
    const mxp_run_traces *traces = result->traces;  // others may have been in the folder before
    if (mxp__input_open_entries(result->command, result->folder, traces->all, traces->count,
                                &input) != MXP_OK) {
        return 1;
    }
    if (read_figures(result, &input, &figures) != MXP_OK) {
        mxp__command_failed(result->command);
        return 1;
    }
    say(result, &figures);
    mxp__own_times_fini(&figures.times);
    mxp__summary_fini(&figures.summary);
    mxp__input_close(&input);
    return 0;
}

// The wait status of the child that tells; that of a failure where there is none.
static int tell_in_child(const mxp_run_result *result)
{
    int status = 1 << 8;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        const struct itimerval limit = {.it_value.tv_sec = SECONDS_MAX};
        sigset_t alarm;
        sigemptyset(&alarm);
        sigaddset(&alarm, SIGALRM);
        signal(SIGALRM, SIG_DFL);
        sigprocmask(SIG_UNBLOCK, &alarm, NULL);
        setitimer(ITIMER_REAL, &limit, NULL);
        _exit(tell(result));
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

// ---- nothing -----------------------------------------------------------------------------------
static const char *name_of(const char *program)
{
    const char *slash = strrchr(program, '/');
    return slash != NULL ? slash + 1 : program;
}

static bool is_called_python(const char *program)
{
    return strncmp(name_of(program), "python", strlen("python")) == 0;
}

// Whether it is there to start others, whose variables may be of its making.
static bool starts_others(const mxp_run_result *result)
{
    static const char *const names[] = {"sh",   "bash", "dash", "zsh",     "ksh",     "fish", "env",
                                        "sudo", "doas", "su",   "runuser", "setpriv", "make"};
    const char *name = name_of(result->arguments[0]);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return result->facts->is_script && !result->facts->is_python && !is_called_python(name);
}

static const char before[] = "mxprof:   ";

// `is_other`: the file of the program says nothing of the code that runs.
static void put_functions_advice(const mxp_run_result *result, bool is_other, mxp_strbuf *out)
{
    const mxp_program_facts *facts = result->facts;
    if (facts->calls_hooks) {
        mxp__strbuf_printf(out,
                           "%sits functions call hooks (-finstrument-functions), which --marks or "
                           "--no-preload leaves out\n",
                           before);
    } else if (facts->is_elf && !facts->is_script && !facts->has_other_loader && !is_other &&
               !result->is_job) {
        mxp__strbuf_printf(out,
                           "%scompiled with -finstrument-functions, each of its functions is "
                           "a span\n",
                           before);
    }
}

// By what the program's file shows; a line each.
static void put_advice(const mxp_run_result *result, mxp_strbuf *out)
{
    const mxp_program_facts *facts = result->facts;
    // A script of that name finds the interpreter; what that allows is not known. Facts of a
    // starter say nothing of its processes.
    const bool is_python =
        facts->is_python ? facts->has_audit_hooks : is_called_python(result->arguments[0]);
    if (facts->is_python && !facts->has_audit_hooks) {
        mxp__strbuf_printf(out,
                           "%sits Python lets nothing in: PyTorch's operators and Python's "
                           "functions cannot be seen\n",
                           before);
    }
    const bool is_starter = starts_others(result);
    if (is_starter) {
        mxp__strbuf_printf(out,
                           "%sprograms that it starts without its variables (env -i, sudo, unset) "
                           "are not seen: mxprof run goes before those\n",
                           before);
    }
    if ((is_python || result->is_job || is_starter) && !result->is_python_traced) {
        mxp__strbuf_printf(out, "%s--python records Python's functions\n", before);
    }
    if (is_python) {
        mxp__strbuf_printf(out,
                           "%sa script of MXNet must import this project's mxnet: python -m mxprof "
                           "says which one it does\n",
                           before);
    }
    if (facts->uses_gcc_openmp) {
        mxp__strbuf_printf(out,
                           "%sit uses GCC's OpenMP, which tells tools nothing: --openmp=libomp "
                           "runs it on LLVM's, which does\n",
                           before);
    }
    if (facts->uses_torch || facts->uses_dnnl || facts->uses_tbb || facts->uses_llvm_openmp) {
        mxp__strbuf_printf(out,
                           "%sit is linked with %s, which sends marks when it is used: does "
                           "--marks, or a variable of yours, turn them off?\n",
                           before,
                           facts->uses_torch  ? "PyTorch"
                           : facts->uses_dnnl ? "oneDNN"
                           : facts->uses_tbb  ? "oneTBB"
                                              : "LLVM's OpenMP");
    }
    put_functions_advice(result, is_python || is_starter, out);
    mxp__strbuf_printf(out, "%smarks of your own are calls of <mxprof/record.h>, ITT or NVTX\n",
                       before);
}

static void tell_nothing(const mxp_run_result *result)
{
    mxp_strbuf out = {0};
    mxp__run_put_end(result, &out);
    mxp__strbuf_puts(&out, result->living != 0 ? "; nothing was recorded yet\n"
                                               : "; nothing was recorded\n");
    if (result->living != 0) {
        mxp__strbuf_printf(&out,
                           "mxprof: process %ld still runs: what it records comes into '%s'\n",
                           result->living, result->folder);
    } else if (result->is_job && result->status != 0) {
        mxp__strbuf_puts(&out, "mxprof: it ended before a process had recorded anything; what it "
                               "printed above says why\n");
    } else {
        mxp__strbuf_printf(&out,
                           "mxprof: %s sent no marks that are known here. What could be done:\n",
                           result->is_job ? "its processes" : "it");
        put_advice(result, &out);
    }
    print(result, &out);
    const mxp_run_figures none = {0};
    print_json(result, &none);
}

// ---- all ---------------------------------------------------------------------------------------
void mxp__run_summary(const mxp_run_result *result)
{
    if (result->is_quiet && !result->as_json) {
        return;
    }
    if (result->traces->count == 0) {
        tell_nothing(result);
        return;
    }
    const int status = tell_in_child(result);
    if (status == 0) {
        return;
    }
    mxp_strbuf out = {0};
    mxp__run_put_end(result, &out);
    mxp__strbuf_printf(&out, "\nmxprof: %s\n",
                       WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM
                           ? "there is more than can be added up in 2 s"
                           : "what was recorded could not be added up");
    mxp__run_put_next(result, &out);
    print(result, &out);
    print_json(result, NULL);
}
