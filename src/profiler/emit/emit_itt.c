// SPDX-License-Identifier: Apache-2.0
// To a collector of Intel's instrumentation calls. A program's static part of ITT hands it a
// structure with a list of functions, whose addresses the collector fills in; we do the same with
// the functions that we call. What is sent, and under which texts, is as MXNet's.
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "profiler/collect/itt/itt_abi.h"
#include "profiler/emit/sender.h"
#include "profiler/recorder/recorder.h"

// ---- the interface -----------------------------------------------------------------------------
enum { GROUPS_ALL = -1, STATE_INITIALIZED = 4 };

// F(result, name without __itt_, parameters)
#define FUNCTIONS(F)                                                                           \
    F(itt_domain *, domain_create, (const char *))                                             \
    F(void *, string_handle_create, (const char *))                                            \
    F(void, task_begin, (itt_domain *, itt_id, itt_id, void *))                                \
    F(void, task_end, (itt_domain *))                                                          \
    F(void, task_begin_overlapped, (itt_domain *, itt_id, itt_id, void *))                     \
    F(void, task_end_overlapped, (itt_domain *, itt_id))                                       \
    F(void *, clock_domain_create, (void (*)(itt_clock_info *, void *), void *))               \
    F(void, task_begin_ex, (itt_domain *, void *, unsigned long long, itt_id, itt_id, void *)) \
    F(void, task_end_ex, (itt_domain *, void *, unsigned long long))                           \
    F(int, event_create, (const char *, int))                                                  \
    F(int, event_start, (int))                                                                 \
    F(int, event_end, (int))                                                                   \
    F(void, frame_begin_v3, (itt_domain *, itt_id *))                                          \
    F(void, frame_end_v3, (itt_domain *, itt_id *))                                            \
    F(void *, counter_create, (const char *, const char *))                                    \
    F(void *, counter_create_typed, (const char *, const char *, int))                         \
    F(void, counter_set_value, (void *, void *))                                               \
    F(void, marker, (itt_domain *, itt_id, void *, int))                                       \
    F(void, thread_set_name, (const char *))                                                   \
    F(void, pause, (void))                                                                     \
    F(void, resume, (void))

#define MEMBER(result, name, parameters) result(*name) parameters;
static struct {
    FUNCTIONS(MEMBER)
} call;

#define ENTRY(result, name, parameters) {"__itt_" #name, (void **)&call.name, NULL, NULL, -1},
static itt_api_info list[] = {FUNCTIONS(ENTRY){NULL, NULL, NULL, NULL, 0}};

static itt_global global = {.magic = {0xED, 0xAB, 0xAB, 0xEC, 0x0D, 0xEE, 0xDA, 0x30},
                            .version_major = 3,
                            .version_build = 20230630,
                            .mutex_initialized = 1,
#ifdef PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP
                            .mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP,
#endif
                            .api_list = list,
                            .state = STATE_INITIALIZED};
static const itt_id none;
static void tell_rate(itt_clock_info *info, void *context)
{
    (void)context;
    *info =
        (itt_clock_info){.frequency_hz = (unsigned long long)(1e9 / mxp__recorder_ns_per_tick())};
}

// The clock of our ticks, made when the rate is known. Null: the collector takes no foreign stamps.
static void *ticks_clock(void)
{
    static mxp_atomic_ptr made;
    void *clock = mxp_atomic_load_acquire(&made);
    if (clock == NULL && call.clock_domain_create != NULL && call.task_begin_ex != NULL &&
        call.task_end_ex != NULL) {
        clock = call.clock_domain_create(tell_rate, NULL);
        mxp_atomic_store_release(&made, clock);
    }
    return clock;
}

static bool start(void *library, void *entry)
{
    void (*init)(itt_global *, int);
    memcpy(&init, &entry, sizeof init);
#ifndef PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP
    pthread_mutexattr_t recursive;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&global.mutex, &recursive);
    pthread_mutexattr_destroy(&recursive);
#endif
    global.library = library;
    pthread_mutex_lock(&global.mutex);
    init(&global, GROUPS_ALL);
    global.api_initialized = 1;
    pthread_mutex_unlock(&global.mutex);
    return call.domain_create != NULL && call.string_handle_create != NULL;
}

// ---- names -------------------------------------------------------------------------------------
static mxp_sent_names names;

enum { KIND_TASK = 1, KIND_EVENT = 2 };

static itt_domain *domain_of_category(mxp_name category)
{
    mxp_sent_name *sent = mxp__sent_name(&names, category);
    itt_domain *domain = sent != NULL ? mxp_atomic_load_acquire(&sent->object) : NULL;
    if (sent != NULL && domain == NULL) {
        char buffer[256];
        domain = call.domain_create(
            mxp__sent_domain_text(mxp_name_text(category), buffer, sizeof buffer));
        mxp_atomic_store_release(&sent->object, domain);
    }
    return domain;
}

static __attribute__((noinline, cold)) void make(mxp_sent_name *sent, mxp_name name)
{
    const mxp_name category = mxp_name_category(name);
    const bool is_event = strcmp(mxp_name_text(category), "event") == 0;
    mxp_atomic_store_release(&sent->text, call.string_handle_create(mxp_name_text(name)));
    mxp_atomic_store_release(&sent->domain, domain_of_category(category));
    mxp_atomic_store_release(&sent->kind, is_event ? KIND_EVENT : KIND_TASK);
}

// With all that the collector has made of it. Null: nothing can be sent of it.
static inline const mxp_sent_name *sent_of(mxp_name name)
{
    mxp_sent_name *sent = mxp__sent_name(&names, name);
    if (sent != NULL && mxp_atomic_load_acquire(&sent->kind) == 0) {
        make(sent, name);
    }
    return sent;
}

static void *text_of(mxp_name name)
{
    const mxp_sent_name *sent = sent_of(name);
    return sent != NULL ? mxp_atomic_load_acquire(&sent->text) : NULL;
}

// Null: nothing is sent of it now.
static itt_domain *domain_of(mxp_name name)
{
    const mxp_sent_name *sent = sent_of(name);
    itt_domain *domain = sent != NULL ? mxp_atomic_load_acquire(&sent->domain) : NULL;
    return domain != NULL && domain->flags != 0 ? domain : NULL;
}

// A collector's number of an event, plus 1. 0: events cannot be had.
static int event_of(mxp_name name)
{
    mxp_sent_name *sent = mxp__sent_name(&names, name);
    if (sent == NULL || call.event_create == NULL || call.event_start == NULL ||
        call.event_end == NULL) {
        return 0;
    }
    uintptr_t number = (uintptr_t)mxp_atomic_load_acquire(&sent->object);
    if (number == 0) {
        const char *text = mxp_name_text(name);
        number = (uintptr_t)call.event_create(text, (int)strlen(text)) + 1;
        mxp_atomic_store_release(&sent->object, (void *)number);
    }
    return (int)number;
}

// ---- spans -------------------------------------------------------------------------------------
static bool begin_task(mxp_name name)
{
    const mxp_sent_name *sent = sent_of(name);
    itt_domain *domain = sent != NULL ? mxp_atomic_load_acquire(&sent->domain) : NULL;
    if (domain == NULL || domain->flags == 0 || call.task_begin == NULL) {
        return false;
    }
    call.task_begin(domain, none, none, mxp_atomic_load(&sent->text));
    return true;
}

// The domain may have been switched off since its begin.
static void end_task(mxp_name name)
{
    const mxp_sent_name *sent = sent_of(name);
    itt_domain *domain = sent != NULL ? mxp_atomic_load_acquire(&sent->domain) : NULL;
    if (domain != NULL && call.task_end != NULL) {
        call.task_end(domain);
    }
}

// 0: it is a task.
static inline int is_sent_as_event(mxp_name name)
{
    const mxp_sent_name *sent = sent_of(name);
    return sent != NULL && __builtin_expect(mxp_atomic_load(&sent->kind) == KIND_EVENT, 0)
               ? event_of(name)
               : 0;
}

// An operator is an event named like it and a task.
static bool begin(mxp_name name, bool is_operator)
{
    const int event = is_operator ? event_of(name) : is_sent_as_event(name);
    if (event != 0) {
        call.event_start(event - 1);
    }
    return is_operator || event == 0 ? begin_task(name) || event != 0 : true;
}

static void end(mxp_name name, bool is_operator)
{
    const int event = is_operator ? event_of(name) : is_sent_as_event(name);
    if (is_operator || event == 0) {
        end_task(name);
    }
    if (event != 0) {
        call.event_end(event - 1);
    }
}

// Its begin is past.
static void send_whole(const mxp_told *told)
{
    const mxp_tap_event *event = &told->event;
    itt_domain *domain = told->lane == 0 && call.task_begin != NULL ? domain_of(event->name) : NULL;
    if (domain == NULL || call.task_end == NULL) {
        return;
    }
    void *clock = ticks_clock();
    if (clock != NULL) {
        call.task_begin_ex(domain, clock, event->begin_ticks, none, none, text_of(event->name));
        call.task_end_ex(domain, clock, event->end_ticks);
    } else {
        call.task_begin(domain, none, none, text_of(event->name));
        call.task_end(domain);
    }
}

// ---- objects -----------------------------------------------------------------------------------
static mxp_atomic_u64 starts;  // how many have a number

static itt_id id_of(const mxp_told *told)
{
    return (itt_id){told->sent[0], 0, 0};
}

static bool has_overlapped(void)
{
    return call.task_begin_overlapped != NULL && call.task_end_overlapped != NULL;
}

// Who starts an object does not say which thread will stop it, so its task may overlap others.
static void start_task(const mxp_told *told)
{
    if (!has_overlapped()) {
        begin_task(told->event.name);
        return;
    }
    itt_domain *domain = domain_of(told->event.name);
    if (domain != NULL) {
        call.task_begin_overlapped(domain, id_of(told), none, text_of(told->event.name));
    }
}

static void stop_task(const mxp_told *told)
{
    itt_domain *domain = has_overlapped() ? domain_of(told->event.name) : NULL;
    if (domain != NULL) {
        call.task_end_overlapped(domain, id_of(told));
    } else if (!has_overlapped()) {
        end_task(told->event.name);
    }
}

static void frame(const mxp_told *told, void (*function)(itt_domain *, itt_id *))
{
    itt_domain *domain = function != NULL ? domain_of(told->event.name) : NULL;
    itt_id id = id_of(told);
    if (domain != NULL) {
        function(domain, &id);
    }
}

static void send_object(const mxp_told *told, bool starts_now)
{
    if (told->event.scope == MXP__TOLD_FRAME) {
        frame(told, starts_now ? call.frame_begin_v3 : call.frame_end_v3);
    } else if (told->event.scope == MXP__TOLD_TASK) {
        (starts_now ? start_task : stop_task)(told);
    } else if (starts_now) {
        begin(told->event.name, false);
    } else {
        end(told->event.name, false);
    }
}

// ---- the rest ----------------------------------------------------------------------------------
static void *counter_make(mxp_name name, uint32_t type)
{
    char buffer[256];
    const char *domain =
        mxp__sent_domain_text(mxp_name_text(mxp_name_category(name)), buffer, sizeof buffer);
    if (type == MXP_ARG_U64 && call.counter_create != NULL) {
        return call.counter_create(mxp_name_text(name), domain);
    }
    return type != MXP_ARG_U64 && call.counter_create_typed != NULL
               ? call.counter_create_typed(mxp_name_text(name), domain,
                                           type == MXP_ARG_F64 ? ITT_DOUBLE : ITT_S64)
               : NULL;
}

// Its value, and not by how much it has changed: a collector that was paused has missed changes.
static void send_counter(const mxp_told *told)
{
    mxp_sent_name *sent = mxp__sent_name(&names, told->event.name);
    if (sent == NULL || call.counter_set_value == NULL) {
        return;
    }
    void *counter = mxp_atomic_load_acquire(&sent->object);
    if (counter == NULL) {
        counter = counter_make(told->event.name, told->event.scope);
        mxp_atomic_store_release(&sent->object, counter);
    }
    if (counter != NULL) {
        uint64_t value = told->value;
        call.counter_set_value(counter, &value);
    }
}

static void send_marker(const mxp_told *told)
{
    itt_domain *domain = call.marker != NULL ? domain_of(told->event.name) : NULL;
    if (domain != NULL) {
        call.marker(domain, none, text_of(told->event.name), (int)told->event.scope);
    }
}

static mxp_atomic_u64 step;  // the number of the frame that is open, plus 1

// A step lasts until the next one begins, or recording ends for now.
static void next_step(uint64_t next)
{
    static mxp_atomic_ptr made;
    const uint64_t before = mxp_atomic_exchange_acq_rel(&step, next);
    if ((before == 0 && next == 0) || call.frame_begin_v3 == NULL || call.frame_end_v3 == NULL) {
        return;
    }
    itt_domain *domain = mxp_atomic_load_acquire(&made);
    if (domain == NULL) {
        domain = call.domain_create("step");
        mxp_atomic_store_release(&made, domain);
    }
    if (domain == NULL || domain->flags == 0) {
        return;
    }
    if (before != 0) {
        call.frame_end_v3(domain, &(itt_id){before - 1, 1, 0});
    }
    if (next != 0) {
        call.frame_begin_v3(domain, &(itt_id){next - 1, 1, 0});
    }
}

static void tell(mxp_told *told)
{
    switch (told->event.phase) {
    case MXP_TAP_WHOLE:
        send_whole(told);
        break;
    case MXP_TAP_INSTANT:
        send_marker(told);
        break;
    case MXP__TAP_COUNTER:
        send_counter(told);
        break;
    case MXP__TAP_THREAD:
        if (call.thread_set_name != NULL) {
            call.thread_set_name(mxp_name_text(told->event.name));
        }
        break;
    case MXP__TAP_STEP:
        next_step(told->value + 1);
        break;
    case MXP__TAP_START:
        told->sent[0] = mxp_atomic_add(&starts, 1) + 1;
        send_object(told, true);
        break;
    case MXP__TAP_STOP:
        send_object(told, false);
        break;
    }
}

static void recording(bool on)
{
    void (*function)(void) = on ? call.resume : call.pause;
    if (!on) {
        next_step(0);
    }
    if (function != NULL) {
        function();
    }
}

const mxp_sender mxp__sender_itt = {.variable = "INTEL_LIBITTNOTIFY64",
                                    .entry = "__itt_api_init",
                                    .start = start,
                                    .begin = begin,
                                    .end = end,
                                    .tell = tell,
                                    .recording = recording,
                                    .place = 0,
                                    .wanted = MXP_EMIT_ITT};
