// SPDX-License-Identifier: Apache-2.0
// Jansson parses; length and depth are checked before it sees the text, and everything it gives is
// checked against the tables of update_rules.h before it counts.
#include "runtime/kvstore/optimizer_text.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/strbuf.h"
#include "runtime/kvstore/bounded_json.h"

#ifdef MXN_WITH_JANSSON

// ---- arguments ---------------------------------------------------------------------------------
static int read_argument(const mxn_kv_argument *argument, json_t *value, const char *owner,
                         mxn_kv_settings *settings)
{
    double *to = (double *)(void *)((char *)settings + argument->offset);
    if (argument->kind >= MXN_KV_OPTIONAL && json_is_null(value)) {
        return MXP_OK;
    }
    if (argument->kind == MXN_KV_FLAG && json_is_boolean(value)) {
        *to = json_is_true(value);
        return MXP_OK;
    }
    int error = mxn__json_number(value, owner, argument->name, to);
    if (error == MXP_OK && argument->kind == MXN_KV_FLAG) {
        *to = *to != 0;
    }
    return error;
}

static int unknown_argument(const mxn_kv_rule *rule, const char *name)
{
    mxp_strbuf known = {0};
    const mxn_kv_argument *const tables[] = {mxn__kv_common_arguments, rule->arguments};
    for (int table = 0; table < 2; table++) {
        for (const mxn_kv_argument *at = tables[table]; at->name != NULL; at++) {
            mxp__strbuf_printf(&known, "%s%s", known.length == 0 ? "" : ", ", at->name);
        }
    }
    int error = mxp__fail(MXP_EINVAL, "optimizer text: %s has no argument \"%s\"; there are %s",
                          rule->name, name, mxp__strbuf_text(&known));
    mxp__strbuf_fini(&known);
    return error;
}

static bool has_argument(const mxn_kv_argument *table, const char *name)
{
    while (table->name != NULL && strcmp(table->name, name) != 0) {
        table++;
    }
    return table->name != NULL;
}

static int check_arguments(const mxn_kv_rule *rule, json_t *args)
{
    const char *key;
    json_t *value;
    json_object_foreach(args, key, value)
    {
        if (!has_argument(mxn__kv_common_arguments, key) && !has_argument(rule->arguments, key)) {
            return unknown_argument(rule, key);
        }
    }
    return MXP_OK;
}

// Those that are there, in the order of the table: a second name of an argument comes after it.
static int read_arguments(const mxn_kv_rule *rule, json_t *args, mxn_kv_settings *settings)
{
    const mxn_kv_argument *const tables[] = {mxn__kv_common_arguments, rule->arguments};
    int error = args == NULL ? MXP_OK : check_arguments(rule, args);
    for (int table = 0; table < 2 && args != NULL; table++) {
        for (const mxn_kv_argument *at = tables[table]; error == MXP_OK && at->name != NULL; at++) {
            json_t *value = json_object_get(args, at->name);
            error = value == NULL ? MXP_OK : read_argument(at, value, rule->name, settings);
        }
    }
    if (error == MXP_OK && settings->begin_num_update < 0) {
        error = mxp__fail(MXP_EINVAL, "optimizer text: \"begin_num_update\" must not be negative");
    }
    return error;
}

static void set_defaults(const mxn_kv_rule *rule, mxn_kv_settings *settings)
{
    const mxn_kv_argument *const tables[] = {mxn__kv_common_arguments, rule->arguments};
    for (int table = 0; table < 2; table++) {
        for (const mxn_kv_argument *at = tables[table]; at->name != NULL; at++) {
            if (at->kind != MXN_KV_ALIAS) {
                *(double *)(void *)((char *)settings + at->offset) = at->value;
            }
        }
    }
}

// ---- what is said of keys ----------------------------------------------------------------------
// An object whose values are all numbers, or all texts; null if it is missing.
static int read_by_key(json_t *root, const char *name, bool of_texts, void **to)
{
    const char *key;
    json_t *object = NULL, *value;
    int error = mxn__json_object(root, name, &object);
    if (error != MXP_OK) {
        return error;
    }
    json_object_foreach(object, key, value)
    {
        if (of_texts ? !json_is_string(value) : !json_is_number(value)) {
            return mxp__fail(MXP_EINVAL, "optimizer text: \"%s\": \"%s\" must be a %s", name, key,
                             of_texts ? "text" : "number");
        }
    }
    if (object != NULL) {
        json_decref(*to);
        *to = json_incref(object);
    }
    return MXP_OK;
}

static double number_of(const void *object, const char *key, double otherwise)
{
    json_t *value = json_object_get(object, key);
    return value == NULL ? otherwise : json_number_value(value);
}

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), of_end = strlen(end);
    return length >= of_end && strcmp(text + length - of_end, end) == 0;
}

mxn_kv_of_key mxn__kv_optimizer_of_key(const mxn_kv_optimizer *optimizer, const char *key)
{
    const char *given = json_string_value(json_object_get(optimizer->names, key));
    const char *called = given == NULL ? key : given;
    const bool decays = given == NULL || ends_with(given, "_weight") ||
                        (!optimizer->rule->spares_gamma && ends_with(given, "_gamma"));
    return (mxn_kv_of_key){
        .lr_mult = number_of(optimizer->multipliers, key, 1),
        .wd_mult = number_of(optimizer->decays, key, decays ? 1 : 0),
        .follows_norms =
            !ends_with(called, "gamma") && !ends_with(called, "beta") && !ends_with(called, "bias"),
    };
}

// ---- optimizers --------------------------------------------------------------------------------
static int no_rule(const char *name)
{
    mxp_strbuf known = {0};
    for (uint32_t i = 0; mxn__kv_rule_at(i) != NULL; i++) {
        mxp__strbuf_printf(&known, "%s%s", i == 0 ? "" : ", ", mxn__kv_rule_at(i)->name);
    }
    int error =
        mxp__fail(MXP_ENOTSUP, "optimizer text: no optimizer \"%s\" is built in; there are %s",
                  name, mxp__strbuf_text(&known));
    mxp__strbuf_fini(&known);
    return error;
}

static int read_optimizer(json_t *root, mxn_kv_optimizer *to)
{
    static const char *const members[] = {"name",  "args", "lr_scheduler", "lr_mult", "wd_mult",
                                          "index", NULL};
    const char *name = NULL;
    json_t *args = NULL, *schedule = NULL;
    int error = mxn__json_name(root, "it", &name);
    if (error == MXP_OK) {
        to->rule = mxn__kv_rule_find(name);
        error = to->rule == NULL ? no_rule(name)
                                 : mxn__json_check_members(root, "an optimizer", members);
    }
    error = error == MXP_OK ? mxn__json_object(root, "args", &args) : error;
    if (error == MXP_OK) {
        set_defaults(to->rule, &to->settings);
        error = read_arguments(to->rule, args, &to->settings);
    }
    if (error == MXP_OK && !json_is_null(json_object_get(root, "lr_scheduler"))) {
        error = mxn__json_object(root, "lr_scheduler", &schedule);
    }
    if (error == MXP_OK && schedule != NULL) {
        error = mxn__kv_schedule_read(schedule, &to->schedule);
    }
    error = error == MXP_OK ? read_by_key(root, "lr_mult", false, &to->multipliers) : error;
    error = error == MXP_OK ? read_by_key(root, "wd_mult", false, &to->decays) : error;
    return error == MXP_OK ? read_by_key(root, "index", true, &to->names) : error;
}

int mxn__kv_optimizer_read(const char *text, size_t length, mxn_kv_optimizer **made)
{
    json_t *root = NULL;
    *made = NULL;
    int error = mxn__json_parse(text, length, &root);
    if (error != MXP_OK) {
        return error;
    }
    mxn_kv_optimizer *to = mxp__alloc(sizeof *to);
    error = to == NULL ? mxp__fail_memory("an optimizer") : read_optimizer(root, to);
    json_decref(root);
    if (error != MXP_OK) {
        mxn__kv_optimizer_free(to);
        return error;
    }
    if (to->schedule.kind != MXN_KV_NO_SCHEDULE && !isnan(to->settings.lr)) {
        to->schedule.base_lr = to->settings.lr;
    }
    to->settings.lr = isnan(to->settings.lr) ? to->rule->rate : to->settings.lr;
    *made = to;
    return MXP_OK;
}

void mxn__kv_optimizer_free(mxn_kv_optimizer *optimizer)
{
    if (optimizer != NULL) {
        mxn__kv_schedule_fini(&optimizer->schedule);
        json_decref(optimizer->multipliers);
        json_decref(optimizer->decays);
        json_decref(optimizer->names);
        mxp__free(optimizer, sizeof *optimizer);
    }
}

// ---- changes -----------------------------------------------------------------------------------
int mxn__kv_text_kind(const char *text, size_t length)
{
    json_t *root = NULL;
    if (mxn__json_parse(text, length, &root) != MXP_OK) {
        return MXN_KV_TEXT_OPTIMIZER;
    }
    const int kind = json_object_get(root, "set") != NULL      ? MXN_KV_TEXT_CHANGE
                     : json_object_get(root, "pickle") != NULL ? MXN_KV_TEXT_PICKLE
                                                               : MXN_KV_TEXT_OPTIMIZER;
    json_decref(root);
    return kind;
}

static int read_change(json_t *root, mxn_kv_optimizer *to)
{
    static const char *const members[] = {"set", "lr_mult", "wd_mult", NULL};
    json_t *args = NULL;
    int error = mxn__json_check_members(root, "a change", members);
    error = error == MXP_OK ? mxn__json_object(root, "set", &args) : error;
    if (error == MXP_OK && to->schedule.kind != MXN_KV_NO_SCHEDULE &&
        json_object_get(args, "learning_rate") != NULL) {
        error = mxp__fail(MXP_EINVAL, "the lr_scheduler sets the learning rate of this optimizer");
    }
    error = error == MXP_OK ? read_arguments(to->rule, args, &to->settings) : error;
    error = error == MXP_OK ? read_by_key(root, "lr_mult", false, &to->multipliers) : error;
    return error == MXP_OK ? read_by_key(root, "wd_mult", false, &to->decays) : error;
}

int mxn__kv_optimizer_set(mxn_kv_optimizer *optimizer, const char *text, size_t length)
{
    json_t *root = NULL;
    int error = mxn__json_parse(text, length, &root);
    if (error != MXP_OK) {
        return error;
    }
    mxn_kv_optimizer changed = *optimizer;  // shares what stays
    json_incref(changed.multipliers);
    json_incref(changed.decays);
    error = read_change(root, &changed);
    json_decref(root);
    mxn_kv_optimizer *loser = error == MXP_OK ? optimizer : &changed;
    json_decref(loser->multipliers);
    json_decref(loser->decays);
    if (error == MXP_OK) {
        *optimizer = changed;
    }
    return error;
}
#else
int mxn__kv_optimizer_read(const char *text, size_t length, mxn_kv_optimizer **made)
{
    (void)text, (void)length;
    *made = NULL;
    return mxp__fail(MXP_EINVAL, "this library was built without Jansson, which reads optimizers "
                                 "that are sent to servers");
}

void mxn__kv_optimizer_free(mxn_kv_optimizer *optimizer)
{
    (void)optimizer;
}

int mxn__kv_optimizer_set(mxn_kv_optimizer *optimizer, const char *text, size_t length)
{
    (void)optimizer, (void)text, (void)length;
    return mxp__fail(MXP_EINVAL, "this library was built without Jansson");
}

int mxn__kv_text_kind(const char *text, size_t length)
{
    (void)text, (void)length;
    return MXN_KV_TEXT_OPTIMIZER;
}

mxn_kv_of_key mxn__kv_optimizer_of_key(const mxn_kv_optimizer *optimizer, const char *key)
{
    (void)optimizer, (void)key;
    return (mxn_kv_of_key){1, 1, true};
}
#endif
