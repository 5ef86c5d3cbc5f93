// SPDX-License-Identifier: Apache-2.0
// Handles are checked whatever a program passes: null, rubbish, destroyed, of another type.
#include "cmocka_all.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "base/os/os.h"
#include "profiler/session/objects/handles.h"

enum { EVENT = 1 << MXP__OBJECT_EVENT, COUNTER = 1 << MXP__OBJECT_COUNTER };

static mxp_handle make(const char *name)
{
    mxp_handle event = NULL;
    assert_int_equal(mxp_event_create(name, &event), MXP_OK);
    assert_non_null(event);
    return event;
}

static int try_lock(mxp_handle handle, uint32_t types)
{
    mxp_slot *slot;
    int error = mxp__slot_lock(handle, types, "null!", &slot);
    if (error == MXP_OK) {
        mxp__slot_unlock(slot);
    }
    return error;
}

static void null_gives_the_callers_text(void **state)
{
    (void)state;
    assert_int_equal(try_lock(NULL, EVENT), MXP_EHANDLE);
    assert_string_equal(mxp_last_error(), "null!");
}

static void numbers_that_are_no_handle(void **state)
{
    (void)state;
    int local = 0;
    uint64_t good = (uint64_t)(uintptr_t)make("e");
    const uint64_t bad[] = {1,
                            ~UINT64_C(0),
                            (uint64_t)(uintptr_t)&local,
                            good ^ UINT64_C(1) << 63,
                            good | 0xffffff,  // an index nobody has
                            good & ~UINT64_C(0xffffff),  // index 0
                            good & ~UINT64_C(0xf000000),  // type 0
                            good | UINT64_C(0xf000000)};  // type 15
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(try_lock((mxp_handle)(uintptr_t)bad[i], ~0u), MXP_EHANDLE);
        assert_non_null(strstr(mxp_last_error(), "is no handle"));
    }
    // Of another type than its slot: only a forger can have it.
    uint64_t forged = (good & ~UINT64_C(0xf000000)) | (uint64_t)MXP__OBJECT_COUNTER << 24;
    assert_int_equal(try_lock((mxp_handle)(uintptr_t)forged, COUNTER), MXP_EHANDLE);
    assert_int_equal(try_lock((mxp_handle)(uintptr_t)good, EVENT), MXP_OK);
}

static void a_wrong_type_is_named(void **state)
{
    (void)state;
    mxp_handle event = make("e");
    assert_int_equal(mxp_counter_set(event, 1), MXP_EHANDLE);
    assert_string_equal(mxp_last_error(), "wrong type of handle: expected counter, got event");
    mxp_handle domain, counter;
    assert_int_equal(mxp_domain_create("d", &domain), MXP_OK);
    assert_int_equal(mxp_counter_create(domain, "c", &counter), MXP_OK);
    assert_int_equal(mxp_duration_start(counter), MXP_EHANDLE);
    assert_string_equal(
        mxp_last_error(),
        "wrong type of handle: expected task or frame or event or span, got counter");
    assert_int_equal(mxp_task_create(event, "t", &counter), MXP_EHANDLE);
    assert_int_equal(mxp_marker_set(event, "m", "global"), MXP_EHANDLE);
}

static void a_destroyed_handle_stays_invalid(void **state)
{
    (void)state;
    mxp_handle old = make("old");
    assert_int_equal(mxp_object_destroy(old), MXP_OK);
    assert_int_equal(mxp_object_destroy(old), MXP_EHANDLE);
    assert_non_null(strstr(mxp_last_error(), "this event was destroyed"));
    for (int i = 0; i < 1000; i++) {
        mxp_handle next = make("next");  // takes the slot over at some point
        assert_ptr_not_equal(next, old);
        assert_int_equal(mxp_duration_start(old), MXP_EHANDLE);
        assert_int_equal(mxp_object_destroy(next), MXP_OK);
    }
}

static void a_slot_is_retired_before_its_handles_repeat(void **state)
{
    (void)state;
    mxp_handle first = make("first");
    mxp_slot *slot;
    assert_int_equal(mxp__slot_lock(first, EVENT, "", &slot), MXP_OK);
    slot->generation = (1 << 20) - 1;  // as after a million uses
    mxp__slot_unlock(slot);
    uint64_t last = (uint64_t)(uintptr_t)first | ((UINT64_C(1) << 20) - 1) << 28;
    assert_int_equal(mxp_object_destroy((mxp_handle)(uintptr_t)last), MXP_OK);
    assert_int_equal(try_lock((mxp_handle)(uintptr_t)last, EVENT), MXP_EHANDLE);
    for (int i = 0; i < 100; i++) {
        mxp_handle next = make("next");
        assert_true(((uintptr_t)next & 0xffffff) != ((uintptr_t)first & 0xffffff));
    }
}

static void handles_of_many_objects_all_work(void **state)
{
    (void)state;
    enum { MANY = 20000 };
    static mxp_handle made[MANY];
    for (int i = 0; i < MANY; i++) {
        made[i] = make("many");
    }
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(mxp_duration_start(made[i]), MXP_OK);
        assert_int_equal(mxp_duration_stop(made[i]), MXP_OK);
        assert_int_equal(mxp_object_destroy(made[i]), MXP_OK);
        assert_int_equal(mxp_duration_start(made[i]), MXP_EHANDLE);
    }
}

static void domains_of_one_name_are_one(void **state)
{
    (void)state;
    mxp_handle first, again, other;
    assert_int_equal(mxp_domain_create("one name", &first), MXP_OK);
    assert_int_equal(mxp_domain_create("another", &other), MXP_OK);
    assert_int_equal(mxp_domain_create("one name", &again), MXP_OK);
    assert_ptr_equal(first, again);
    assert_ptr_not_equal(first, other);
    assert_int_equal(mxp_object_destroy(first), MXP_OK);  // nothing happens
    assert_int_equal(mxp_marker_set(first, "m", "task"), MXP_OK);
}

static void labels_are_cut_between_characters(void **state)
{
    (void)state;
    mxp_slot slot;
    mxp__slot_set_label(&slot, "short");
    assert_string_equal(slot.label, "short");
    mxp__slot_set_label(&slot, "a name of exactly 39 characters, I say!");
    assert_string_equal(slot.label, "a name of exactly 39 characters, I say!");
    mxp__slot_set_label(&slot, "a name of exactly 40 characters, I say!!");
    assert_string_equal(slot.label, "a name of exactly 40 characters, I s...");
    char umlauts[101] = "x";
    for (int i = 1; i + 1 < 100; i += 2) {
        memcpy(umlauts + i, "\xc3\xa4", 3);
    }
    mxp__slot_set_label(&slot, umlauts);
    size_t length = strlen(slot.label);
    assert_string_equal(slot.label + length - 3, "...");
    assert_int_equal((length - 3) % 2, 1);  // x and whole characters
}

static void *make_and_destroy(void *result)
{
    for (int i = 0; i < 20000; i++) {
        mxp_handle event;
        if (mxp_event_create("t", &event) != MXP_OK || mxp_duration_start(event) != MXP_OK ||
            mxp_duration_stop(event) != MXP_OK || mxp_object_destroy(event) != MXP_OK ||
            mxp_object_destroy(event) != MXP_EHANDLE) {
            ++*(int *)result;
        }
    }
    return NULL;
}

static void threads_share_the_table(void **state)
{
    (void)state;
    pthread_t threads[4];
    int wrong[4] = {0};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, make_and_destroy, &wrong[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(wrong[i], 0);
    }
}

// ---- domains of two threads ---------------------------------------------------------------------
// So many, or as many as ten seconds have, because on a busy machine two threads seldom meet.
enum { DOMAINS = 3000, LEAST = 100, LAST = 4 };
static mxp_handle domains[2][DOMAINS];
static int arrived[DOMAINS];  // threads, and LAST
static uint64_t until_ns;

// False: it was the last one. The first thread says so with its arrival.
static bool meet(int i, bool is_first)
{
    const bool is_last = is_first && i + 1 >= LEAST && mxp__os_monotonic_ns() > until_ns;
    __atomic_fetch_add(&arrived[i], is_last ? 1 + LAST : 1, __ATOMIC_RELAXED);
    int now;
    while ((now = __atomic_load_n(&arrived[i], __ATOMIC_RELAXED)) % LAST != 2) {
        sched_yield();
    }
    return now < LAST;
}

static void *make_domains(void *places)
{
    mxp_handle *made = places;
    bool goes_on = true;
    for (int i = 0; goes_on && i < DOMAINS; i++) {
        char name[32];
        snprintf(name, sizeof name, "shared %d", i);
        goes_on = meet(i, made == domains[0]);
        mxp_domain_create(name, &made[i]);
    }
    return NULL;
}

static void a_domain_that_two_threads_make_is_one(void **state)
{
    (void)state;
    pthread_t threads[2];
    until_ns = mxp__os_monotonic_ns() + UINT64_C(10000000000);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, make_domains, domains[i]), 0);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_non_null(domains[0][LEAST - 1]);
    assert_memory_equal(domains[0], domains[1], sizeof domains[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(null_gives_the_callers_text),
        cmocka_unit_test(numbers_that_are_no_handle),
        cmocka_unit_test(a_wrong_type_is_named),
        cmocka_unit_test(a_destroyed_handle_stays_invalid),
        cmocka_unit_test(a_slot_is_retired_before_its_handles_repeat),
        cmocka_unit_test(handles_of_many_objects_all_work),
        cmocka_unit_test(domains_of_one_name_are_one),
        cmocka_unit_test(labels_are_cut_between_characters),
        cmocka_unit_test(threads_share_the_table),
        cmocka_unit_test(a_domain_that_two_threads_make_is_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
