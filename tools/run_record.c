// SPDX-License-Identifier: Apache-2.0
// Of the command line only as much is written as recording files tell (MXPROF_INFO_COMMAND), by
// default the program's name, because secrets may be in it.
#include "run_record.h"

#include <errno.h>
#include <fcntl.h>
#include <mxprof/version.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/os/os.h"
#include "base/text.h"

extern char **environ;

enum { RECORDS_MAX = 10000 };

static void put_member(mxp_strbuf *out, const char *key, const char *text)
{
    mxp__strbuf_printf(out, ",\n    \"%s\": ", key);
    mxp__json_string(out, text, strlen(text));
}

static void put_command(mxp_strbuf *out, char *const *arguments)
{
    const char *how = getenv("MXPROF_INFO_COMMAND");
    const bool tells_all = how != NULL && strcmp(how, "all") == 0;
    const bool tells_none = how != NULL && strcmp(how, "no") == 0;
    const char *slash = strrchr(arguments[0], '/');
    mxp__strbuf_puts(out, ",\n    \"Command\": [");
    if (!tells_none) {
        const char *name = slash != NULL && !tells_all ? slash + 1 : arguments[0];
        mxp__json_string(out, name, strlen(name));
    }
    for (size_t i = 1; tells_all && arguments[i] != NULL; i++) {
        mxp__strbuf_puts(out, ", ");
        mxp__json_string(out, arguments[i], strlen(arguments[i]));
    }
    mxp__strbuf_puts(out, "]");
}

static void put_end(mxp_strbuf *out, const mxp_run_result *result, uint64_t begin_ns)
{
    const time_t begin = (time_t)(begin_ns / UINT64_C(1000000000));
    const bool by_signal = WIFSIGNALED(result->status);
    struct tm utc;
    char moment[32] = "";
    if (gmtime_r(&begin, &utc) != NULL) {
        strftime(moment, sizeof moment, "%Y-%m-%dT%H:%M:%SZ", &utc);
    }
    put_member(out, "Begin", moment);
    mxp__strbuf_puts(out, ",\n    \"Seconds\": ");
    mxp__json_double(out, result->seconds);
    mxp__strbuf_printf(out, ",\n    \"%s\": %d", by_signal ? "Signal" : "Exit Code",
                       by_signal ? WTERMSIG(result->status) : WEXITSTATUS(result->status));
}

static bool is_door(const char *variable)
{
    static const char *const doors[] = {"LD_PRELOAD=", "INTEL_LIBITTNOTIFY64=",
                                        "NVTX_INJECTION64_PATH=", "OMP_TOOL_LIBRARIES=", "MXPROF_"};
    for (size_t i = 0; i < sizeof doors / sizeof doors[0]; i++) {
        if (strncmp(variable, doors[i], strlen(doors[i])) == 0) {
            return true;
        }
    }
    return false;
}

static void put_variables(mxp_strbuf *out)
{
    bool is_first = true;
    mxp__strbuf_puts(out, ",\n    \"Variables\": {");
    for (char **each = environ; *each != NULL; each++) {
        const char *value = strchr(*each, '=');
        if (value == NULL || !is_door(*each)) {
            continue;
        }
        mxp__strbuf_puts(out, is_first ? "\n        " : ",\n        ");
        mxp__json_string(out, *each, (size_t)(value - *each));
        mxp__strbuf_puts(out, ": ");
        mxp__json_string(out, value + 1, strlen(value + 1));
        is_first = false;
    }
    mxp__strbuf_puts(out, "\n    }\n}\n");
}

// Makes the file that is not there yet; its descriptor, or -1.
static int make_file(const char *folder)
{
    int file = -1;
    for (int i = 1; file < 0 && i <= RECORDS_MAX; i++) {
        mxp_strbuf path = {0};
        mxp__strbuf_printf(&path, "%s/run", folder);
        if (i > 1) {
            mxp__strbuf_printf(&path, ".%d", i);
        }
        mxp__strbuf_puts(&path, ".json");
        file = open(mxp__strbuf_text(&path), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        mxp__strbuf_fini(&path);
        if (file < 0 && errno != EEXIST) {
            break;
        }
    }
    return file;
}

void mxp__run_record(const mxp_run_result *result, uint64_t begin_ns)
{
    char host[256], machine[256];
    mxp_strbuf out = {0};
    mxp__os_host_name(host, sizeof host);
    mxp__os_system_name(machine, sizeof machine);
    mxp__strbuf_puts(&out, "{\n    \"Version\": \"" MXP_VERSION_STRING "\"");
    put_command(&out, result->arguments);
    put_end(&out, result, begin_ns);
    put_member(&out, "Host", host);
    put_member(&out, "System", machine);
    put_variables(&out);
    const int file = make_file(result->folder);
    const bool written =
        file >= 0 && mxp__os_write(file, mxp__strbuf_text(&out), out.length) == out.length;
    if (!written && !result->is_quiet) {
        fprintf(stderr, "mxprof: cannot write '%s/run.json': %s\n", result->folder,
                strerror(errno));
    }
    if (file >= 0) {
        close(file);
    }
    mxp__strbuf_fini(&out);
}
