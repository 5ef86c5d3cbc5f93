#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a copy of an SQLite database as a Python program would that has the rows: executemany for each
table, one transaction, no journal, no syncing, indexes last. Prints rows and the seconds of CPU time that
the writing took; the reading before is not counted.

Usage: executemany.py FROM TO"""
import json
import os
import sqlite3
import sys
import time


def made_of(source, kind):
    return dict(source.execute("select name, sql from sqlite_master where type = ? order by rowid", (kind,)))


def main(read, written):
    source = sqlite3.connect(read)
    tables = made_of(source, "table")
    rows = {name: source.execute(f"select * from {name}").fetchall() for name in tables}
    last = [*made_of(source, "view").values(), *made_of(source, "index").values()]
    if os.path.exists(written):
        os.remove(written)
    begin = time.process_time()
    copy = sqlite3.connect(written, isolation_level=None)
    copy.executescript("pragma journal_mode=off; pragma synchronous=off; begin")
    for name, sql in tables.items():
        copy.execute(sql)
        if rows[name]:
            places = ",".join("?" * len(rows[name][0]))
            copy.executemany(f"insert into {name} values({places})", rows[name])
    for sql in last:
        copy.execute(sql)
    copy.execute("commit")
    copy.close()
    print(json.dumps({"rows": sum(map(len, rows.values())), "cpu_s": time.process_time() - begin}))


if __name__ == "__main__":
    main(*sys.argv[1:])
