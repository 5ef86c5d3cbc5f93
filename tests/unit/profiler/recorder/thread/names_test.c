// SPDX-License-Identifier: Apache-2.0
// Names that are known are found without the table's lock; texts of any length are told apart.
#include "cmocka_all.h"

#include <mxprof/record.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/recorder/thread/name_index.h"
#include "profiler/recorder/thread/names.h"

// As in a signal handler that has interrupted a thread inside of the table.
static void a_known_name_needs_no_lock(void **state)
{
    (void)state;
    mxp_name known = mxp_span_name("names", "known");
    uint64_t losses = mxp__name_losses();
    mxp__names_lock();
    mxp_name again = mxp_span_name("names", "known");
    assert_int_equal(mxp__name_losses(), losses);
    mxp_name fresh = mxp_span_name("names", "never said before");
    mxp__names_unlock();
    assert_int_equal(again, known);
    assert_int_equal(fresh, MXP_NAME_FULL);
    assert_int_equal(mxp__name_losses(), losses + 1);
}

static void a_text_is_its_bytes_and_not_its_zero(void **state)
{
    (void)state;
    mxp_name category = mxp_string("names");
    const char text[] = "GET /index\0tail";
    mxp_name get = mxp_intern_in(category, text, 3, MXP_STYLE_SPAN, MXP_UNIT_NONE);
    assert_int_equal(get, mxp_span_name("names", "GET"));
    assert_int_equal(mxp_name_category(get), category);
    mxp_name whole = mxp_intern_in(category, text, sizeof text - 1, MXP_STYLE_SPAN, MXP_UNIT_NONE);
    assert_int_equal(mxp__name_view(whole).length, sizeof text - 1);
    assert_int_not_equal(whole, mxp_span_name("names", "GET /index"));
    assert_int_equal(mxp_intern_in(category, NULL, 7, MXP_STYLE_SPAN, MXP_UNIT_NONE),
                     mxp_span_name("names", ""));
}

static void a_category_that_was_never_given_out_is_none(void **state)
{
    (void)state;
    mxp_name name = mxp_intern_in(0xfffffff0, "text", 4, MXP_STYLE_SPAN, MXP_UNIT_NONE);
    assert_int_equal(mxp_name_category(name), MXP_NAME_NONE);
    assert_int_equal(name, mxp_span_name(NULL, "text"));
}

// The table keeps 8 bits of a style: what is beyond them must not make a name of its own each time.
static void a_style_has_8_bits(void **state)
{
    (void)state;
    mxp_name name = mxp_intern("names", "styled", 0x101, MXP_UNIT_NONE);
    assert_int_equal(mxp_intern("names", "styled", 0x101, MXP_UNIT_NONE), name);
    assert_int_equal(mxp_intern("names", "styled", MXP_STYLE_SPAN, MXP_UNIT_NONE), name);
}

// Each length that the hash reads in another way; texts that differ in one byte anywhere.
static void texts_of_every_length_are_told_apart(void **state)
{
    (void)state;
    char text[40] = "";
    for (uint32_t length = 1; length < sizeof text; length++) {
        memset(text, 'a', length);
        mxp_name same = mxp_intern_in(0, text, length, MXP_STYLE_NONE, MXP_UNIT_NONE);
        for (uint32_t at = 0; at < length; at++) {
            text[at] = 'b';
            mxp_name other = mxp_intern_in(0, text, length, MXP_STYLE_NONE, MXP_UNIT_NONE);
            assert_int_not_equal(other, same);
            assert_memory_equal(mxp_name_text(other), text, length);
            text[at] = 'a';
        }
    }
}

static bool is_id(uint32_t id, const mxp_name_key *key)
{
    return id == key->length;  // the test's names are their lengths
}

static uint32_t one_hash(uint32_t id)
{
    (void)id;
    return 0xfffffffe;  // all in one row, which goes around the end
}

static void names_of_one_hash_are_all_found(void **state)
{
    (void)state;
    enum { NAMES = 100 };
    mxp_name_index index = {{NULL}};
    mxp_name_key key = {.text = "", .hash = one_hash(0)};
    assert_int_equal(mxp__name_index_find(&index, &key, is_id), MXP__NAME_UNKNOWN);
    uint64_t first_bytes = mxp__name_index_wanted(&index, 0);
    void *first = calloc(1, first_bytes), *second;
    mxp__name_index_replace(&index, first, first_bytes, 0, one_hash);
    for (uint32_t id = 0; id < NAMES; id++) {
        mxp__name_index_add(&index, one_hash(id), id);
    }
    uint64_t more_bytes = mxp__name_index_wanted(&index, (uint32_t)(first_bytes / 8));
    assert_true(more_bytes > first_bytes);
    mxp__name_index_replace(&index, second = calloc(1, more_bytes), more_bytes, NAMES, one_hash);
    for (key.length = 0; key.length < NAMES; key.length++) {
        assert_int_equal(mxp__name_index_find(&index, &key, is_id), key.length);
    }
    assert_int_equal(mxp__name_index_find(&index, &key, is_id), MXP__NAME_UNKNOWN);
    free(first);
    free(second);
}

enum { MANY = 20000 };  // the index grows on the way
static mxp_atomic_u32 made;

static void *look_for_what_is_made(void *wrong)
{
    mxp_name category = mxp_string("grown");
    for (uint32_t last = 0; last + 1 < MANY;) {
        last = mxp_atomic_load_acquire(&made);
        char text[32];
        int length = snprintf(text, sizeof text, "%u", last);
        mxp_name name = mxp_intern_in(category, text, (size_t)length, MXP_STYLE_NONE, 0);
        if (name == MXP_NAME_FULL || strcmp(mxp_name_text(name), text) != 0) {
            ++*(int *)wrong;
        }
    }
    return NULL;
}

static void names_are_found_while_the_index_grows(void **state)
{
    (void)state;
    int wrong = 0;
    pthread_t reader;
    assert_int_equal(pthread_create(&reader, NULL, look_for_what_is_made, &wrong), 0);
    uint32_t before = mxp__name_count();
    mxp_name category = mxp_string("grown");
    for (uint32_t i = 0; i < MANY; i++) {
        char text[32];
        int length = snprintf(text, sizeof text, "%u", i);
        mxp_intern_in(category, text, (size_t)length, MXP_STYLE_NONE, 0);
        mxp_atomic_store_release(&made, i);
    }
    pthread_join(reader, NULL);
    assert_int_equal(wrong, 0);
    assert_true(mxp__name_count() - before <= MANY + 1);
}

static void beyond_the_limit_names_are_counted_and_known_ones_found(void **state)
{
    (void)state;
    mxp_name known = mxp_span_name("names", "known before the limit");
    uint32_t before = mxp__name_count();
    uint64_t losses = mxp__name_losses();
    mxp__names_limit(UINT64_C(1) << 30, before + 10);
    for (int i = 0; i < 25; i++) {
        char text[32];
        snprintf(text, sizeof text, "limit %d", i);
        mxp_name name = mxp_intern("many", text, MXP_STYLE_SPAN, MXP_UNIT_NONE);
        assert_int_equal(name == MXP_NAME_FULL, i >= 9);  // the category is one, too
    }
    assert_int_equal(mxp__name_count(), before + 10);
    assert_int_equal(mxp__name_losses() - losses, 16);
    assert_int_equal(mxp_span_name("names", "known before the limit"), known);
    uint32_t names;
    assert_true(mxp__names_largest_category(&names) != MXP_NAME_FULL);
    assert_true(names >= 9);
    mxp__names_limit(UINT64_C(1) << 30, 0);
    assert_int_not_equal(mxp_span_name("names", "after the limit"), MXP_NAME_FULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_known_name_needs_no_lock),
        cmocka_unit_test(a_text_is_its_bytes_and_not_its_zero),
        cmocka_unit_test(a_category_that_was_never_given_out_is_none),
        cmocka_unit_test(a_style_has_8_bits),
        cmocka_unit_test(texts_of_every_length_are_told_apart),
        cmocka_unit_test(names_of_one_hash_are_all_found),
        cmocka_unit_test(names_are_found_while_the_index_grows),
        cmocka_unit_test(beyond_the_limit_names_are_counted_and_known_ones_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
