// SPDX-License-Identifier: Apache-2.0
// A program that sends the rarer ITT marks: waits, relations, clocks of its own, tracks,
// allocations, histograms. Knows nothing of mxprof.
#include "itt_static.h"

static void sleep_us(long us)
{
    nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
}

static void wait_for(void *object, long us)
{
    sync_prepare(object);
    if (us != 0) {
        sleep_us(us);
    }
    sync_acquired(object);
    sync_releasing(object);
}

static void syncs(void)
{
    static int named, renamed, nameless, forgotten;
    task_begin(app, none, none, string_handle_create("around"));
    task_end(app);  // recording has begun: from here on a microsecond is known
    if (sync_prepare == NULL) {
        return;
    }
    sync_create(&named, "Mutex", "queue", 2);
    sync_create(&renamed, "Barrier", "first", 1);
    sync_rename(&renamed, "second");
    sync_create(&forgotten, "Mutex", "gone", 2);
    sync_destroy(&forgotten);
    wait_for(&named, 2000);
    wait_for(&renamed, 2000);
    wait_for(&nameless, 2000);
    wait_for(&forgotten, 2000);
    sync_prepare(&named);
    sleep_us(2000);
    sync_cancel(&named);
    sync_acquired(&nameless);  // at once: no wait
    sync_releasing(&nameless);
    for (int i = 0; i < 1000; i++) {
        wait_for(&named, 0);
    }
}

static void *begin_child(void *unused)
{
    task_begin(app, (id){2, 0, 0}, (id){1, 0, 0}, string_handle_create("child"));
    task_end(app);
    return unused;
}

static void relations(void)
{
    pthread_t thread;
    task_begin(app, (id){1, 0, 0}, none, string_handle_create("parent"));
    pthread_create(&thread, NULL, begin_child, NULL);
    pthread_join(thread, NULL);
    relation_add(app, (id){2, 0, 0}, 6, (id){1, 0, 0});  // both are known
    relation_add(app, (id){1, 0, 0}, 7, (id){8, 0, 0});  // the second comes later
    relation_add(app, (id){9, 0, 0}, 1, (id){10, 0, 0});  // both do
    relation_add_to_current(app, 2, (id){2, 0, 0});
    task_end(app);
    for (unsigned long long i = 8; i <= 10; i++) {
        task_begin_overlapped(app, (id){i, 0, 0}, none, string_handle_create("later"));
        task_end_overlapped(app, (id){i, 0, 0});
    }
    relation_add_to_current(app, 2, (id){2, 0, 0});  // there is no current one
    for (unsigned long long i = 0; i < 5000; i++) {  // of which 4096 wait
        relation_add(app, (id){1, 0, 0}, 7, (id){100000 + i, 0, 0});
    }
}

static void *enter_stack(void *stack)
{
    task_begin(app, none, none, string_handle_create("entered"));
    stack_callee_enter(stack);
    stack_callee_leave(stack);
    task_end(app);
    return NULL;
}

static void stacks(void)
{
    pthread_t thread;
    task_begin(app, none, none, string_handle_create("creator"));
    void *stack = stack_caller_create();
    task_end(app);
    for (int i = 0; i < 2; i++) {
        pthread_create(&thread, NULL, enter_stack, stack);
        pthread_join(thread, NULL);
    }
    stack_caller_destroy(stack);
    stack_callee_enter(stack);  // it is gone
}

// A clock of 1 MHz that showed 5000 when it was asked.
static void read_clock(clock_info *info, void *data)
{
    *info = (clock_info){1000000, *(unsigned long long *)data};
}

static void clocks(void)
{
    static unsigned long long base = 5000;
    unsigned long long size = 3;
    task_begin(app, none, none, string_handle_create("now"));
    clock_domain *clock = clock_domain_create(read_clock, &base);
    task_end(app);
    task_begin_ex(app, clock, base + 100, none, none, string_handle_create("told late"));
    metadata_add(app, none, string_handle_create("size"), 1, 1, &size);
    task_end_ex(app, clock, base + 4100);
    task_begin_overlapped_ex(app, clock, base + 200, (id){4, 0, 0}, none,
                             string_handle_create("over"));
    task_end_overlapped_ex(app, clock, base + 2200, (id){4, 0, 0});
    base = 900000;
    clock_domain_reset();
    task_begin_ex(app, clock, base + 1, none, none, string_handle_create("after reset"));
    task_end_ex(app, clock, base + 1001);
    marker_ex(app, clock, base + 500, none, string_handle_create("mark"), 3);
}

static void tracks(void)
{
    void *group = track_group_create(string_handle_create("gpu"), 1);
    void *first = track_create(group, string_handle_create("copy"), 1);
    void *second = track_create(group, string_handle_create("compute"), 1);
    unsigned long long size = 5;
    set_track(second);
    task_begin(app, none, none, string_handle_create("kernel"));
    metadata_add(app, none, string_handle_create("size"), 1, 1, &size);
    task_end(app);
    set_track(first);
    task_begin(app, none, none, string_handle_create("copy"));
    task_end(app);
    set_track(NULL);
    task_begin(app, none, none, string_handle_create("host"));
    task_end(app);
}

static void memory(void)
{
    void *made = (void *)0x1000, *other = (void *)0x2000;
    if (heap_allocate_end == NULL) {
        return;
    }
    void *heap = heap_function_create("tbb_malloc", "tbb");
    heap_allocate_end(heap, &made, 100, 0);
    heap_allocate_end(heap, &other, 50, 1);
    heap_reallocate_begin(heap, other, 70, 0);
    heap_reallocate_end(heap, other, &other, 70, 0);
    heap_free_begin(heap, made);
    heap_free_begin(heap, (void *)0x9000);  // unknown
}

static void values(void)
{
    double heights[] = {1.5, 4, 0.5};
    int places[] = {-3, 0, 9};
    char units[] = "bytes";
    context_metadata unit = {5, units};
    histogram_submit(histogram_create(app, "sizes", 4, 8), 3, places, heights);
    void *counter = counter_create_typed("queued", "app", 1);
    bind_context_metadata_to_counter(counter, 1, &unit);
    counter_inc(counter);
    counter_dec(counter);
    counter_inc_delta_v3(app, string_handle_create("plain"), 7);
    counter_dec_v3(app, string_handle_create("plain"));
    task_begin_overlapped(app, (id){6, 0, 0}, none, string_handle_create("async"));
    unsigned long long size = 11;
    metadata_add(app, (id){6, 0, 0}, string_handle_create("size"), 1, 1, &size);
    formatted_metadata_add_overlapped(app, (id){6, 0, 0}, string_handle_create("%d x"), 3);
    task_end_overlapped(app, (id){6, 0, 0});
    metadata_add_with_scope(app, 1, string_handle_create("whole"), 1, 1, &size);
}

static void *event_of_thread(void *event)
{
    event_start(*(int *)event);
    return NULL;
}

static void moments(void)
{
    pthread_t thread;
    int pair = event_create("pair", 4), alone = event_create("alone", 5);
    event_start(pair);
    event_start(alone);
    event_start(alone);
    event_end(pair);
    pthread_create(&thread, NULL, event_of_thread, &alone);
    pthread_join(thread, NULL);
    mark(mark_create("old"), NULL);
    mark_global(mark_create("old"), "with words");
    void *frame = frame_create("old frames");
    frame_begin(frame);
    frame_end(frame);
    pause_scoped(1);
    task_begin(app, none, none, string_handle_create("paused"));
    task_end(app);
    resume_scoped(1);
    task_group(app, (id){77, 0, 0}, none, string_handle_create("group"));
    task_begin(app, none, none, string_handle_create("before"));
    task_end(app);
}

static void detached(void)
{
    task_begin(app, none, none, string_handle_create("before"));
    task_end(app);
    detach();
    domain *late = domain_create("late");
    if (app->flags != 0 || late->flags != 0) {
        exit(3);
    }
    event_start(event_create("event", 5));
    event_end(event_create("event", 5));
}

int main(int argc, char **argv)
{
    static const part parts[] = {
        {"syncs", syncs},   {"relations", relations}, {"stacks", stacks},
        {"clocks", clocks}, {"tracks", tracks},       {"memory", memory},
        {"values", values}, {"moments", moments},     {"detached", detached}};
    return run_part(parts, sizeof parts / sizeof parts[0], argc > 1 ? argv[1] : NULL);
}
