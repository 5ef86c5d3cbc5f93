// SPDX-License-Identifier: Apache-2.0
// A program that floods its collector with ITT marks: names, ends, ids, texts, threads. The second
// argument says how many. It exits with 9 if it came to need more than the MiB of the third one,
// and with 0 if its own sum, which has nothing to do with marks, is right.
#include "itt_static.h"

#include <sys/resource.h>

static int count;

static void names(void)
{
    char text[64];
    for (int i = 0; i < count; i++) {
        snprintf(text, sizeof text, "request number %d", i);
        task_begin(app, none, none, string_handle_create(text));
        task_end(app);
    }
}

static void ends(void)
{
    task_begin(app, none, none, string_handle_create("only"));
    task_end(app);
    for (int i = 0; i < count; i++) {
        task_end(app);
        task_end_overlapped(app, (id){(unsigned long long)i + 1, 0, 0});
    }
}

static void ids(void)
{
    string *name = string_handle_create("never ended");
    for (int i = 0; i < count; i++) {
        task_begin_overlapped(app, (id){(unsigned long long)i + 1, 0, 0}, none, name);
    }
}

static void begins(void)
{
    string *name = string_handle_create("deeper");
    for (int i = 0; i < count; i++) {
        task_begin(app, none, none, name);
    }
}

static void texts(void)
{
    enum { LONG = 1 << 20 };
    char *text = malloc(LONG + 1);
    for (int i = 0; i < count; i++) {
        memset(text, 'a' + i % 3, LONG);
        text[LONG] = '\0';
        task_begin(app, none, none, string_handle_create(text));
        metadata_str_add(app, none, string_handle_create("data"), text, LONG);
        task_end(app);
    }
    // A character of three bytes across the cut, and bytes that are no text.
    memset(text, 'x', 4092);
    memcpy(text + 4092, "\xe2\x82\xac\xe2\x82\xac", 7);
    task_begin(app, none, none, string_handle_create(text));
    task_end(app);
    task_begin(app, none, none, string_handle_create("broken \xff\xfe\xc3"));
    task_end(app);
    task_begin(domain_create(NULL), none, none, string_handle_create(NULL));
    task_end(domain_create(NULL));
    free(text);
}

static pthread_barrier_t barrier;
static void (*init)(global *, int);

// Each thread is a shared object of its own with its own table, as far as the collector sees.
static void *first_call(void *unused)
{
    global copy = own;
    pthread_barrier_wait(&barrier);
    init(&copy, -1);
    domain *mine = domain_create("app");
    task_begin(mine, none, none, string_handle_create("first"));
    task_end(mine);
    return unused;
}

static void threads(void)
{
    enum { MOST = 256 };
    pthread_t made[MOST];
    void *library = dlopen(getenv("INTEL_LIBITTNOTIFY64"), RTLD_LAZY);
    init = (void (*)(global *, int))dlsym(library, "__itt_api_init");
    pthread_barrier_init(&barrier, NULL, (unsigned)count);
    for (int i = 0; i < count && i < MOST; i++) {
        pthread_create(&made[i], NULL, first_call, NULL);
    }
    for (int i = 0; i < count && i < MOST; i++) {
        pthread_join(made[i], NULL);
    }
}

// A second copy of the collector, from a file of another name.
static void copies(void)
{
    void *library = dlopen(getenv("SECOND_COPY"), RTLD_LAZY);
    task_begin(app, none, none, string_handle_create("by the first"));
    task_end(app);
    void (*second)(global *, int) =
        library != NULL ? (void (*)(global *, int))dlsym(library, "__itt_api_init") : NULL;
    if (second == NULL) {
        fprintf(stderr, "no second copy: %s\n", dlerror());
        exit(2);
    }
    second(&own, -1);
    task_begin(app, none, none, string_handle_create("by the second"));  // a domain of the first's
    task_end(app);
    domain *again = domain_create("app");
    for (int i = 0; i < count; i++) {
        task_begin(again, none, none, string_handle_create("by the second"));
        task_end(again);
    }
}

int main(int argc, char **argv)
{
    static const part parts[] = {{"names", names},   {"ends", ends},   {"ids", ids},
                                 {"begins", begins}, {"texts", texts}, {"threads", threads},
                                 {"copies", copies}};
    struct rusage before, after;
    unsigned long long sum = 0;
    if (argc < 4) {
        return 2;
    }
    count = atoi(argv[2]);
    for (unsigned long long i = 0; i < 1000; i++) {
        sum += i * i;
    }
    getrusage(RUSAGE_SELF, &before);
    int result = 0;
    if (strcmp(argv[1], "threads") == 0) {
        threads();  // which load for themselves
    } else {
        result = run_part(parts, sizeof parts / sizeof parts[0], argv[1]);
    }
    getrusage(RUSAGE_SELF, &after);
    if (after.ru_maxrss - before.ru_maxrss > atol(argv[3]) * 1024) {
        fprintf(stderr, "%ld KiB\n", after.ru_maxrss - before.ru_maxrss);
        return 9;
    }
    return sum == 332833500 ? result : 8;
}
