// SPDX-License-Identifier: Apache-2.0
// Lines that people read in the moment in which something went wrong: who, what, where.
#include "runtime/kvstore/liveness_words.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void mxn__live_name(const mxn_live_identity *who, char name[MXN_LIVE_NAME_BYTES])
{
    snprintf(name, MXN_LIVE_NAME_BYTES, "%s %d (rank %d, host %s, pid %u)", who->role,
             who->role_rank, who->rank, who->host, who->pid);
}

void mxn__live_line(const char *text, const mxn_live_identity *self, const char *doing,
                    char line[MXN_LIVENESS_LINE_BYTES])
{
    snprintf(line, MXN_LIVENESS_LINE_BYTES, "%s; this was %s %d%s%s", text, self->role,
             self->role_rank, doing[0] == '\0' ? "" : " in ", doing);
}

__attribute__((format(printf, 3, 4))) static void add(char *line, uint32_t *length,
                                                      const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int more = vsnprintf(line + *length, MXN_LIVENESS_LINE_BYTES - *length, format, arguments);
    va_end(arguments);
    *length += more > 0 ? (uint32_t)more : 0;
    if (*length >= MXN_LIVENESS_LINE_BYTES) {
        *length = MXN_LIVENESS_LINE_BYTES - 1;
    }
}

static void add_bracket(char *line, uint32_t *length, double heard_s, const char *did)
{
    if (heard_s < 0) {
        add(line, length, " (this process%s%s)", did[0] == '\0' ? "" : ", last did: ", did);
    } else {
        add(line, length, " (last heard %.1f s ago%s%s)", heard_s,
            did[0] == '\0' ? "" : ", last did: ", did);
    }
}

static bool did_the_same(const mxn_live_late *late, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        if (strcmp(late[i].did, late[0].did) != 0 ||
            (late[i].heard_s < 0) != (late[0].heard_s < 0)) {
            return false;
        }
    }
    return true;
}

void mxn__live_stall_line(const char *what, const mxn_live_late *late, uint32_t count,
                          uint32_t total, char line[MXN_LIVENESS_LINE_BYTES])
{
    assert(count > 0 && count <= total);
    bool same = did_the_same(late, count);
    double heard_s = late[0].heard_s;
    uint32_t length = 0;
    add(line, &length, "%s waits for %s%s", what, late[0].role, total > 1 ? "s" : "");
    for (uint32_t i = 0; i < count; i++) {
        add(line, &length, "%s %d", i == 0 ? "" : ",", late[i].role_rank);
        if (!same) {
            add_bracket(line, &length, late[i].heard_s, late[i].did);
        }
        heard_s = late[i].heard_s > heard_s ? late[i].heard_s : heard_s;
    }
    if (total > count) {
        add(line, &length, " and %u more", total - count);
    }
    if (same) {
        add_bracket(line, &length, heard_s, late[0].did);
    }
}
