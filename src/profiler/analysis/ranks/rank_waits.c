// SPDX-License-Identifier: Apache-2.0
// See rank_waits.h. Arguments are found by their keys' name ids, which are looked up once.
#include "profiler/analysis/ranks/rank_waits.h"

#include <mxprof/error.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/trace/checksum.h"
#include "profiler/trace/event.h"

typedef enum argument {
    WAITED,
    WAITED_FOR,
    LAST,
    FIRST,
    KEY,
    ROUND,
    BYTES,
    SPREAD,
    SEND,
    RECEIVE,
    BYTES_OUT,
    BYTES_IN,
    ADD,
    OWN,
    RATE,
    RATE_LEAST,
    RATE_MOST,
    ELSEWHERE,
    PEER,
    ARGUMENTS
} argument;

static const char *const argument_texts[ARGUMENTS] = {"waited_ns",
                                                      "waited_for",
                                                      "last",
                                                      "first",
                                                      "key",
                                                      "round",
                                                      "bytes",
                                                      "spread_ns",
                                                      "send_ns",
                                                      "receive_ns",
                                                      "bytes_out",
                                                      "bytes_in",
                                                      "add_ns",
                                                      "own_ns",
                                                      "bytes_per_s",
                                                      "least_bytes_per_s",
                                                      "most_bytes_per_s",
                                                      "elsewhere",
                                                      "peer"};
static const char round_text[] = "KVStore round", host_round_text[] = "KVStore host round";
static const char forward_text[] = "KVStore host pu";  // push, pull, pushpull
static const char probe_text[] = "KVStore probe";
static const char memory_for[] = "what processes waited for one another";

typedef struct key_turn {
    uint64_t key, count;
} key_turn;

typedef struct reading {
    mxp_source *source;
    mxp_rank_waits *waits;
    uint8_t *is_argument;  // by name id: place in argument_texts + 1
    uint32_t name_count;
} reading;

typedef struct values {
    bool is_there[ARGUMENTS];
    uint64_t number[ARGUMENTS];
    const char *key_text, *peer_text;
    size_t key_length;
} values;

static int find_arguments(reading *self)
{
    self->name_count = self->source->name_count;
    self->is_argument = mxp__alloc(self->name_count);
    if (self->is_argument == NULL && self->name_count > 0) {
        return mxp__fail_memory(memory_for);
    }
    for (uint32_t id = 0; id < self->name_count; id++) {
        const mxp_name_view name = self->source->name(self->source, id);
        for (unsigned i = 0; i < ARGUMENTS; i++) {
            if (strcmp(name.text, argument_texts[i]) == 0) {
                self->is_argument[id] = (uint8_t)(i + 1);
            }
        }
    }
    return MXP_OK;
}

// A key is a name, a text or a number.
static void take_key(const reading *self, const mxp_event *event, uint32_t i, uint32_t type,
                     uint64_t value, values *found)
{
    uint32_t whole, length = 0;
    if (type == MXP_ARG_NAME) {
        const mxp_name_view name = self->source->name(self->source, (uint32_t)value);
        found->key_text = name.text;
        found->key_length = name.length;
    } else if (type == MXP_ARG_TEXT) {
        found->key_text = mxp__event_arg_text(event, i, &length, &whole);
        found->key_length = found->key_text != NULL ? length : 0;
    }
}

static void take_values(const reading *self, const mxp_event *event, values *found)
{
    const uint32_t count = mxp__event_arg_count(event);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t key, type;
        uint64_t value;
        mxp__event_arg(event, i, &key, &type, &value);
        const unsigned place = key < self->name_count ? self->is_argument[key] : 0u;
        if (place == 0) {
            continue;
        }
        found->is_there[place - 1] = true;
        found->number[place - 1] = value;
        if (place - 1 == KEY) {
            take_key(self, event, i, type, value, found);
        } else if (place - 1 == PEER && type == MXP_ARG_NAME) {
            found->peer_text = self->source->name(self->source, (uint32_t)value).text;
        }
    }
}

static uint64_t key_of(const values *found)
{
    if (!found->is_there[KEY]) {
        return 0;
    }
    const uint64_t made = found->key_text != NULL
                              ? mxp__checksum(found->key_text, found->key_length)
                              : found->number[KEY] * UINT64_C(0x9e3779b97f4a7c15) + 1;
    return made == 0 ? 1 : made;
}

static int note_name(mxp_rank_waits *waits, uint64_t key, const values *found)
{
    if (key == 0 || found->key_text == NULL) {
        return MXP_OK;
    }
    mxp_key_name *name = mxp__id_map_add(&waits->names, key);
    if (name == NULL) {
        return mxp__fail_memory(memory_for);
    }
    name->text = found->key_text;
    name->length = found->key_length;
    return MXP_OK;
}

static int turn_of(mxp_rank_waits *waits, uint64_t key, uint64_t *round)
{
    key_turn *turn = mxp__id_map_add(&waits->turns, key + 1 == 0 ? 1 : key + 1);
    if (turn == NULL) {
        return mxp__fail_memory(memory_for);
    }
    *round = turn->count++;
    return MXP_OK;
}

static uint32_t rank_of(uint64_t value)
{
    return value < MXP__RANK_UNKNOWN ? (uint32_t)value : MXP__RANK_UNKNOWN;
}

static mxp_rank_wait wait_of(const mxp_event *event, const values *found, const char *name)
{
    mxp_rank_wait wait = {.begin_ns = event->begin_ns,
                          .end_ns = event->end_ns,
                          .waited_ns = found->number[WAITED],
                          .bytes = found->number[BYTES],
                          .key = key_of(found),
                          .round = found->number[ROUND],
                          .goes_out = strcasestr(name, "push") != NULL,
                          .comes_in = strcasestr(name, "pull") != NULL,
                          .send_ns = found->number[SEND],
                          .receive_ns = found->number[RECEIVE],
                          .bytes_out = found->number[BYTES_OUT],
                          .bytes_in = found->number[BYTES_IN],
                          .last = rank_of(found->is_there[WAITED_FOR] ? found->number[WAITED_FOR]
                                                                      : found->number[LAST])};
    const uint64_t longest = (uint64_t)wait.end_ns - (uint64_t)wait.begin_ns;
    wait.waited_ns = wait.waited_ns > longest ? longest : wait.waited_ns;
    wait.send_ns = wait.send_ns > longest ? longest : wait.send_ns;
    wait.receive_ns = wait.receive_ns > longest ? longest : wait.receive_ns;
    return wait;
}

// What is summed for the host goes on: nobody else's wait.
static int add_forward(mxp_rank_waits *waits, const mxp_event *event, const values *found,
                       const char *name)
{
    if (mxp__grow(&waits->forwards, &waits->forward_capacity, waits->forward_count + 1,
                  sizeof *waits->forwards) != MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    waits->forwards[waits->forward_count++] = wait_of(event, found, name);
    return MXP_OK;
}

static int add_wait(mxp_rank_waits *waits, const mxp_event *event, const values *found,
                    const char *name)
{
    mxp_rank_wait wait = wait_of(event, found, name);
    int error = found->is_there[ROUND] ? MXP_OK : turn_of(waits, wait.key, &wait.round);
    if (error == MXP_OK && mxp__grow(&waits->waits, &waits->wait_capacity, waits->wait_count + 1,
                                     sizeof wait) != MXP_OK) {
        error = mxp__fail_memory(memory_for);
    }
    if (error == MXP_OK) {
        waits->waits[waits->wait_count++] = wait;
        error = note_name(waits, wait.key, found);
    }
    return error;
}

static int add_round(mxp_rank_waits *waits, const mxp_event *event, const values *found)
{
    if (mxp__grow(&waits->rounds, &waits->round_capacity, waits->round_count + 1,
                  sizeof *waits->rounds) != MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    const uint64_t longest = (uint64_t)event->end_ns - (uint64_t)event->begin_ns;
    const uint64_t own_ns = found->number[OWN];
    const mxp_rank_round round = {.begin_ns = event->begin_ns,
                                  .end_ns = event->end_ns,
                                  .spread_ns = found->number[SPREAD],
                                  .key = key_of(found),
                                  .round = found->number[ROUND],
                                  .bytes = found->number[BYTES],
                                  .first = rank_of(found->number[FIRST]),
                                  .last = rank_of(found->number[LAST]),
                                  .add_ns = found->number[ADD],
                                  .own_ns = own_ns > longest ? longest : own_ns,
                                  .has_own = found->is_there[ADD] && found->is_there[OWN]};
    waits->rounds[waits->round_count++] = round;
    return note_name(waits, round.key, found);
}

// Of several the last one: a program may have made several stores.
static void take_probe(mxp_rank_waits *waits, const values *found)
{
    waits->probe = (mxp_rank_probe){.bytes_per_s = found->number[RATE],
                                    .least = found->number[RATE_LEAST],
                                    .most = found->number[RATE_MOST],
                                    .is_elsewhere = found->number[ELSEWHERE] != 0,
                                    .peer = found->peer_text};
}

static int take(const reading *self, const mxp_event *event)
{
    if ((event->words[0] & 0xff) != MXP_KIND_SPAN_LONG ||
        mxp__event_clock(event) != MXP_CLOCK_TRACE || mxp__event_arg_count(event) == 0) {
        return MXP_OK;
    }
    values found = {.key_text = NULL};
    take_values(self, event, &found);
    const mxp_name_view name = self->source->name(self->source, event->name);
    if (found.is_there[WAITED] && strncmp(name.text, forward_text, strlen(forward_text)) == 0) {
        return add_forward(self->waits, event, &found, name.text);
    }
    if (found.is_there[WAITED] && (found.is_there[WAITED_FOR] || found.is_there[LAST])) {
        return add_wait(self->waits, event, &found, name.text);
    }
    if (found.is_there[RATE] && strcmp(name.text, probe_text) == 0) {
        take_probe(self->waits, &found);
    }
    self->waits->sums_for_host |= strcmp(name.text, host_round_text) == 0;
    return found.is_there[SPREAD] && strcmp(name.text, round_text) == 0
               ? add_round(self->waits, event, &found)
               : MXP_OK;
}

static int read_all(const reading *self)
{
    mxp_record_range range;
    int error = MXP_OK, found;
    for (size_t i = 0; error == MXP_OK; i++) {
        found = self->source->range(self->source, i, &range);
        if (found == MXP_EFORMAT) {
            continue;
        }
        if (found != 1) {
            break;
        }
        mxp_decoder decoder;
        mxp_event event;
        mxp__decoder_begin(&decoder, self->source->timebase, &range);
        while (error == MXP_OK && mxp__decoder_next(&decoder, &event) == 1) {
            error = event.kind == MXP_KIND_SPAN ? take(self, &event) : MXP_OK;
        }
    }
    return error;
}

static int compare(const void *a, const void *b)
{
    const mxp_rank_wait *x = a, *y = b;
    return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

int mxp__rank_waits_read(mxp_source *process, mxp_rank_waits *waits)
{
    reading self = {.source = process, .waits = waits};
    waits->names.entry_bytes = sizeof(mxp_key_name);
    waits->turns.entry_bytes = sizeof(key_turn);
    int error = find_arguments(&self);
    if (error == MXP_OK) {
        error = read_all(&self);
    }
    if (waits->wait_count > 0) {
        qsort(waits->waits, waits->wait_count, sizeof *waits->waits, compare);
    }
    if (waits->forward_count > 0) {
        qsort(waits->forwards, waits->forward_count, sizeof *waits->forwards, compare);
    }
    mxp__free(self.is_argument, self.name_count);
    return error;
}

void mxp__rank_waits_fini(mxp_rank_waits *waits)
{
    mxp__free(waits->waits, waits->wait_capacity * sizeof *waits->waits);
    mxp__free(waits->forwards, waits->forward_capacity * sizeof *waits->forwards);
    mxp__free(waits->rounds, waits->round_capacity * sizeof *waits->rounds);
    mxp__id_map_fini(&waits->names);
    mxp__id_map_fini(&waits->turns);
    *waits = (mxp_rank_waits){0};
}
