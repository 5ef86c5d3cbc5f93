// SPDX-License-Identifier: Apache-2.0
// Images are returned by compare-and-swap and are taken under the push lock, which a fork holds.
#include "runtime/engine/bulk_image.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "runtime/engine/block_pool.h"
#include "runtime/engine/engine_state.h"

_Static_assert(sizeof(mxn_bulk_image) % sizeof(mxn_use) == 0, "operations are aligned");

mxn_bulk_image *mxn__image_new(size_t size_bytes)
{
    mxn_bulk_image *image = mxp__alloc(size_bytes);
    if (image == NULL) {
        mxp__fail_memory("a bulk template");
    }
    return image;
}

// Where in `copy` is what is at `at` in the model.
static mxn_operation *moved(const mxn_bulk_template *bulk, mxn_bulk_image *copy,
                            const mxn_operation *at)
{
    size_t offset = (size_t)((const char *)at - (const char *)bulk->model);
    assert(offset < bulk->image_bytes);
    return (mxn_operation *)((char *)copy + offset);
}

mxn_bulk_image *mxn__image_copy(mxn_bulk_template *bulk)
{
    mxn_bulk_image *image = mxn__image_new(bulk->image_bytes);
    if (image == NULL) {
        return NULL;
    }
    memcpy(image, bulk->model, bulk->image_bytes);
    image->next = NULL;
    mxn_operation **link = &image->members;
    for (mxn_operation *at = bulk->model->members; at != NULL; at = at->next) {
        *link = moved(bulk, image, at);
        mxn__operation_extra(*link)->deleter = NULL;
        link = &(*link)->next;
    }
    return image;
}

mxn_bulk_image *mxn__image_take_locked(mxn_bulk_template *bulk)
{
    assert(mxn__spin_is_held(&mxn__engine.push_lock));
    mxn_bulk_image *image = bulk->spare;
    if (image == NULL) {  // pairs with the release in mxn__image_give
        image = mxp_atomic_exchange_acquire(&bulk->returned, NULL);
    }
    if (image != NULL) {
        bulk->spare = image->next;
    }
    return image;
}

void mxn__image_leaves(mxn_thread *self, mxn_bulk_image *image)
{
    mxn__block_leaves(self);
    mxp__refs_take(&image->of->references);
}

void mxn__image_give(mxn_operation *op)
{
    mxn_bulk_image *image = (mxn_bulk_image *)op - 1;
    mxn_bulk_template *bulk = image->of;
    mxn__block_comes_home(mxn__operation_owner(op));
    mxn_bulk_image *head = mxp_atomic_load(&bulk->returned);
    do {
        image->next = head;
    } while (!mxp_atomic_cas_release(&bulk->returned, &head, image));
    mxn__template_release(bulk);
}

// ---- the end ----------------------------------------------------------------------------------

static void free_images(mxn_bulk_image *image, size_t size_bytes)
{
    while (image != NULL) {
        mxn_bulk_image *next = image->next;
        mxp__free(image, size_bytes);
        image = next;
    }
}

static void template_end(mxn_bulk_template *bulk)
{
    for (mxn_operation *member = bulk->model->members; member != NULL; member = member->next) {
        void (*deleter)(void *) = mxn__operation_extra(member)->deleter;
        if (deleter != NULL) {
            deleter(member->argument);
        }
    }
    free_images(bulk->spare, bulk->image_bytes);
    free_images(mxp_atomic_own(&bulk->returned), bulk->image_bytes);
    free_images(bulk->model, bulk->image_bytes);
    mxp__free(bulk, sizeof *bulk);
}

void mxn__template_release(mxn_bulk_template *bulk)
{
    if (mxp__refs_drop(&bulk->references)) {
        template_end(bulk);
    }
}
