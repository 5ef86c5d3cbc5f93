# SPDX-License-Identifier: Apache-2.0
"""Functions of every kind that call, wait, raise and end. "count FILE": cProfile counts them; else the argument names
what else to do. Runs on every Python from 3.8 on."""
import asyncio
import json
import math
import os
import sys
import threading


class Kind:
    def method(self, depth):
        return depth if depth == 0 else self.method(depth - 1)

    @staticmethod
    def fixed():
        return "x".swapcase()

    def __getattr__(self, name):
        raise AttributeError(name)


def numbers(count):
    for number in range(count):
        yield number


def delegating(count):
    yield from numbers(count)


def thrown_into():
    try:
        yield 1
    except KeyError:
        yield 2


def raises(depth):
    if depth == 0:
        raise ValueError("at the bottom")
    raises(depth - 1)


async def waits():
    await asyncio.sleep(0)
    return math.hypot(3, 4)


async def waits_for_all():
    return sum(await asyncio.gather(*[waits() for _ in range(5)]))


def endless(depth):
    return endless(depth + 1)


def generators():
    first = numbers(10)
    next(first)
    first.close()
    second = thrown_into()
    next(second)
    second.throw(KeyError("thrown"))
    return sum(delegating(7)) + sum(number for number in range(6))


def errors():
    for depth in (5, 2):
        try:
            raises(depth)
        except ValueError:
            pass
    hasattr(Kind(), "nothing")
    try:
        endless(0)
    except RecursionError:
        pass
    try:
        math.sqrt(-1)
    except ValueError:
        pass


def work():
    Kind().method(4)
    Kind.fixed()
    generators()
    errors()
    return sorted([3, 1, 2], key=lambda number: -number)


def main():
    work()
    loop = asyncio.new_event_loop()
    loop.run_until_complete(waits_for_all())
    loop.close()


def count(file):
    import cProfile
    import pstats
    profile = cProfile.Profile()
    profile.runcall(main)
    rows = {f"{name}:{line}" if os.path.basename(path) == os.path.basename(__file__) else name: row[1]
            for (path, line, name), row in pstats.Stats(profile).stats.items()}
    with open(file, "w") as out:
        json.dump(rows, out)


def in_thread():
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def profiles_itself():
    import cProfile
    profile = cProfile.Profile()
    profile.runcall(work)
    assert any(name == "work" for _, _, name in (entry.code.co_filename and ("", "", entry.code.co_name)
               for entry in profile.getstats() if not isinstance(entry.code, str)))
    in_thread()


def in_child():
    if os.fork() == 0:
        work()
        os._exit(0)
    os.wait()


WAY = sys.argv[1] if len(sys.argv) > 1 else ""
if WAY == "count":
    count(sys.argv[2])
elif WAY == "thread":
    in_thread()
elif WAY == "own":
    profiles_itself()
elif WAY == "child":
    in_child()
elif WAY == "exit":
    sys.exit(main() or 3)
else:
    main()
print("done")
