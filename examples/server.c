// SPDX-License-Identifier: Apache-2.0
// A server with the profiler inside, as one keeps it switched on: one thread waits in epoll for
// connections, three workers compute. Run it as `server [--daemon] PORT FILE.mxp` and ask it for
// http://127.0.0.1:PORT/primes/1000. The newest records are in FILE.mxp whatever ends the process;
// SIGUSR2 takes a snapshot beside it, SIGTERM ends the server.
//
// Each request has a number, which its spans carry, so that `mxprof top` names the slowest one and
// `mxprof show --arg request=NUMBER` shows its life across the threads. The number is also the id
// of the request's asynchronous spans, so that a request that was open when the process died is
// told with it.
#define _GNU_SOURCE 1  // accept4, daemon
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <mxprof/profiler.h>
#include <mxprof/record.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { WORKERS = 3, REQUEST_BYTES_MAX = 1024, CACHED_MAX = 256, LIMIT_MAX = 100000000 };

// A connection, which brings one request.
typedef struct request {
    struct request *next;
    uint64_t number;
    int socket;
    mxp_async life, waiting;
    const char *path;  // in `text`
    size_t path_bytes, text_bytes, reply_bytes;
    char text[REQUEST_BYTES_MAX];
    char reply[256];
} request;

// ---- marks ------------------------------------------------------------------------------------
static struct {
    mxp_name life, waiting, parse, handle, reply;
    mxp_name number, path, bytes;  // keys of arguments
} mark;

static void make_marks(void)
{
    mark.life = mxp_intern("server", "request", MXP_STYLE_ASYNC, MXP_UNIT_NONE);
    mark.waiting = mxp_intern("server", "in queue", MXP_STYLE_ASYNC, MXP_UNIT_NONE);
    mark.parse = mxp_span_name("server", "parse");
    mark.handle = mxp_span_name("server", "handle");
    mark.reply = mxp_span_name("server", "reply");
    mark.number = mxp_string("request");
    mark.path = mxp_string("path");
    mark.bytes = mxp_string("bytes");
}

static mxp_arg number_of(const request *of)
{
    return mxp_u64(mark.number, of->number);
}

static mxp_arg path_of(const request *of)
{
    return mxp_text(mark.path, of->path, of->path_bytes);
}

// A ring in a file, of which a process that dies leaves the newest records.
static bool start_profiler(const char *path)
{
    mxp_session *session = mxp_session_get();
    mxp_config config;
    mxp_config_init(&config);
    config.store = MXP_STORE_FILE;
    config.full_policy = MXP_FULL_RING;
    config.memory_limit_bytes = 64 << 20;
    config.native_filename = path;
    config.snapshot_filename = path;  // server.mxp gives server.PID.1.mxp
    config.snapshot_signal = 1;
    return mxp_session_configure(session, &config) == 0 && mxp_session_run(session) == 0;
}

// ---- requests that wait ------------------------------------------------------------------------
typedef struct request_list {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    request *first, **last;
    bool closed;
} request_list;

static request_list asked = {
    .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .last = &asked.first};
static request_list answered = {.lock = PTHREAD_MUTEX_INITIALIZER,
                                .changed = PTHREAD_COND_INITIALIZER,
                                .last = &answered.first};

static void put(request_list *list, request *one)
{
    one->next = NULL;
    pthread_mutex_lock(&list->lock);
    *list->last = one;
    list->last = &one->next;
    pthread_cond_signal(&list->changed);
    pthread_mutex_unlock(&list->lock);
}

static request *take_locked(request_list *list)
{
    request *one = list->first;
    if (one != NULL) {
        list->first = one->next;
        list->last = list->first == NULL ? &list->first : list->last;
    }
    return one;
}

// Waits for one; null once the list is closed and empty.
static request *wait_for(request_list *list)
{
    pthread_mutex_lock(&list->lock);
    while (list->first == NULL && !list->closed) {
        pthread_cond_wait(&list->changed, &list->lock);
    }
    request *one = take_locked(list);
    pthread_mutex_unlock(&list->lock);
    return one;
}

static request *take(request_list *list)
{
    pthread_mutex_lock(&list->lock);
    request *one = take_locked(list);
    pthread_mutex_unlock(&list->lock);
    return one;
}

static void close_list(request_list *list)
{
    pthread_mutex_lock(&list->lock);
    list->closed = true;
    pthread_cond_broadcast(&list->changed);
    pthread_mutex_unlock(&list->lock);
}

// ---- what is asked for -------------------------------------------------------------------------
static struct {
    pthread_mutex_t lock;
    size_t count;
    struct {
        uint32_t limit, primes;
    } known[CACHED_MAX];
} cache = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool look_up(uint32_t limit, uint32_t *primes)
{
    MXP_SPAN_SCOPE("server", "look up");
    bool found = false;
    pthread_mutex_lock(&cache.lock);
    for (size_t i = 0; i < cache.count && !found; i++) {
        if (cache.known[i].limit == limit) {
            *primes = cache.known[i].primes;
            found = true;
        }
    }
    pthread_mutex_unlock(&cache.lock);
    return found;
}

static void remember(uint32_t limit, uint32_t primes)
{
    pthread_mutex_lock(&cache.lock);
    if (cache.count < CACHED_MAX) {
        cache.known[cache.count].limit = limit;
        cache.known[cache.count++].primes = primes;
    }
    pthread_mutex_unlock(&cache.lock);
}

// Eratosthenes' sieve. False: there is no memory for it.
static bool count_primes(uint32_t limit, uint32_t *primes)
{
    MXP_SPAN_SCOPE("server", "count primes");
    unsigned char *composite = calloc(limit > 0 ? limit : 1, 1);
    if (composite == NULL) {
        return false;
    }
    *primes = 0;
    for (uint64_t i = 2; i < limit; i++) {
        if (composite[i] == 0) {
            (*primes)++;
            for (uint64_t multiple = i * i; multiple < limit; multiple += i) {
                composite[multiple] = 1;
            }
        }
    }
    free(composite);
    return true;
}

static bool find(uint32_t limit, uint32_t *primes)
{
    if (look_up(limit, primes)) {
        return true;
    }
    if (!count_primes(limit, primes)) {
        return false;
    }
    remember(limit, *primes);
    return true;
}

static void write_reply(request *to, const char *status, const char *body)
{
    to->reply_bytes = (size_t)snprintf(to->reply, sizeof to->reply,
                                       "HTTP/1.0 %s\r\nContent-Length: %zu\r\n\r\n%s", status,
                                       strlen(body), body);
}

static void answer(request *to)
{
    static const char prefix[] = "/primes/";
    char body[64], *end;
    unsigned long limit = 0;
    uint32_t primes = 0;
    bool is_known = strncmp(to->path, prefix, sizeof prefix - 1) == 0 &&
                    to->path[sizeof prefix - 1] >= '0' && to->path[sizeof prefix - 1] <= '9';
    if (is_known) {
        limit = strtoul(to->path + sizeof prefix - 1, &end, 10);
        is_known = end == to->path + to->path_bytes && limit <= LIMIT_MAX;
    }
    if (!is_known) {
        write_reply(to, "404 Not Found", "ask for /primes/N, N at most 100000000\n");
    } else if (!find((uint32_t)limit, &primes)) {
        write_reply(to, "503 Service Unavailable", "no memory\n");
    } else {
        snprintf(body, sizeof body, "%" PRIu32 "\n", primes);
        write_reply(to, "200 OK", body);
    }
}

static int wake;  // an eventfd: the first thread looks for answers, and for the end

static void *work(void *name)
{
    mxp_thread_name(name);
    for (request *one; (one = wait_for(&asked)) != NULL;) {
        mxp_arg args[] = {number_of(one), path_of(one)};
        mxp_async_end(&one->waiting, args, 1);
        uint64_t token = mxp_begin_args(MXP_CLASS_USER, mark.handle, args, 2);
        answer(one);
        mxp_end_args(mark.handle, token, NULL, 0);
        put(&answered, one);
        eventfd_write(wake, 1);
    }
    return NULL;
}

// ---- the first thread: connections --------------------------------------------------------------
static int epoll, listener;

static void watch(int fd, void *about)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = about};
    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

static void accept_one(void)
{
    static uint64_t numbers;
    int socket = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    request *one = socket >= 0 ? calloc(1, sizeof *one) : NULL;
    if (one == NULL) {
        if (socket >= 0) {
            close(socket);
        }
        return;
    }
    one->number = ++numbers;
    one->socket = socket;
    one->path = one->text;
    one->life = mxp_async_begin(MXP_CLASS_USER, mark.life, one->number, mxp_no_context());
    watch(socket, one);
}

static void end_request(request *one)
{
    mxp_arg args[] = {number_of(one), path_of(one), mxp_u64(mark.bytes, one->reply_bytes)};
    close(one->socket);
    mxp_async_end(&one->life, args, 3);
    free(one);
}

// GET PATH HTTP/1.0. The path is empty where it is anything else.
static void parse(request *one)
{
    mxp_arg args[] = {number_of(one)};
    uint64_t token = mxp_begin_args(MXP_CLASS_USER, mark.parse, args, 1);
    if (strncmp(one->text, "GET ", 4) == 0) {
        one->path = one->text + 4;
        one->path_bytes = strcspn(one->path, " \r\n");
    }
    args[0] = path_of(one);
    mxp_end_args(mark.parse, token, args, 1);
}

// Takes what has come. The request goes to the workers when its head is complete.
static void read_from(request *one)
{
    ssize_t got =
        read(one->socket, one->text + one->text_bytes, sizeof one->text - 1 - one->text_bytes);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    if (got <= 0) {
        end_request(one);
        return;
    }
    one->text_bytes += (size_t)got;
    if (strstr(one->text, "\r\n\r\n") == NULL && one->text_bytes < sizeof one->text - 1) {
        return;
    }
    epoll_ctl(epoll, EPOLL_CTL_DEL, one->socket, NULL);
    parse(one);
    one->waiting = mxp_async_begin(MXP_CLASS_USER, mark.waiting, one->number, mxp_no_context());
    put(&asked, one);
}

static void reply(request *one)
{
    mxp_arg args[] = {number_of(one), mxp_u64(mark.bytes, one->reply_bytes)};
    uint64_t token = mxp_begin_args(MXP_CLASS_USER, mark.reply, args, 2);
    // Some hundred bytes, for which a new connection has room.
    ssize_t sent = send(one->socket, one->reply, one->reply_bytes, MSG_NOSIGNAL);
    (void)sent;
    mxp_end_args(mark.reply, token, NULL, 0);
    end_request(one);
}

static volatile sig_atomic_t ending;

static void on_end(int number)
{
    (void)number;
    ending = 1;
    eventfd_write(wake, 1);
}

static void serve(void)
{
    struct epoll_event events[64];
    eventfd_t wakes;
    while (ending == 0) {
        int count = epoll_wait(epoll, events, 64, -1);
        for (int i = 0; i < count; i++) {
            if (events[i].data.ptr == &listener) {
                accept_one();
            } else if (events[i].data.ptr == &wake) {
                eventfd_read(wake, &wakes);
            } else {
                read_from(events[i].data.ptr);
            }
        }
        for (request *one; (one = take(&answered)) != NULL;) {
            reply(one);
        }
    }
}

// ---- the program --------------------------------------------------------------------------------
// The port that was taken; 0: it cannot be had.
static unsigned open_port(const char *text)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(text))};
    socklen_t size = sizeof address;
    int yes = 1;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    epoll = epoll_create1(EPOLL_CLOEXEC);
    wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(listener, (struct sockaddr *)&address, size) != 0 || listen(listener, 128) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &size) != 0) {
        return 0;
    }
    return ntohs(address.sin_port);
}

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "server: %s: %s\n", what, why);
    return 1;
}

// Works until SIGTERM or SIGINT, then finishes what is in the queue.
static int run(void)
{
    static char names[WORKERS][20];
    pthread_t workers[WORKERS];
    int started = 0;
    mxp_thread_name("io");
    while (started < WORKERS) {
        snprintf(names[started], sizeof names[started], "worker %d", started + 1);
        if (pthread_create(&workers[started], NULL, work, names[started]) != 0) {
            break;
        }
        started++;
    }
    signal(SIGTERM, on_end);
    signal(SIGINT, on_end);
    watch(listener, &listener);
    watch(wake, &wake);
    serve();
    close_list(&asked);
    for (int i = 0; i < started; i++) {
        pthread_join(workers[i], NULL);
    }
    for (request *one; (one = take(&answered)) != NULL;) {
        reply(one);
    }
    return started == WORKERS ? 0 : fail("cannot start its workers", strerror(EAGAIN));
}

int main(int count, char **arguments)
{
    static const char usage[] = "usage: server [--daemon] PORT FILE.mxp (port 0: any)\n";
    if (count == 2 && strcmp(arguments[1], "--help") == 0) {
        fputs(usage, stdout);
        return 0;
    }
    bool is_daemon = count == 4 && strcmp(arguments[1], "--daemon") == 0;
    if (count != 3 && !is_daemon) {
        fputs(usage, stderr);
        return 2;
    }
    unsigned port = open_port(arguments[count - 2]);
    if (port == 0) {
        return fail("cannot listen there", strerror(errno));
    }
    // A child does not take its parent's recording along: the profiler starts in the daemon.
    if (is_daemon && daemon(1, 1) != 0) {
        return fail("cannot become a daemon", strerror(errno));
    }
    if (!start_profiler(arguments[count - 1])) {
        return fail("cannot start the profiler", mxp_last_error());
    }
    make_marks();
    printf("http://127.0.0.1:%u process %ld\n", port, (long)getpid());
    fflush(stdout);
    int null = is_daemon ? open("/dev/null", O_RDWR) : -1;
    for (int fd = 0; fd <= 2 && null >= 0; fd++) {
        dup2(null, fd);
    }
    return run();
}
