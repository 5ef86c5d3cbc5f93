// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/server_profile.h"

#include <mxprof/profiler.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "runtime/kvstore/record_detail.h"

enum { PAIRS_MAX = 256 };

static void put_u32(mxp_strbuf *body, uint32_t value)
{
    mxp__strbuf_append(body, (const char *)&value, sizeof value);
}

static void put_text(mxp_strbuf *body, const char *text)
{
    put_u32(body, (uint32_t)strlen(text));
    mxp__strbuf_append(body, text, strlen(text) + 1);  // with its zero: read where it stands
}

void mxn__server_profile_write(const mxn_kv_profile *command, mxp_strbuf *body)
{
    put_u32(body, (uint32_t)command->code);
    put_u32(body, (uint32_t)command->value);
    put_u32(body, command->count);
    for (uint32_t i = 0; i < command->count; i++) {
        put_text(body, command->keys[i]);
        put_text(body, command->values[i]);
    }
}

// ---- reading -----------------------------------------------------------------------------------
typedef struct reader {
    const char *at, *end;
} reader;

static bool get_u32(reader *r, uint32_t *value)
{
    if ((size_t)(r->end - r->at) < sizeof *value) {
        return false;
    }
    memcpy(value, r->at, sizeof *value);
    r->at += sizeof *value;
    return true;
}

static bool get_text(reader *r, const char **text)
{
    uint32_t length;
    if (!get_u32(r, &length) || (size_t)(r->end - r->at) <= length || r->at[length] != '\0' ||
        strlen(r->at) != length) {
        return false;
    }
    *text = r->at;
    r->at += length + 1;
    return true;
}

static bool read_command(reader *r, mxn_kv_profile *command, const char **keys, const char **values)
{
    uint32_t code, value;
    bool ok = get_u32(r, &code) && get_u32(r, &value) && get_u32(r, &command->count) &&
              command->count <= PAIRS_MAX;
    for (uint32_t i = 0; ok && i < command->count; i++) {
        ok = get_text(r, &keys[i]) && get_text(r, &values[i]);
    }
    command->code = ok ? (int)code : 0;
    command->value = ok ? (int)value : 0;
    command->keys = keys;
    command->values = values;
    return ok && r->at == r->end;
}

// ---- doing -------------------------------------------------------------------------------------
static const char *const file_options[] = {"filename", "native_filename", "snapshot_filename",
                                           "gpu_memory_profile_filename_prefix", NULL};

static bool names_file(const char *key)
{
    const char *const *at = file_options;
    while (*at != NULL && strcmp(*at, key) != 0) {
        at++;
    }
    return *at != NULL;
}

// The server's rank before the last part of the path.
static void prefix(uint32_t rank, const char *path, mxp_strbuf *to)
{
    const char *slash = strrchr(path, '/');
    const char *last = slash == NULL ? path : slash + 1;
    mxp__strbuf_append(to, path, (size_t)(last - path));
    mxp__strbuf_printf(to, "rank%u_%s", rank, last);
}

static int configure(const mxn_kv_profile *command, uint32_t rank)
{
    const char *keys[PAIRS_MAX + 1], *values[PAIRS_MAX + 1];
    mxp_strbuf names[PAIRS_MAX + 1] = {{0}};
    int count = 0;
    bool has_file = false, failed = false;
    for (uint32_t i = 0; i < command->count; i++) {
        if (strcmp(command->keys[i], "profile_process") == 0) {
            continue;  // that is us
        }
        has_file = has_file || strcmp(command->keys[i], "filename") == 0;
        keys[count] = command->keys[i];
        values[count] = command->values[i];
        if (names_file(keys[count])) {
            prefix(rank, values[count], &names[count]);
            failed = failed || names[count].failed;
            values[count] = mxp__strbuf_text(&names[count]);
        }
        count++;
    }
    if (!has_file) {
        keys[count] = "filename";
        prefix(rank, "profile.json", &names[count]);
        failed = failed || names[count].failed;
        values[count] = mxp__strbuf_text(&names[count]);
        count++;
    }
    mxn_detail_choice detail;
    int error = failed ? mxp__fail_memory("a file's name")
                       : mxn_record_detail_take(&count, keys, values, &detail);
    if (error == MXP_OK) {
        error = mxp_session_configure_pairs(mxp_session_get(), count, keys, values);
    }
    if (error == MXP_OK) {
        error = mxn_record_detail_set(&detail);
    }
    for (int i = 0; i < PAIRS_MAX + 1; i++) {
        mxp__strbuf_fini(&names[i]);
    }
    return error;
}

static int run(const mxn_kv_profile *command, uint32_t rank)
{
    mxp_session *session = mxp_session_get();
    switch (command->code) {
    case MXN_KV_SET_CONFIG:
        return configure(command, rank);
    case MXN_KV_SET_STATE:
        return command->value == 1 ? mxp_session_run(session) : mxp_session_stop(session);
    case MXN_KV_PAUSE:
        return mxp_session_pause(session, command->value);
    case MXN_KV_DUMP:
        return mxp_session_dump(session, command->value);
    default:
        return mxp__fail(MXP_EFORMAT, "no profiler command %d", command->code);
    }
}

int mxn__server_profile_run(const void *body, size_t length, uint32_t rank, bool is_alone)
{
    static bool said;  // one thread does tasks
    const char *keys[PAIRS_MAX], *values[PAIRS_MAX];
    mxn_kv_profile command;
    reader r = {.at = body, .end = (const char *)body + length};
    if (!read_command(&r, &command, keys, values)) {
        return mxp__fail(MXP_EFORMAT, "a profiler command of %zu bytes cannot be read", length);
    }
    if (is_alone) {
        return run(&command, rank);
    }
    if (!said && rank == 0) {
        said = true;
        fprintf(stderr, "mxnet: profile_process 'server': the owners of this store are inside the "
                        "workers, and so are their rows in the workers' profiles; there is nothing "
                        "to configure\n");
    }
    return MXP_OK;
}
