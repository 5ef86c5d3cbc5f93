// SPDX-License-Identifier: Apache-2.0
// Making checks, unites and holds; a push fills in what is its own, on an image that was returned
// or a new one, and is from then on a single push of an operation whose uses are known.
#define MXP_INLINE
#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "runtime/engine/bulk.h"
#include "runtime/engine/bulk_image.h"
#include "runtime/engine/operation_record.h"
#include "runtime/engine/push.h"
#include "runtime/engine/variable.h"

// ---- making -----------------------------------------------------------------------------------

static int check_works(const mxn_work *works, uint32_t count)
{
    if (count == 0) {
        return mxp__fail(MXP_EINVAL, "a bulk template needs at least one operation");
    }
    for (uint32_t i = 0; i < count; i++) {
        int code = mxn__work_check(&works[i]);
        if (code != MXP_OK) {
            return code;
        }
        if (!mxn__bulk_takes(&works[i]) || works[i].device != works[0].device) {
            return mxp__fail(MXP_EINVAL,
                             "operation %u of a bulk template: all must be synchronous, of "
                             "property %d and priority 0, and on one device",
                             i, MXN_NORMAL);
        }
    }
    return MXP_OK;
}

static uint32_t uses_of(const mxn_work *work)
{
    return work->read_count + work->write_count;
}

// Where members begin: after a bulk that has space for the variables of all.
static size_t members_offset(const mxn_work *works, uint32_t count)
{
    size_t uses = 0;
    for (uint32_t i = 0; i < count; i++) {
        uses += uses_of(&works[i]);
    }
    return sizeof(mxn_bulk_image) + mxn__operation_bytes(uses, true);
}

static void fill_model(mxn_bulk_template *bulk, const mxn_work *works, size_t offset)
{
    mxn_operation *op = mxn__image_bulk(bulk->model);
    op->block_class = MXN__BLOCK_IMAGE;
    op->device = (uint8_t)works[0].device;
    op->flags = MXN__OP_SYMBOLIC;  // if all its members are
    mxn_operation **link = &bulk->model->members;
    for (uint32_t i = 0; i < bulk->count; i++) {
        mxn_operation *member = (mxn_operation *)((char *)bulk->model + offset);
        mxn__operation_model(member, &works[i], mxn__work_flags(&works[i]));
        member->block_class = MXN__BLOCK_MEMBER;
        op->flags &= member->flags;
        bulk->parallel = bulk->parallel || (works[i].flags & MXN_WORK_PARALLEL) != 0;
        *link = member;
        link = &member->next;
        offset += mxn__operation_bytes(uses_of(&works[i]), true);
    }
}

static mxn_bulk_template *template_new(const mxn_work *works, uint32_t count)
{
    const size_t offset = members_offset(works, count);
    size_t image_bytes = offset;
    for (uint32_t i = 0; i < count; i++) {
        image_bytes += mxn__operation_bytes(uses_of(&works[i]), true);
    }
    mxn_bulk_template *bulk = mxp__alloc(sizeof *bulk);
    if (bulk == NULL) {
        mxp__fail_memory("a bulk template");
        return NULL;
    }
    bulk->model = mxn__image_new(image_bytes);
    if (bulk->model == NULL) {
        mxp__free(bulk, sizeof *bulk);
        return NULL;
    }
    mxp__refs_init(&bulk->references);
    bulk->count = count;
    bulk->name = mxn__engine.name_bulk;
    bulk->image_bytes = image_bytes;
    bulk->model->of = bulk;
    fill_model(bulk, works, offset);
    return bulk;
}

static int hold_locked(const mxn_bulk_template *bulk)
{
    assert(mxn__spin_is_held(&mxn__engine.push_lock));
    const mxn_operation *members = bulk->model->members;
    for (const mxn_operation *member = members; member != NULL; member = member->next) {
        int code = mxn__uses_check_locked(member);
        if (code < 0) {
            return code;
        }
    }
    mxn_operation *op = mxn__image_bulk(bulk->model);
    bool renew;
    const uint32_t count = mxn__bulk_unite_locked(op, members, &renew);
    if (count > MXN__USES_MAX) {
        return mxp__fail(MXP_EINVAL, "a bulk template on %u variables: %d are possible", count,
                         MXN__USES_MAX);
    }
    for (uint32_t i = 0; i < count; i++) {
        mxn__use_var(&op->uses[i])->held++;
    }
    return MXP_OK;
}

static int hold(const mxn_bulk_template *bulk)
{
    mxn__spin_lock(&mxn__engine.push_lock);
    int code = hold_locked(bulk);
    mxn__spin_unlock(&mxn__engine.push_lock);
    return code;
}

static void delete_arguments(const mxn_work *works, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (works[i].deleter != NULL) {
            works[i].deleter(works[i].argument);
        }
    }
}

int mxn_bulk_template_make(const mxn_work *works, uint32_t count, mxn_bulk_template **made)
{
    *made = NULL;
    int code = mxn__engine_ensure();
    if (code == MXP_OK) {
        code = check_works(works, count);
    }
    mxn_bulk_template *bulk = code == MXP_OK ? template_new(works, count) : NULL;
    if (bulk == NULL) {
        delete_arguments(works, count);
        return code != MXP_OK ? code : MXP_ENOMEM;
    }
    code = hold(bulk);
    if (code != MXP_OK) {
        mxn__template_release(bulk);
        return code;
    }
    *made = bulk;
    return MXP_OK;
}

void mxn_bulk_template_name(mxn_bulk_template *bulk, mxp_name name)
{
    bulk->name = name;
}

void mxn_bulk_template_free(mxn_bulk_template *bulk)
{
    if (bulk == NULL) {
        return;
    }
    mxn_thread *self = mxn__thread_at_last();
    mxn__bulk_let_go(self, mxn__image_bulk(bulk->model));
    mxn__template_release(bulk);
}

// ---- pushing ----------------------------------------------------------------------------------

// What happens once for each push.
typedef struct one_push {
    mxn_thread *self;
    void *const *arguments;  // null: those of the model
    uint64_t ticks;  // 0: nothing is recorded
} one_push;

static void renew(const one_push *push, uint32_t index, mxn_operation *copy,
                  const mxn_operation *model)
{
    void *argument = push->arguments != NULL ? push->arguments[index] : model->argument;
    mxn__operation_renew(push->self, copy, model, argument, push->ticks);
}

static void number_locked(const mxn_bulk_template *bulk, mxn_bulk_image *image)
{
    assert(mxn__spin_is_held(&mxn__engine.push_lock));
    for (mxn_operation *member = image->members; member != NULL; member = member->next) {
        member->id = mxn__operation_id_locked();
    }
    mxn__engine.pushed += bulk->count - 1;  // the bulk itself counts for one of them
}

static mxn_bulk_image *take_numbered(mxn_bulk_template *bulk)
{
    mxn__spin_lock(&mxn__engine.push_lock);
    mxn_bulk_image *image = mxn__image_take_locked(bulk);
    if (image == NULL) {
        mxn__spin_unlock(&mxn__engine.push_lock);
        image = mxn__image_copy(bulk);
        if (image == NULL) {
            return NULL;
        }
        mxn__spin_lock(&mxn__engine.push_lock);
    }
    number_locked(bulk, image);
    mxn__spin_unlock(&mxn__engine.push_lock);
    return image;
}

static void put_back(const mxn_bulk_template *bulk, mxn_operation *op)
{
    mxn__spin_lock(&mxn__engine.push_lock);
    mxn__engine.pushed -= bulk->count - 1;
    mxn__spin_unlock(&mxn__engine.push_lock);
    mxn__image_give(op);
}

// Members say in their records where the bulk has waited.
static void set_queues(mxn_bulk_image *image, uint8_t queue)
{
    for (mxn_operation *member = image->members; member != NULL; member = member->next) {
        const uint32_t family = member->place & 3;
        mxn__operation_queue_set(member, queue);
        mxn__operation_family_set(member, family);
    }
}

static int push_image(const one_push *push, mxn_bulk_template *bulk, void *context,
                      void (*deleter)(void *))
{
    mxn_bulk_image *image = take_numbered(bulk);
    if (image == NULL) {
        return MXP_ENOMEM;
    }
    const mxn_operation *model = bulk->model->members;
    uint32_t index = 0;
    for (mxn_operation *member = image->members; member != NULL; member = member->next) {
        renew(push, index++, member, model);
        model = model->next;
    }
    mxn_operation *op = mxn__image_bulk(image);
    op->push_stamp = (uint64_t)push->self->index << MXP_STAMP_BITS;
    const uint8_t queue = mxn__queue_for(bulk->parallel);
    if (__builtin_expect(mxn__operation_queue(image->members) != queue, 0)) {
        set_queues(image, queue);
    }
    mxn__operation_queue_set(op, queue);
    mxn__bulk_fill(push->self, op, mxn__image_bulk(bulk->model)->flags, push->ticks);
    op->name = bulk->name;
    op->argument = context;
    *mxn__operation_extra(op) =
        (mxn_operation_extra){.deleter = deleter, .is.members = image->members};
    mxn__image_leaves(push->self, image);
    int code = mxn__operation_push(push->self, op, MXN__PUSH_KEPT);
    if (code != MXP_OK) {
        put_back(bulk, op);
    }
    return code;
}

static mxn_operation *copy_alone(const one_push *push, uint32_t index, const mxn_operation *model)
{
    mxn_operation *op = mxn__operation_take(push->self, model->count, true);
    if (op != NULL) {
        const uint8_t block_class = op->block_class;
        memcpy(op, model, mxn__operation_bytes(model->count, true));
        op->block_class = block_class & 0xf;
        mxn__operation_extra(op)->deleter = NULL;
        renew(push, index, op, model);
    }
    return op;
}

// Each member by itself, to its end.
static int push_naive(const one_push *push, const mxn_bulk_template *bulk)
{
    uint32_t index = 0;
    int code = MXP_OK;
    for (const mxn_operation *model = bulk->model->members; model != NULL && code == MXP_OK;
         model = model->next) {
        mxn_operation *op = copy_alone(push, index++, model);
        code = op != NULL ? mxn__operation_push(push->self, op, 0) : MXP_ENOMEM;
    }
    return code;
}

static int begin_push(one_push *push)
{
    push->self = mxn__thread_self();
    int code = push->self != NULL ? mxn__engine_ensure() : MXP_ENOMEM;
    if (code == MXP_OK) {
        code = mxn__bulk_push(push->self);
    }
    push->ticks = mxp_enabled(MXN__RECORD_CLASSES) ? mxp_ticks() : 0;
    return code;
}

int mxn_bulk_template_push(mxn_bulk_template *bulk, void *const *arguments, void *context,
                           void (*deleter)(void *context))
{
    one_push push = {.arguments = arguments};
    int code = begin_push(&push);
    const bool naive = mxn__engine_naive();
    if (code == MXP_OK) {
        code = naive ? push_naive(&push, bulk) : push_image(&push, bulk, context, deleter);
    }
    if ((code != MXP_OK || naive) && deleter != NULL) {
        deleter(context);
    }
    return code;
}
