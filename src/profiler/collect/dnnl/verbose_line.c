// SPDX-License-Identifier: Apache-2.0
#include "profiler/collect/dnnl/verbose_line.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 8 };

static const char *behind_marker(const char *text)
{
    static const char *const markers[] = {"onednn_verbose", "dnnl_verbose", "mkldnn_verbose"};
    for (size_t i = 0; i < sizeof markers / sizeof markers[0]; i++) {
        if (strncmp(text, markers[i], strlen(markers[i])) == 0) {
            return text + strlen(markers[i]);
        }
    }
    return NULL;
}

bool mxp__verbose_may_begin(const char *format)
{
    return behind_marker(format) != NULL;
}

// Behind the comma; null: it is no such line.
static const char *after_marker(const char *text)
{
    const char *behind = behind_marker(text);
    return behind != NULL && *behind == ',' ? behind + 1 : NULL;
}

// Behind the field at `at` if it is `word`, or one of its kind ("create:cache_hit"); null if not.
static const char *skip_word(const char *at, const char *word)
{
    const size_t length = strlen(word);
    if (strncmp(at, word, length) != 0 || (at[length] != ',' && at[length] != ':')) {
        return NULL;
    }
    const char *comma = strchr(at, ',');
    return comma != NULL ? comma + 1 : NULL;
}

// Skips what may stand before the operation: "v1", a stamp, the component.
static const char *skip_head(const char *at, bool *is_late)
{
    static const char *const components[] = {"primitive", "graph", "ukernel", "common"};
    if (at[0] == 'v' && isdigit((unsigned char)at[1])) {
        *is_late = true;
        at += strcspn(at, ",");
        at += *at == ',';
    }
    if (isdigit((unsigned char)at[0])) {
        at += strcspn(at, ",");
        at += *at == ',';
    }
    for (size_t i = 0; i < sizeof components / sizeof components[0]; i++) {
        const char *behind = skip_word(at, components[i]);
        if (behind != NULL) {
            return behind;
        }
    }
    return at;
}

// "oneDNN v2.6.3 (commit ...)" or "DNNL v1.1.2".
static unsigned version_in(const char *text)
{
    const char *v = strstr(text, "NN v");
    v = v != NULL ? v + strlen("NN v") : (v = strstr(text, "NNL v")) != NULL ? v + 5 : NULL;
    if (v == NULL) {
        return 0;
    }
    char *dot;
    const unsigned major = (unsigned)strtoul(v, &dot, 10);
    return 1000 * major + (*dot == '.' ? (unsigned)strtoul(dot + 1, NULL, 10) : 0);
}

// The eight fields and the time. Lines about what was not made have fewer, or no time.
static bool read_fields(const char *at, mxp_verbose_line *line)
{
    const char *field = at;
    line->problem = at;
    for (int i = 0; i < FIELDS; i++) {
        const char *comma = strchr(field, ',');
        if (comma == NULL) {
            return false;
        }
        if (i == 1) {
            line->primitive = field;
            line->primitive_length = (size_t)(comma - field);
        }
        line->problem_length = (size_t)(comma - at);
        field = comma + 1;
    }
    char *end;
    line->ms = strtod(field, &end);
    return end != field && (*end == '\n' || *end == '\0') && line->ms >= 0 && line->ms < 1e12;
}

bool mxp__verbose_parse(const char *text, mxp_verbose_line *line)
{
    *line = (mxp_verbose_line){0};
    const char *at = after_marker(text);
    if (at == NULL) {
        return false;
    }
    at = skip_head(at, &line->is_late);
    const char *exec = skip_word(at, "exec"), *create = skip_word(at, "create");
    const char *info = skip_word(at, "info");
    if (info != NULL) {
        line->kind = MXP__VERBOSE_INFO;
        line->version = version_in(info);
    } else if (exec != NULL && read_fields(exec, line)) {
        line->kind = MXP__VERBOSE_EXEC;
    } else if (create != NULL && read_fields(create, line)) {
        line->kind = MXP__VERBOSE_CREATE;
    }
    return true;
}
