# SPDX-License-Identifier: Apache-2.0
"""What a program of this folder recorded: its file, read by the command and by a JSON parser."""
import json
import os
import pathlib
import re
import subprocess

BUILD = pathlib.Path(os.environ["MXPROF_BUILD"]).resolve()
COLLECTOR = BUILD / "libmxprof_collect.so"


def mxprof(*arguments):
    return subprocess.run([BUILD / "mxprof", *arguments], capture_output=True, text=True, timeout=60, check=True).stdout


def compiled(source, program, *options):
    subprocess.run(["cc", "-O1", "-Wall", "-Wextra", "-Werror", "-std=gnu11", *options, source, "-o", program, "-ldl",
                    "-pthread"], check=True)
    return program


class Recorded:
    """One run in `folder`, by the variable through which the program finds the collector; settings are more of them."""

    def __init__(self, arguments, variable, folder, prints="", **settings):
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("MXPROF_", "MXNET_"))}
        environment.update({"MXPROF_RUN": str(folder), variable: str(COLLECTOR), **settings})
        result = subprocess.run(arguments, env=environment, cwd=folder, capture_output=True, text=True, timeout=60,
                                check=False)
        assert (result.returncode, result.stdout, result.stderr) == (0, prints, "")
        self.file, = folder.iterdir()
        self.events = json.loads(mxprof("convert", self.file, "-o", "-"))["traceEvents"]
        self.info = mxprof("info", self.file)
        self.threads = {event["args"]["name"] for event in self.events
                        if event["ph"] == "M" and event["name"] == "thread_name"}

    def foreign(self):
        """How many marks fitted nothing; there are no other losses."""
        found = re.findall(r"^ +(\d+)  thread \d+: marks of other tools that fit nothing", self.info, re.MULTILINE)
        total = re.search(r"^lost +(nothing|\d+)", self.info, re.MULTILINE)[1]
        assert sum(map(int, found)) == (0 if total == "nothing" else int(total))
        return sum(map(int, found))

    def counts(self):
        """How many spans there are of each (category, name), of whichever form."""
        found = {}
        for event in self.events:
            if event["ph"] in "BXb":
                key = event["cat"], event["name"]
                found[key] = found.get(key, 0) + 1
        return found

    def only(self, name, phases="BXb"):
        found, = (event for event in self.events if event["name"] == name and event["ph"] in phases)
        return found
