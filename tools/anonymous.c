// SPDX-License-Identifier: Apache-2.0
// Who measured where, left out of what a trace says of itself: INFO without host, command and
// paths, machines of a job with numbers in the place of their names, the file without its folders.
// What is made of the trace then has none of it, whichever way it goes.
#include "anonymous.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/clocks/one_clock.h"
#include "profiler/trace/merge.h"

static bool is_private(const mxp_info_pair *pair)
{
    static const char *const keys[] = {"host", "command", "user", "cwd", "executable", "path"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (strstr(pair->key, keys[i]) != NULL) {
            return true;
        }
    }
    return strchr(pair->value, '/') != NULL;
}

// "worker 0 (host)" becomes "worker 0"; INFO has the same text.
static void shorten_names(mxp_one_clock *clocks)
{
    for (size_t i = 0; clocks != NULL && i < clocks->count; i++) {
        clocks->clocks[i].name[strcspn(clocks->clocks[i].name, "(")] = '\0';
        size_t length = strlen(clocks->clocks[i].name);
        if (length > 0 && clocks->clocks[i].name[length - 1] == ' ') {
            clocks->clocks[i].name[length - 1] = '\0';
        }
    }
}

static int fail_memory(void)
{
    return mxp__fail_memory("what a trace says of itself");
}

// Copies what the process says of itself, to be changed.
static int take_owner(mxp_owned_info *own, const mxp_source *source)
{
    if (source->clock_bytes == 0) {
        return MXP_OK;
    }
    own->owner = mxp__alloc(source->clock_bytes);
    if (own->owner == NULL) {
        return fail_memory();
    }
    own->owner_bytes = source->clock_bytes;
    memcpy(own->owner, source->clock_owner, source->clock_bytes);
    return MXP_OK;
}

static int take_info(mxp_input *input, const mxp_source *source)
{
    if (mxp__grow(&input->infos, &input->info_capacity, input->info_count + 1,
                  sizeof *input->infos) != MXP_OK) {
        return fail_memory();
    }
    mxp_owned_info *own = &input->infos[input->info_count++];
    *own = (mxp_owned_info){.count = source->info_count + 1,
                            .pairs = mxp__alloc((source->info_count + 1) * sizeof *own->pairs)};
    return own->pairs != NULL ? take_owner(own, source) : fail_memory();
}

// Machines keep apart, by the first process of each.
static void name_machine(const mxp_input *input, size_t at)
{
    mxp_clock_owner *owner = input->infos[at].owner;
    size_t first = 0;
    while (first < at) {
        const mxp_source *other = mxp__source_process(input->source, first);
        if (other->clock_bytes > 0 &&
            strncmp(other->clock_owner->host, owner->host, sizeof owner->host) == 0) {
            break;
        }
        first++;
    }
    memset(input->infos[at].host, 0, sizeof input->infos[at].host);
    snprintf(input->infos[at].host, sizeof input->infos[at].host, "machine %zu", first);
}

static void put_info(mxp_source *source, mxp_owned_info *own)
{
    size_t count = 0;
    for (size_t i = 0; i < source->info_count; i++) {
        if (!is_private(&source->info[i])) {
            own->pairs[count++] = source->info[i];
        }
    }
    source->info = own->pairs;
    source->info_count = count;
    if (own->owner != NULL) {
        memcpy(own->owner->host, own->host, sizeof own->owner->host);
        source->clock_owner = own->owner;
    }
}

const char *mxp__without_folders(const char *path)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') {
        length--;
    }
    while (length > 0 && path[length - 1] != '/') {
        length--;
    }
    return path[length] != '\0' ? path + length : path;
}

int mxp__input_anonymize(mxp_input *input)
{
    mxp_source *process;
    int error = MXP_OK;
    shorten_names(input->clocks);
    for (size_t i = 0; error == MXP_OK && (process = mxp__source_process(input->source, i)) != NULL;
         i++) {
        error = take_info(input, process);
    }
    if (error != MXP_OK) {
        return error;
    }
    for (size_t i = 0; i < input->info_count; i++) {
        if (input->infos[i].owner != NULL) {
            name_machine(input, i);
        }
    }
    for (size_t i = 0; i < input->info_count; i++) {
        put_info(mxp__source_process(input->source, i), &input->infos[i]);
    }
    if (input->source->process_count > 0) {
        input->source->info = input->source->processes[0]->info;
        input->source->info_count = input->source->processes[0]->info_count;
    }
    input->path = mxp__without_folders(input->path);
    return MXP_OK;
}

void mxp__input_forget_infos(mxp_input *input)
{
    while (input->info_count > 0) {
        mxp_owned_info *own = &input->infos[--input->info_count];
        mxp__free(own->pairs, own->count * sizeof *own->pairs);
        mxp__free(own->owner, own->owner_bytes);
    }
    mxp__free(input->infos, input->info_capacity * sizeof *input->infos);
    input->infos = NULL;
    input->info_capacity = 0;
}
