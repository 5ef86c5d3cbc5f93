// SPDX-License-Identifier: Apache-2.0
// What a program's static part loads us for: __itt_api_init fills its table of functions. It is
// called once by every shared object that has a copy of that part, under that copy's lock.
#include <string.h>
#include <sys/auxv.h>

#include "profiler/collect/first_copy.h"
#include "profiler/collect/itt/events.h"
#include "profiler/collect/itt/handles.h"
#include "profiler/collect/itt/heap.h"
#include "profiler/collect/itt/links.h"
#include "profiler/collect/itt/marks.h"
#include "profiler/collect/itt/tasks.h"
#include "profiler/collect/ompt/ompt.h"
#include "profiler/collect/settings.h"
#include "profiler/collect/waits.h"

void __itt_api_init(itt_global *global, int groups);
const char *__itt_api_version(void);

typedef void (*itt_function)(void);
typedef void (*itt_init)(itt_global *global, int groups);

// ---- functions of no other file ----------------------------------------------------------------
// An OpenMP runtime's objects, which come through its tool interface, too, are not waited for here.
static void sync_create(const void *object, const char *type, const char *name, int attribute)
{
    (void)attribute;
    if (mxp__ompt_is_on() && type != NULL && strncmp(type, "OMP ", 4) == 0) {
        mxp__sync_ignore(object);
    } else {
        mxp__sync_name(object, type, name);
    }
}

static void sync_prepare(const void *object)
{
    if (!mxp__itt_is_detached()) {
        mxp__sync_prepare(object);
    }
}

static void sync_rename(const void *object, const char *name)
{
    mxp__sync_name(object, NULL, name);
}

// The tables of other shared objects stay filled: domains say that nothing is wanted.
static void detach(void)
{
    mxp__itt_detach();
}

#define FUNCTION(name, function)                \
    {                                           \
        "__itt_" name, (itt_function)(function) \
    }
typedef struct named_function {
    const char *name;
    itt_function function;
} named_function;

static const named_function functions[] = {
    FUNCTION("api_version", __itt_api_version),
    FUNCTION("domain_create", mxp__itt_domain),
    FUNCTION("string_handle_create", mxp__itt_string),
    FUNCTION("task_begin", mxp__itt_task_begin),
    FUNCTION("task_begin_fn", mxp__itt_task_begin_fn),
    FUNCTION("task_end", mxp__itt_task_end),
    FUNCTION("task_begin_ex", mxp__itt_task_begin_ex),
    FUNCTION("task_begin_fn_ex", mxp__itt_task_begin_fn_ex),
    FUNCTION("task_end_ex", mxp__itt_task_end_ex),
    FUNCTION("task_begin_overlapped", mxp__itt_task_begin_overlapped),
    FUNCTION("task_end_overlapped", mxp__itt_task_end_overlapped),
    FUNCTION("task_begin_overlapped_ex", mxp__itt_task_begin_overlapped_ex),
    FUNCTION("task_end_overlapped_ex", mxp__itt_task_end_overlapped_ex),
    FUNCTION("task_group", mxp__itt_task_group),
    FUNCTION("region_begin", mxp__itt_task_begin_overlapped),
    FUNCTION("region_end", mxp__itt_task_end_overlapped),
    FUNCTION("frame_begin_v3", mxp__itt_frame_begin),
    FUNCTION("frame_end_v3", mxp__itt_frame_end),
    FUNCTION("frame_submit_v3", mxp__itt_frame_submit),
    FUNCTION("frame_create", mxp__itt_frame_create),
    FUNCTION("frame_begin", mxp__itt_frame_begin_old),
    FUNCTION("frame_end", mxp__itt_frame_end_old),
    FUNCTION("get_timestamp", mxp__itt_get_timestamp),
    FUNCTION("clock_domain_create", mxp__itt_clock_domain_create),
    FUNCTION("clock_domain_reset", mxp__itt_clock_domain_reset),
    FUNCTION("event_create", mxp__itt_event_create),
    FUNCTION("event_start", mxp__itt_event_start),
    FUNCTION("event_end", mxp__itt_event_end),
    FUNCTION("mark_create", mxp__itt_mark_create),
    FUNCTION("mark", mxp__itt_mark),
    FUNCTION("mark_global", mxp__itt_mark_global),
    FUNCTION("marker", mxp__itt_marker),
    FUNCTION("marker_ex", mxp__itt_marker_ex),
    FUNCTION("metadata_add", mxp__itt_metadata_add),
    FUNCTION("metadata_str_add", mxp__itt_metadata_str_add),
    FUNCTION("metadata_add_with_scope", mxp__itt_metadata_add_with_scope),
    FUNCTION("metadata_str_add_with_scope", mxp__itt_metadata_str_add_with_scope),
    FUNCTION("formatted_metadata_add", mxp__itt_formatted_metadata_add),
    FUNCTION("formatted_metadata_add_overlapped", mxp__itt_formatted_metadata_add_overlapped),
    FUNCTION("relation_add", mxp__itt_relation_add),
    FUNCTION("relation_add_to_current", mxp__itt_relation_add_to_current),
    FUNCTION("stack_caller_create", mxp__itt_stack_caller_create),
    FUNCTION("stack_caller_destroy", mxp__itt_stack_caller_destroy),
    FUNCTION("stack_callee_enter", mxp__itt_stack_callee_enter),
    FUNCTION("stack_callee_leave", mxp__itt_stack_callee_leave),
    FUNCTION("track_group_create", mxp__itt_track_group_create),
    FUNCTION("track_create", mxp__itt_track_create),
    FUNCTION("set_track", mxp__itt_set_track),
    FUNCTION("counter_create", mxp__itt_counter_create),
    FUNCTION("counter_create_typed", mxp__itt_counter_create_typed),
    FUNCTION("counter_create_v3", mxp__itt_counter_create_v3),
    FUNCTION("counter_destroy", mxp__itt_counter_destroy),
    FUNCTION("counter_inc", mxp__itt_counter_inc),
    FUNCTION("counter_dec", mxp__itt_counter_dec),
    FUNCTION("counter_inc_delta", mxp__itt_counter_inc_delta),
    FUNCTION("counter_dec_delta", mxp__itt_counter_dec_delta),
    FUNCTION("counter_inc_v3", mxp__itt_counter_inc_v3),
    FUNCTION("counter_dec_v3", mxp__itt_counter_dec_v3),
    FUNCTION("counter_inc_delta_v3", mxp__itt_counter_inc_delta_v3),
    FUNCTION("counter_dec_delta_v3", mxp__itt_counter_dec_delta_v3),
    FUNCTION("counter_set_value", mxp__itt_counter_set_value),
    FUNCTION("counter_set_value_v3", mxp__itt_counter_set_value),
    FUNCTION("counter_set_value_ex", mxp__itt_counter_set_value_ex),
    FUNCTION("bind_context_metadata_to_counter", mxp__itt_bind_context_metadata_to_counter),
    FUNCTION("histogram_create", mxp__itt_histogram_create),
    FUNCTION("histogram_submit", mxp__itt_histogram_submit),
    FUNCTION("thread_set_name", mxp__itt_thread_set_name),
    FUNCTION("thr_name_set", mxp__itt_thr_name_set),
    FUNCTION("pause", mxp__itt_pause),
    FUNCTION("resume", mxp__itt_resume),
    FUNCTION("pause_scoped", mxp__itt_pause_scoped),
    FUNCTION("resume_scoped", mxp__itt_resume_scoped),
    FUNCTION("detach", detach),
};
// What is called at every lock, or inside of malloc, is there only for who asks for it.
static const named_function sync_functions[] = {
    FUNCTION("sync_create", sync_create),
    FUNCTION("sync_rename", sync_rename),
    FUNCTION("sync_destroy", mxp__sync_forget),
    FUNCTION("sync_prepare", sync_prepare),
    FUNCTION("sync_cancel", mxp__sync_cancel),
    FUNCTION("sync_acquired", mxp__sync_acquired),
    FUNCTION("sync_releasing", mxp__sync_releasing),
};
static const named_function memory_functions[] = {
    FUNCTION("heap_function_create", mxp__itt_heap_function_create),
    FUNCTION("heap_allocate_end", mxp__itt_heap_allocate_end),
    FUNCTION("heap_free_begin", mxp__itt_heap_free_begin),
    FUNCTION("heap_reallocate_begin", mxp__itt_heap_reallocate_begin),
    FUNCTION("heap_reallocate_end", mxp__itt_heap_reallocate_end),
};

// By which libmxprof knows that a tool is this library: it sends nothing there.
const char mxp_collect_owner[] = "mxprof";

const char *__itt_api_version(void)
{
    return "mxprof";
}

#define FIND(table, name) find(table, sizeof(table) / sizeof(table)[0], name)

static itt_function find(const named_function *table, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(table[i].name, name) == 0) {
            return table[i].function;
        }
    }
    return NULL;
}

static itt_function function_of(const char *name)
{
    itt_function function = FIND(functions, name);
    if (function == NULL && mxp__collect_sync() != MXP__SYNC_NONE) {
        function = FIND(sync_functions, name);
    }
    if (function == NULL && mxp__collect_memory()) {
        function = FIND(memory_functions, name);
    }
    return mxp__itt_is_detached() ? NULL : function;
}

// Some names stand twice in the list, once for each of their groups. An entry that we do not know
// gets the function that does nothing; where that is null, the program calls nothing.
void __itt_api_init(itt_global *global, int groups)
{
    const void *own;
    itt_init init = __itt_api_init;
    memcpy(&own, &init, sizeof own);
    void *first = mxp__collect_in_first_copy("__itt_api_init", own);
    if (first != NULL) {
        memcpy(&init, &first, sizeof init);
        init(global, groups);
        return;
    }
    const int is_distrusted = getauxval(AT_SECURE) != 0;
    if (!is_distrusted) {
        mxp__itt_adopt(global);
    }
    for (itt_api_info *each = global->api_list; each->name != NULL; each++) {
        itt_function function = is_distrusted ? NULL : function_of(each->name);
        if (function != NULL) {
            memcpy(each->function, &function, sizeof function);
        } else {
            *each->function = each->null_function;
        }
    }
}
