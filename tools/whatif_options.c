// SPDX-License-Identifier: Apache-2.0
#include "whatif_options.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

static bool parse_factor(const char *text, double *factor)
{
    char *end;
    *factor = strtod(text, &end);
    return end != text && *end == '\0' && *factor >= 0 && *factor <= 1e6;
}

static int add_change(const mxp_command *self, mxp_whatif_options *options, mxp_change change)
{
    if (options->count == MXP_WHATIF_CHANGES_MAX) {
        return mxp__usage_error(self, "more than %d changes", MXP_WHATIF_CHANGES_MAX);
    }
    options->changes[options->count++] = change;
    return -1;
}

// A copy of the text up to `end`, which lives as long as the options. Null: there is no memory,
// which is said.
static char *cut_glob(mxp_whatif_options *options, const char *text, const char *end)
{
    const size_t length = (size_t)(end - text);
    char *glob = mxp__alloc(length + 1);
    if (glob == NULL) {
        mxp__fail_memory("the names of what changes");
        return NULL;
    }
    memcpy(glob, text, length);
    options->globs[options->glob_count++] = glob;
    return glob;
}

// "GLOB=F"; names may have an equals sign in them.
static int add_scaled(const mxp_command *self, mxp_whatif_options *options, const char *option,
                      mxp_change_kind kind, const mxp_option_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const char *text = list->words[i], *equals = strrchr(text, '=');
        mxp_change change = {.kind = kind};
        if (equals == NULL || equals == text || !parse_factor(equals + 1, &change.factor)) {
            return mxp__usage_error(self, "'%s' of %s is not GLOB=FACTOR, as in '*conv1*=0.5'",
                                    text, option);
        }
        change.glob = cut_glob(options, text, equals);
        const int code =
            change.glob == NULL ? mxp__command_failed(self) : add_change(self, options, change);
        if (code >= 0) {
            return code;
        }
    }
    return -1;
}

// "GLOB" or "GLOB#n".
static int add_no_waits(const mxp_command *self, mxp_whatif_options *options)
{
    for (size_t i = 0; i < options->no_waits.count; i++) {
        const char *text = options->no_waits.words[i], *hash = strrchr(text, '#');
        mxp_change change = {.kind = MXP_CHANGE_NO_WAIT};
        size_t number = 0;
        int code = -1;
        if (hash != NULL) {
            code = mxp__count_option(self, "--no-wait", hash + 1, &number);
        }
        change.count = (uint32_t)number;
        change.glob = cut_glob(options, text, hash != NULL ? hash : text + strlen(text));
        if (code < 0) {
            code =
                change.glob == NULL ? mxp__command_failed(self) : add_change(self, options, change);
        }
        if (code >= 0) {
            return code;
        }
    }
    return -1;
}

static int add_roofs(const mxp_command *self, mxp_whatif_options *options)
{
    int code = -1;
    for (size_t i = 0; i < options->roofs.count && code < 0; i++) {
        code = add_change(self, options,
                          (mxp_change){.kind = MXP_CHANGE_ROOF,
                                       .glob = options->roofs.words[i],
                                       .ceilings = &options->roof});
    }
    if (code < 0 && options->ceilings != NULL && options->roofs.count == 0) {
        code = mxp__usage_error(self, "--ceilings is for --roof GLOB");
    }
    return code;
}

static int add_counted(const mxp_command *self, mxp_whatif_options *options, const char *option,
                       const char *text, mxp_change_kind kind)
{
    size_t count;
    if (text == NULL) {
        return -1;
    }
    const int code = mxp__count_option(self, option, text, &count);
    if (code >= 0) {
        return code;
    }
    if (count > 256) {
        return mxp__usage_error(self, "%s is more than 256", option);
    }
    return add_change(self, options, (mxp_change){.kind = kind, .count = (uint32_t)count});
}

static int add_program(const mxp_command *self, mxp_whatif_options *options)
{
    int code = -1;
    if (options->host != NULL) {
        mxp_change change = {.kind = MXP_CHANGE_HOST};
        if (!parse_factor(options->host, &change.factor)) {
            return mxp__usage_error(self, "'%s' of --host is no factor, as 0.5 is", options->host);
        }
        code = add_change(self, options, change);
    }
    if (code < 0 && options->prefetch != NULL) {
        if (strcmp(options->prefetch, "input") != 0) {
            return mxp__usage_error(self, "only 'input' can be prefetched, not '%s'",
                                    options->prefetch);
        }
        code = add_change(self, options, (mxp_change){.kind = MXP_CHANGE_PREFETCH});
    }
    return code;
}

int mxp__whatif_take_changes(const mxp_command *self, mxp_whatif_options *options)
{
    int code = add_scaled(self, options, "--name", MXP_CHANGE_NAME, &options->names);
    if (code < 0) {
        code = add_scaled(self, options, "--scope", MXP_CHANGE_SCOPE, &options->scopes);
    }
    if (code < 0) {
        code = add_scaled(self, options, "--call", MXP_CHANGE_CALL, &options->calls);
    }
    if (code < 0) {
        code = add_no_waits(self, options);
    }
    if (code < 0) {
        code = add_program(self, options);
    }
    if (code < 0) {
        code = add_roofs(self, options);
    }
    if (code < 0) {
        code = add_counted(self, options, "--workers", options->workers, MXP_CHANGE_WORKERS);
    }
    return code >= 0 ? code : add_counted(self, options, "--bulk", options->bulk, MXP_CHANGE_BULK);
}

void mxp__whatif_options_fini(mxp_whatif_options *options)
{
    for (size_t i = 0; i < options->glob_count; i++) {
        mxp__free(options->globs[i], strlen(options->globs[i]) + 1);
    }
    options->glob_count = 0;
}
