# SPDX-License-Identifier: Apache-2.0
"""The queries of docs/sqlite.md, and what stands below each."""
import os
import pathlib
import re
import sqlite3
import subprocess

import pytest

SOURCE = pathlib.Path(os.environ.get("MXPROF_SOURCE", pathlib.Path(__file__).parents[2])).resolve()
BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", "build/release")).resolve()
SECTION = (SOURCE / "docs/sqlite.md").read_text().split("## Queries to begin with")[1]
QUERIES = re.findall(r"^```sql\n(.*?)^```\n```\n(.*?)^```", SECTION, re.MULTILINE | re.DOTALL)


def database_of(trace, folder):
    result = subprocess.run([BUILD / "mxprof", "convert", trace, "-o", folder / "page.sqlite"],
                            capture_output=True, text=True, timeout=60, check=False)
    if "was built without SQLite" in result.stderr:
        pytest.skip("the command is built without SQLite")
    assert result.returncode == 0, result.stderr
    return sqlite3.connect(folder / "page.sqlite")


def ask(database, number):
    """The rows of the query, as dictionaries; its columns are those that the page shows."""
    sql, shown = QUERIES[number]
    cursor = database.execute(sql)
    columns = [column[0] for column in cursor.description]
    assert columns == shown.splitlines()[0].split()
    return [dict(zip(columns, row)) for row in cursor]


def shown_rows(number):
    return len(QUERIES[number][1].splitlines()) - 2
