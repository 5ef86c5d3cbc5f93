# SPDX-License-Identifier: Apache-2.0
"""Where the parts of the distribution `mxprof` are. The package that programs import is `mxnet`. It is installed in a
folder of its own, `mxprof/runtime`, which Python looks into after all others: an `mxnet` of another distribution, Apache's
for instance, stays as it is and is the one that is imported. `python -m mxprof` tells which one that is."""
import importlib.util
import pathlib
from typing import Optional

_HERE = pathlib.Path(__file__).resolve().parent


def runtime_folder() -> str:
    """The folder that holds our `mxnet`. First in PYTHONPATH, it makes `import mxnet` mean ours."""
    installed = _HERE / "runtime"
    return str(installed if installed.is_dir() else _HERE.parent)


def imported_folder() -> Optional[str]:
    """The folder of the package that `import mxnet` gives, None if there is none. It is not imported."""
    spec = importlib.util.find_spec("mxnet")
    folders = list(spec.submodule_search_locations or ()) if spec is not None else []
    return str(pathlib.Path(folders[0]).resolve()) if folders else None
