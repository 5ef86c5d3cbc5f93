# SPDX-License-Identifier: Apache-2.0
"""A random program that knows what it records: python3 numbers_program.py LIBRARY SEED KEY=VALUE... Writes
out.json, out.mxp, dumps.txt, dumps.json, dumps.csv and truth.json into the working directory. Threads take
turns only by the interpreter's lock; between two halves recording pauses."""
import ctypes
import json
import random
import sys
import threading
import time

USER, STYLE_SPAN, STYLE_COUNTER, STYLE_INSTANT = 16, 1, 3, 4
lib = ctypes.CDLL(sys.argv[1])
U32, U64 = ctypes.c_uint32, ctypes.c_uint64
lib.mxp_session_get.restype = ctypes.c_void_p
lib.mxp_begin.restype = lib.mxp_clock_read.restype = U64
lib.mxp_begin.argtypes = U32, U32
lib.mxp_end.argtypes = U32, U64
lib.mxp_counter_u64.argtypes = U32, U32, U64
lib.mxp_counter_i64.argtypes = U32, U32, ctypes.c_int64
lib.mxp_counter_f64.argtypes = U32, U32, ctypes.c_double
lib.mxp_instant.argtypes = U32, U32, ctypes.c_int
lib.mxp_step.argtypes = U64,
session = ctypes.c_void_p(lib.mxp_session_get())
seed = int(sys.argv[2])
truth = {"spans": {}, "tasks": [], "counters": {}, "instants": 0, "steps": []}
guard = threading.Lock()
NAMES = ["read", "parse", "render", "reply"]


class Span(ctypes.Structure):
    _fields_ = [("name", U32), ("flags", U32), ("begin", U64), ("end", U64), ("lane", U32),
                ("scope", U32), ("clock", U32), ("arg_count", U32), ("args", ctypes.c_void_p)]


def check(status):
    assert status == 0, (status, ctypes.c_char_p(lib.mxp_last_error()).value)


def handle(make, *arguments):
    made = ctypes.c_void_p()
    check(make(*arguments, ctypes.byref(made)))
    return made


domain = handle(lib.mxp_domain_create, b"Dom")
task = handle(lib.mxp_task_create, domain, b"request")


class Worker(threading.Thread):
    def __init__(self, number, half):
        super().__init__()
        self.random = random.Random(f"{seed} {number} {half}")
        self.name_here = f"worker {number}.{half}"
        self.number = number
        self.scopes = []
        self.spans = []     # (name, scope) in the order of their ends
        self.tokens = []
        truth["spans"][self.name_here] = self.spans

    def ended(self, name):
        self.spans.append((name, "/".join(self.scopes)))

    def act(self, depth):
        lib_name = self.random.choice(NAMES)
        what = self.random.randrange(10)
        if what < 3 and depth < 5:
            name = lib.mxp_intern(b"app", lib_name.encode(), STYLE_SPAN, 0)
            token = lib.mxp_begin(USER, name)
            for _ in range(self.random.randrange(4)):
                self.act(depth + 1)
            lib.mxp_end(name, token)
            self.ended(lib_name)
        elif what == 3:
            span = Span(name=lib.mxp_intern(b"app", b"emitted", STYLE_SPAN, 0), begin=lib.mxp_clock_read())
            span.end = lib.mxp_clock_read()
            lib.mxp_span_emit(USER, ctypes.byref(span))
            self.ended("emitted")
        elif what == 4 and len(self.scopes) < 3:
            self.scopes.append(self.random.choice("abc"))
            lib.mxp_scope_push(self.scopes[-1].encode())
            self.act(depth)
            lib.mxp_scope_pop()
            self.scopes.pop()
        elif what == 5:
            self.count()
        elif what == 6:
            lib.mxp_instant(USER, lib.mxp_intern(b"app", b"mark", STYLE_INSTANT, 0), 2)
            with guard:
                truth["instants"] += 1
        elif what == 7 and self.name_here == "worker 0.0" and depth == 0:
            truth["steps"].append(len(truth["steps"]))
            lib.mxp_step(truth["steps"][-1])
        elif what == 8:
            token = U64()
            check(lib.mxp_duration_start_token(task, ctypes.byref(token)))
            self.tokens.append(token)
        elif self.tokens:
            check(lib.mxp_duration_stop_token(task, self.tokens.pop(self.random.randrange(len(self.tokens)))))
            with guard:
                truth["tasks"].append("request")

    def count(self):
        kind = self.random.choice(["u64", "i64", "f64"])
        shared = self.random.random() < 0.5
        name = f"{kind} {'shared' if shared else self.name_here}"
        value = {"u64": self.random.randrange(2**50), "i64": self.random.randrange(-2**40, 2**40),
                 "f64": self.random.gauss(0, 1e3)}[kind]
        with guard:
            getattr(lib, f"mxp_counter_{kind}")(USER, lib.mxp_intern(b"app", name.encode(), STYLE_COUNTER, 0),
                                                value)
            truth["counters"].setdefault(name, []).append(value)

    def run(self):
        lib.mxp_thread_name(self.name_here.encode())
        for _ in range(self.random.randrange(100, 300)):
            self.act(0)
            if self.random.random() < 0.05:
                time.sleep(0.001)
        while self.tokens:
            check(lib.mxp_duration_stop_token(task, self.tokens.pop()))
            with guard:
                truth["tasks"].append("request")


def run_half(half):
    workers = [Worker(number, half) for number in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


pairs = dict(argument.split("=") for argument in sys.argv[3:])
array = ctypes.c_char_p * len(pairs)
check(lib.mxp_session_configure_pairs(session, len(pairs), array(*map(str.encode, pairs)),
                                      array(*map(str.encode, pairs.values()))))
check(lib.mxp_session_run(session))
run_half(0)
check(lib.mxp_session_pause(session, 1))
time.sleep(0.02)
name = lib.mxp_intern(b"app", b"while paused", STYLE_SPAN, 0)
lib.mxp_end(name, lib.mxp_begin(USER, name))
check(lib.mxp_session_pause(session, 0))
run_half(1)
check(lib.mxp_session_stop(session))
for number, ending in enumerate(("txt", "json", "csv")):
    text = ctypes.c_char_p()
    check(lib.mxp_session_dumps(session, number, 0, 0, 0, ctypes.byref(text)))
    with open(f"dumps.{ending}", "wb") as file:
        file.write(text.value)
check(lib.mxp_session_dump(session, 1))
with open("truth.json", "w", encoding="utf-8") as file:
    json.dump(truth, file)
