// SPDX-License-Identifier: Apache-2.0
// A program that sends NVTX marks: ranges, marks, names. Knows nothing of mxprof.
#include "nvtx_static.h"

// Depths that calls return, checked here: wrong ones are told.
static void expect(int got, int wanted, const char *what)
{
    if (got != wanted) {
        printf("%s returned %d, not %d\n", what, got, wanted);
    }
}

static void ranges(void)
{
    void *physics = create_domain("physics");
    const attributes step = narrow("step");
    for (int i = 0; i < 100; i++) {
        expect(push_a("outer"), 0, "first push");
        expect(push_w(L"gr\u00fcn \U0001f600"), 1, "second push");
        expect(domain_push_ex(physics, &step), 0, "first push of a domain");
        expect(pop(), 1, "first pop");  // the domain's range stays open
        expect(domain_push_ex(physics, &step), 1, "second push of a domain");
        expect(domain_pop(physics), 1, "first pop of a domain");
        expect(domain_pop(physics), 0, "second pop of a domain");
        expect(pop(), 0, "second pop");
    }
    expect(pop(), -1, "a pop too many");
    expect(domain_pop(physics), -1, "a pop of a domain too many");
    void *same = register_string(physics, "registered");
    for (int i = 0; i < 50; i++) {
        attributes by_handle = {
            .version = 3, .size = sizeof(attributes), .message_type = 3, .message = same};
        domain_push_ex(i % 5 == 0 ? NULL : physics, &by_handle);
        domain_pop(i % 5 == 0 ? NULL : physics);
    }
}

static void *end_elsewhere(void *id)
{
    end_range(*(uint64_t *)id);
    return NULL;
}

static void started(void)
{
    pthread_t thread;
    uint64_t first = start_a("request"), second = start_a("request");
    pthread_create(&thread, NULL, end_elsewhere, &first);
    pthread_join(thread, NULL);
    end_range(second);
    end_range(0);
    end_range(999);  // counted
    const attributes own = narrow("own");
    void *domain = create_domain_w(L"net");
    domain_end(domain, domain_start_ex(domain, &own));
    mark_a("here");
}

static void told(void)
{
    name_category(4, "input");
    attributes full = narrow("full");
    full.category = 4;
    full.color_type = 1;
    full.color = 0xff00aa11;
    full.payload_type = 5;
    full.payload.i32 = -7;
    push_ex(&full);
    pop();
    full.message = "started";
    full.category = 5;
    full.payload_type = 3;
    full.payload.f64 = 0.25;
    end_range(start_ex(&full));
    attributes short_one = narrow("not read");
    short_one.size = 16;  // an older header's: it ends before the payload
    short_one.category = 4;
    push_ex(&short_one);
    pop();
    name_thread((uint32_t)syscall(SYS_gettid), "named");
    domain_name_category(create_domain("other"), 4, "of another domain");
}

static pthread_barrier_t barrier;

// Headers of 3.0 and 3.1 let several threads initialize the same tables at once.
static void *first_call(void *unused)
{
    int (*init)(const void *(*)(uint32_t)) =
        (int (*)(const void *(*)(uint32_t)))dlsym(library, "InitializeInjectionNvtx2");
    pthread_barrier_wait(&barrier);
    expect(init(get_table), 1, "init");
    for (int i = 0; i < 10; i++) {
        expect(push_a("first"), 0, "push");
        expect(pop(), 0, "pop");
    }
    return unused;
}

static void at_once(void)
{
    enum { THREADS = 32 };
    pthread_t threads[THREADS];
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, first_call, NULL);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
}

int main(int argc, char **argv)
{
    if (!init_times(argc > 2 ? atoi(argv[2]) : 1)) {
        return 3;
    }
    if (argc > 1) {
        strcmp(argv[1], "ranges") == 0    ? ranges()
        : strcmp(argv[1], "started") == 0 ? started()
        : strcmp(argv[1], "at once") == 0 ? at_once()
                                          : told();
    }
    return told_version != 3;
}
