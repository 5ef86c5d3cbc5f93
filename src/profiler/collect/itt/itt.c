// SPDX-License-Identifier: Apache-2.0
// What a program's static part loads us for: __itt_api_init fills its table of functions. It is
// called once by every shared object that has a copy of that part, under that copy's lock.
#include <string.h>
#include <sys/auxv.h>

#include "profiler/collect/itt/handles.h"
#include "profiler/collect/itt/marks.h"
#include "profiler/collect/itt/tasks.h"

void __itt_api_init(itt_global *global, int groups);
const char *__itt_api_version(void);

typedef void (*itt_function)(void);

#define FUNCTION(name, function)                \
    {                                           \
        "__itt_" name, (itt_function)(function) \
    }
static const struct {
    const char *name;
    itt_function function;
} functions[] = {
    FUNCTION("api_version", __itt_api_version),
    FUNCTION("domain_create", mxp__itt_domain),
    FUNCTION("string_handle_create", mxp__itt_string),
    FUNCTION("task_begin", mxp__itt_task_begin),
    FUNCTION("task_begin_fn", mxp__itt_task_begin_fn),
    FUNCTION("task_end", mxp__itt_task_end),
    FUNCTION("task_begin_overlapped", mxp__itt_task_begin_overlapped),
    FUNCTION("task_end_overlapped", mxp__itt_task_end_overlapped),
    FUNCTION("region_begin", mxp__itt_task_begin_overlapped),
    FUNCTION("region_end", mxp__itt_task_end_overlapped),
    FUNCTION("frame_begin_v3", mxp__itt_frame_begin),
    FUNCTION("frame_end_v3", mxp__itt_frame_end),
    FUNCTION("frame_submit_v3", mxp__itt_frame_submit),
    FUNCTION("get_timestamp", mxp__itt_get_timestamp),
    FUNCTION("event_create", mxp__itt_event_create),
    FUNCTION("event_start", mxp__itt_event_start),
    FUNCTION("event_end", mxp__itt_event_end),
    FUNCTION("marker", mxp__itt_marker),
    FUNCTION("metadata_add", mxp__itt_metadata_add),
    FUNCTION("metadata_str_add", mxp__itt_metadata_str_add),
    FUNCTION("formatted_metadata_add", mxp__itt_formatted_metadata_add),
    FUNCTION("counter_create", mxp__itt_counter_create),
    FUNCTION("counter_create_typed", mxp__itt_counter_create_typed),
    FUNCTION("counter_create_v3", mxp__itt_counter_create_v3),
    FUNCTION("counter_inc", mxp__itt_counter_inc),
    FUNCTION("counter_dec", mxp__itt_counter_dec),
    FUNCTION("counter_inc_delta", mxp__itt_counter_inc_delta),
    FUNCTION("counter_dec_delta", mxp__itt_counter_dec_delta),
    FUNCTION("counter_set_value", mxp__itt_counter_set_value),
    FUNCTION("counter_set_value_v3", mxp__itt_counter_set_value),
    FUNCTION("thread_set_name", mxp__itt_thread_set_name),
    FUNCTION("thr_name_set", mxp__itt_thr_name_set),
    FUNCTION("pause", mxp__itt_pause),
    FUNCTION("resume", mxp__itt_resume),
};

// By which libmxprof knows that a tool is this library: it sends nothing there.
const char mxp_collect_owner[] = "mxprof";

const char *__itt_api_version(void)
{
    return "mxprof";
}

static itt_function function_of(const char *name)
{
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        if (strcmp(functions[i].name, name) == 0) {
            return functions[i].function;
        }
    }
    return NULL;
}

// Some names stand twice in the list, once for each of their groups. An entry that we do not know
// gets the function that does nothing; where that is null, the program calls nothing.
void __itt_api_init(itt_global *global, int groups)
{
    (void)groups;
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
