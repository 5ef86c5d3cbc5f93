// SPDX-License-Identifier: Apache-2.0
#include "profiler/collect/nvtx/objects.h"

#include <mxprof/foreign.h>
#include <mxprof/record.h>
#include <string.h>

#include "profiler/collect/arena.h"
#include "profiler/collect/nvtx/handles.h"
#include "profiler/collect/settings.h"
#include "profiler/collect/waits.h"

// First in every handle: programs hand in what they like.
enum { RESOURCE_MAGIC = 0x6e767472, SYNC_MAGIC = 0x6e767479, RESOURCE_THREAD = 0x10003 };

typedef struct object {
    uint32_t magic;
    mxp_name name;
} object;

static object *make(uint32_t magic, mxp_name name)
{
    object *made = mxp__arena_take(sizeof *made);
    if (made != NULL) {
        *made = (object){magic, name};
    }
    return made;
}

static mxp_name text_name(const nvtx_domain *domain, int type, const void *message)
{
    return type == NVTX_TEXT_NARROW ? mxp__nvtx_name(domain, message, MXP_STYLE_NONE)
           : type == NVTX_TEXT_WIDE ? mxp__nvtx_name_wide(domain, message, MXP_STYLE_NONE)
                                    : mxp__nvtx_name_registered(domain, message, MXP_STYLE_NONE);
}

void *mxp__nvtx_resource_create(void *handle, const nvtx_resource *given)
{
    nvtx_resource read = {0};
    if (given == NULL) {
        return NULL;
    }
    memcpy(&read, given, given->size_bytes < sizeof read ? given->size_bytes : sizeof read);
    const mxp_name name = text_name(mxp__nvtx_domain(handle), read.message_type, read.message);
    if (read.identifier_type == RESOURCE_THREAD) {
        mxp_thread_name_of((uint32_t)read.identifier.handle, mxp_name_text(name));
    }
    return make(RESOURCE_MAGIC, name);
}

void mxp__nvtx_resource_destroy(void *handle)
{
    const object *resource = handle;
    if (resource == NULL || resource->magic != RESOURCE_MAGIC) {
        mxp_lose_foreign(1);
    }
}

void *mxp__nvtx_sync_create(void *handle, const nvtx_sync_user *given)
{
    nvtx_sync_user read = {0};
    if (given == NULL) {
        return NULL;
    }
    memcpy(&read, given, given->size_bytes < sizeof read ? given->size_bytes : sizeof read);
    const nvtx_domain *domain = mxp__nvtx_domain(handle);
    object *made = make(SYNC_MAGIC, text_name(domain, read.message_type, read.message));
    if (made != NULL) {
        mxp__sync_name(made, mxp_name_text(mxp__nvtx_domain_category(domain)),
                       mxp_name_text(made->name));
    }
    return made;
}

// Null for what is none of ours, which is counted.
static const object *checked(void *handle)
{
    const object *sync = handle;
    if (sync == NULL || sync->magic != SYNC_MAGIC) {
        mxp_lose_foreign(1);
        return NULL;
    }
    return sync;
}

// Another thread may wait for it yet, so only its name is given back.
void mxp__nvtx_sync_destroy(void *handle)
{
    mxp__sync_forget(checked(handle));
}

void mxp__nvtx_sync_acquire_start(void *handle)
{
    const object *sync = checked(handle);
    if (sync != NULL) {
        mxp__sync_prepare(sync);
    }
}

void mxp__nvtx_sync_acquire_failed(void *handle)
{
    const object *sync = checked(handle);
    if (sync != NULL) {
        mxp__sync_cancel(sync);
    }
}

void mxp__nvtx_sync_acquired(void *handle)
{
    const object *sync = checked(handle);
    if (sync != NULL) {
        mxp__sync_acquired(sync);
    }
}

void mxp__nvtx_sync_releasing(void *handle)
{
    const object *sync = checked(handle);
    if (sync != NULL) {
        mxp__sync_releasing(sync);
    }
}
