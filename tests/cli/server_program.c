// SPDX-License-Identifier: Apache-2.0
// A small server, compiled and run by server_runs.py: server SIGNAL. One thread takes requests
// and puts them into a queue, two workers handle them; every span carries the request's number. Of
// 200 requests number 137 is slow: it loads 60 ms. The last one never ends, and the process dies in
// it; with SIGNAL 0 it lives on.
#include <mxprof/record.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { REQUESTS = 200, SLOW = 137, HANGS = REQUESTS - 1 };

static mxp_name parse, queue, handle, lookup, load, reply, key_request, key_path;
static mxp_async waiting[REQUESTS];
static sem_t arrived, done;
static atomic_uint next;

static void sleep_us(long us)
{
    nanosleep(&(struct timespec){us / 1000000, us % 1000000 * 1000}, NULL);
}

static void *work(void *name)
{
    mxp_thread_name(name);
    for (;;) {
        sem_wait(&arrived);
        uint64_t request = atomic_fetch_add(&next, 1);
        mxp_arg args[] = {mxp_u64(key_request, request), mxp_text(key_path, "/data/137.blob", 14)};
        mxp_async_end(&waiting[request], args, 1);
        uint64_t all = mxp_begin_args(MXP_CLASS_USER, handle, args, 1);
        uint64_t inside = mxp_span_begin(lookup);
        uint64_t disk = mxp_begin_args(MXP_CLASS_USER, load, args + 1, 1);
        sleep_us(request == SLOW ? 60000 : request == HANGS ? 600000000 : 200);
        mxp_end_args(load, disk, NULL, 0);
        mxp_span_end(lookup, inside);
        sleep_us(50);
        mxp_end_args(handle, all, NULL, 0);
        uint64_t last = mxp_begin_args(MXP_CLASS_USER, reply, args, 1);
        sleep_us(20);
        mxp_end_args(reply, last, NULL, 0);
        sem_post(&done);
    }
    return NULL;
}

static void take(uint64_t request)
{
    mxp_arg args[] = {mxp_u64(key_request, request)};
    uint64_t token = mxp_begin_args(MXP_CLASS_USER, parse, args, 1);
    sleep_us(30);
    mxp_end_args(parse, token, NULL, 0);
    waiting[request] = mxp_async_begin(MXP_CLASS_USER, queue, request, mxp_no_context());
    sem_post(&arrived);
}

int main(int count, char **arguments)
{
    (void)count;
    pthread_t worker[2];
    mxp_name *const names[] = {&parse, &handle, &lookup, &load, &reply};
    const char *const texts[] = {"parse", "handle", "lookup", "load from disk", "reply"};
    for (int i = 0; i < 5; i++) {
        *names[i] = mxp_span_name("server", texts[i]);
    }
    queue = mxp_intern("server", "in queue", MXP_STYLE_ASYNC, MXP_UNIT_NONE);
    key_request = mxp_string("request"), key_path = mxp_string("path");
    mxp_thread_name("io");
    sem_init(&arrived, 0, 0), sem_init(&done, 0, 0);
    pthread_create(&worker[0], NULL, work, "worker 1");
    pthread_create(&worker[1], NULL, work, "worker 2");
    for (uint64_t request = 0; request < REQUESTS; request++) {
        take(request);
        if (request % 2 == 1 && request != HANGS) {
            sem_wait(&done), sem_wait(&done);
        }
    }
    sem_wait(&done);
    sleep_us(20000);
    raise(atoi(arguments[1]));
    return pause();
}
