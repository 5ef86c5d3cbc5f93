// SPDX-License-Identifier: Apache-2.0
// A program that sends ITT marks: tasks, frames, events, metadata. Knows nothing of mxprof.
#include "itt_static.h"

static void *work(void *count)
{
    string *outer = string_handle_create("outer"), *inner = string_handle_create("inner");
    for (int i = 0; i < *(int *)count; i++) {
        task_begin(app, none, none, outer);
        task_begin(app, none, none, inner);
        task_end(app);
        task_end(app);
    }
    return NULL;
}

static void tasks(void)
{
    pthread_t threads[3];
    int counts[] = {100, 200, 300};
    for (int i = 0; i < 3; i++) {
        pthread_create(&threads[i], NULL, work, &counts[i]);
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
    }
    task_begin(&early_domain, none, none, &early_string);
    task_end(&early_domain);
    task_begin(app, none, none, string_handle_create(""));
    task_end(app);
    task_begin(app, (id){7, 0, 0}, (id){3, 0, 0}, string_handle_create("with ids"));
    task_end(app);
}

// The end of one domain leaves the other's span open; ends that fit nothing are counted.
static void unbalanced(void)
{
    domain *other = domain_create("other");
    task_begin(app, none, none, string_handle_create("first"));
    task_begin(other, none, none, string_handle_create("second"));
    task_end(app);
    task_begin(app, none, none, string_handle_create("third"));
    task_end(other);
    task_end(app);
    for (int i = 0; i < 5; i++) {
        task_end(app);
    }
    task_end_overlapped(app, (id){1, 2, 3});
    for (int i = 0; i < 5000; i++) {
        task_begin(app, none, none, string_handle_create("deep"));
    }
    for (int i = 0; i < 5000; i++) {
        task_end(app);
    }
    task_begin(app, none, none, string_handle_create("last"));
    task_end(app);
}

static void *end_request(void *request)
{
    task_end_overlapped(app, *(id *)request);
    return NULL;
}

static void overlapped(void)
{
    id first = {10, 0, 0}, second = {10, 1, 0};
    pthread_t thread;
    task_begin_overlapped(app, first, none, string_handle_create("request"));
    task_begin_overlapped(app, second, none, string_handle_create("answer"));
    region_begin(app, first, none, string_handle_create("region"));
    region_end(app, first);
    pthread_create(&thread, NULL, end_request, &first);
    pthread_join(thread, NULL);
    task_end_overlapped(app, second);
    frame_begin_v3(app, NULL);
    frame_end_v3(app, NULL);
    unsigned long long begin = get_timestamp();
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    frame_submit_v3(app, NULL, begin, get_timestamp());
    frame_submit_v3(app, NULL, begin, ~0ull);
}

static void marks(void)
{
    thread_set_name("sender");
    marker(app, none, string_handle_create("here"), 3);
    marker(app, none, string_handle_create("everywhere"), 1);
    int event = event_create("eventful", 5);
    event_start(event);
    event_end(event_create("event", 5));
    double rate = 2.5;
    long long level = -3;
    void *levels = counter_create_typed("level", "app", 2);
    counter_set_value(levels, &level);
    counter_inc_delta(levels, 5);
    counter_dec_delta(levels, 1);
    counter_set_value(counter_create_typed("rate", "app", 8), &rate);
}

static void metadata(void)
{
    unsigned long long size = 640;
    float parts[] = {0.5f, 1.5f};
    task_begin(app, (id){5, 0, 0}, none, string_handle_create("told"));
    task_begin(app, none, none, string_handle_create("inside"));
    metadata_add(app, (id){5, 0, 0}, string_handle_create("size"), 1, 1, &size);
    metadata_str_add(app, none, string_handle_create("file"), "a.bin and more", 5);
    formatted_metadata_add(app, string_handle_create("%s %d"), "conv", 3);
    task_end(app);
    metadata_add(app, none, string_handle_create("parts"), 7, 2, parts);
    task_end(app);
    metadata_add(app, none, string_handle_create("late"), 1, 1, &size);
    metadata_add(app, (id){5, 0, 0}, string_handle_create("too late"), 1, 1, &size);
}

static void pauses(void)
{
    string *name = string_handle_create("seen");
    for (int i = 0; i < 6; i++) {
        i == 2 ? pause() : i == 4 ? resume() : (void)0;
        task_begin(app, none, none, name);
        task_end(app);
    }
}

int main(int argc, char **argv)
{
    static const part parts[] = {{"tasks", tasks},           {"unbalanced", unbalanced},
                                 {"overlapped", overlapped}, {"marks", marks},
                                 {"metadata", metadata},     {"pauses", pauses}};
    return run_part(parts, sizeof parts / sizeof parts[0], argc > 1 ? argv[1] : NULL);
}
