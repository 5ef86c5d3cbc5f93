// SPDX-License-Identifier: Apache-2.0
// JSON from outside, for the texts of optimizers: length and depth are bounded before Jansson sees
// a text, and each look says what it expects. Nothing here without Jansson. Private to kvstore/.
#ifndef MXN_KVSTORE_BOUNDED_JSON_H
#define MXN_KVSTORE_BOUNDED_JSON_H

#ifdef MXN_WITH_JANSSON
#include <jansson.h>
#include <stddef.h>

#include "runtime/kvstore/rate_schedule.h"

// All return 0 or MXP_EINVAL with the detail set; on failure nothing is given out.

// The object that the text is; the caller's to let go of. Members must not come twice.
int mxn__json_parse(const char *text, size_t length, json_t **root);
// The member, an object, or null if it is missing; belongs to `in`.
int mxn__json_object(json_t *in, const char *name, json_t **object);
// The member "name", a text that belongs to `in`, which `where` calls.
int mxn__json_name(json_t *in, const char *where, const char **name);
// Whether every member is one of these; null ends the list.
int mxn__json_check_members(json_t *object, const char *where, const char *const *known);
int mxn__json_number(json_t *value, const char *owner, const char *name, double *number);

// A schedule from {"name": …, "args": {…}}. MXP_ENOTSUP: none is built in by that name. What is in
// `schedule` is the caller's to end, after a failure too.
int mxn__kv_schedule_read(json_t *text, mxn_kv_schedule *schedule);
#endif

#endif
