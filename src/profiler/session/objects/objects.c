// SPDX-License-Identifier: Apache-2.0
// Making and destroying user objects. A domain carries the three category strings made from its
// name; domains of one name are one object, so a program may ask for it as often as it likes.
#include <mxprof/profiler.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/session/objects/handles.h"

enum {
    DOMAIN = 1 << MXP__OBJECT_DOMAIN,
    ANY = DOMAIN | 1 << MXP__OBJECT_TASK | 1 << MXP__OBJECT_FRAME | 1 << MXP__OBJECT_EVENT |
          1 << MXP__OBJECT_COUNTER | 1 << MXP__OBJECT_SPAN
};

static const char null_destroy[] =
    "Check failed: object_handle != static_cast<ProfileHandle>(nullptr) (0 vs. 0) : Invalid NULL "
    "handle passed to MXProfileDestroyHandle";

static int check_arguments(const char *name, const char *what, const mxp_handle *out)
{
    if (out == NULL) {
        return mxp__fail(MXP_EINVAL, "Check  notnull: out");
    }
    return name == NULL ? mxp__fail(MXP_EINVAL, "Check  notnull: %s", what) : MXP_OK;
}

// ---- domains ----------------------------------------------------------------------------------
// "NAME\0NAME,frame\0NAME,instant_marker\0" in one block, which a domain never frees.
static size_t strings_bytes(size_t length)
{
    return 3 * length + sizeof("") + sizeof(",frame") + sizeof(",instant_marker");
}

static int domain_strings(const char *name, mxp_slot *content)
{
    size_t length = strlen(name);
    char *block = mxp__alloc(strings_bytes(length));
    if (block == NULL) {
        return mxp__fail_memory("a domain");
    }
    content->text = memcpy(block, name, length + 1);
    block += length + 1;
    content->frames = memcpy(block, name, length);
    memcpy(block + length, ",frame", sizeof(",frame"));
    block += length + sizeof(",frame");
    content->markers = memcpy(block, name, length);
    memcpy(block + length, ",instant_marker", sizeof(",instant_marker"));
    return MXP_OK;
}

int mxp_domain_create(const char *name, mxp_handle *domain)
{
    int error = check_arguments(name, "domain", domain);
    if (error != MXP_OK) {
        return error;
    }
    if (name[0] == '\0') {
        return mxp__fail(MXP_EINVAL, "Check failed: name[0] != '\\0': a domain needs a name");
    }
    mxp_slot content = {.name = mxp_string(name)};
    *domain = mxp__domain_find(content.name);
    if (*domain != NULL) {
        return MXP_OK;
    }
    error = domain_strings(name, &content);
    if (error != MXP_OK) {
        return error;
    }
    mxp__slot_set_label(&content, name);
    bool made;
    error = mxp__domain_create(&content, domain, &made);
    if (error != MXP_OK || !made) {  // another thread was faster
        mxp__free((char *)(uintptr_t)content.text, strings_bytes(strlen(name)));
    }
    return error;
}

// ---- the others -------------------------------------------------------------------------------
static int create(uint32_t type, const char *category, const char *name, int style,
                  mxp_handle *object)
{
    mxp_slot content = {.name = mxp_intern(category, name, style, MXP_UNIT_NONE)};
    mxp__slot_set_label(&content, name);
    return mxp__slot_create(type, &content, object);
}

static int create_in_domain(mxp_handle domain, uint32_t type, const char *name, int style,
                            mxp_handle *object)
{
    mxp_slot *slot;
    int error = mxp__slot_lock(domain, DOMAIN, "Check  notnull: domain", &slot);
    if (error != MXP_OK) {
        return error;
    }
    const char *category = type == MXP__OBJECT_FRAME ? slot->frames : slot->text;
    mxp__slot_unlock(slot);  // domains are for ever
    return create(type, category, name, style, object);
}

int mxp_task_create(mxp_handle domain, const char *name, mxp_handle *task)
{
    int error = check_arguments(name, "task_name", task);
    return error == MXP_OK ? create_in_domain(domain, MXP__OBJECT_TASK, name, MXP_STYLE_ASYNC, task)
                           : error;
}

int mxp_frame_create(mxp_handle domain, const char *name, mxp_handle *frame)
{
    int error = check_arguments(name, "frame_name", frame);
    return error == MXP_OK
               ? create_in_domain(domain, MXP__OBJECT_FRAME, name, MXP_STYLE_ASYNC, frame)
               : error;
}

int mxp_event_create(const char *name, mxp_handle *event)
{
    int error = check_arguments(name, "event_name", event);
    return error == MXP_OK ? create(MXP__OBJECT_EVENT, "event", name, MXP_STYLE_SPAN, event)
                           : error;
}

int mxp_span_create(const char *category, const char *name, mxp_handle *span)
{
    int error = check_arguments(category, "category", span);
    if (error == MXP_OK) {
        error = check_arguments(name, "span_name", span);
    }
    return error == MXP_OK ? create(MXP__OBJECT_SPAN, category, name, MXP_STYLE_SPAN, span) : error;
}

int mxp_counter_create(mxp_handle domain, const char *name, mxp_handle *counter)
{
    int error = check_arguments(name, "counter_name", counter);
    return error == MXP_OK
               ? create_in_domain(domain, MXP__OBJECT_COUNTER, name, MXP_STYLE_COUNTER, counter)
               : error;
}

int mxp_object_destroy(mxp_handle object)
{
    mxp_slot *slot;
    int error = mxp__slot_lock(object, ANY, null_destroy, &slot);
    if (error != MXP_OK) {
        return error;
    }
    if (slot->type == MXP__OBJECT_DOMAIN) {
        mxp__slot_unlock(slot);
        return MXP_OK;
    }
    mxp__slot_destroy(slot);
    return MXP_OK;
}
