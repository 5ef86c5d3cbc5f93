# SPDX-License-Identifier: Apache-2.0
"""python -m mxprof: which mxnet a program imports, and how it imports ours. Exit code 1 where it is another one."""
import pathlib
import sys

from . import imported_folder, runtime_folder


def main() -> int:
    ours = runtime_folder()
    imported = imported_folder()
    if imported == str(pathlib.Path(ours) / "mxnet"):
        print(f"import mxnet: that of mxprof, {imported}")
        return 0
    print(f"import mxnet: {'nothing' if imported is None else 'that of another distribution, ' + imported}")
    print(f"with PYTHONPATH={ours} it is that of mxprof")
    return 1


sys.exit(main())
