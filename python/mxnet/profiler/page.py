# SPDX-License-Identifier: Apache-2.0
"""The page of `mxprof view`: of what was recorded up to now, in a file and in a notebook."""
import html
import os
import pathlib
import tempfile
from typing import Any, List, Optional

from . import command
from .config import snapshot

_SHOWN_BYTES = 16_000_000  # of a page that a notebook keeps in its own file
_HEIGHT_PX = 900


class Page:
    """A page that was written: `path`, a name of a file. In a notebook it is shown below its cell."""

    def __init__(self, path: str, said: str) -> None:
        self.path = path
        self._said = said

    def __fspath__(self) -> str:
        return self.path

    def __repr__(self) -> str:
        return f"<page {self._said}>" if self._said else f"<page {self.path}>"

    def _repr_html_(self) -> str:
        """The page in a frame of its own, which can run its scripts and nothing else of the notebook's."""
        if os.path.getsize(self.path) > _SHOWN_BYTES:
            return (f"<p>{html.escape(self.path)} is too large for a notebook: open it in a browser, or make a "
                    "smaller one with size='8M'</p>")
        text = pathlib.Path(self.path).read_text(encoding="utf-8")
        return (f'<iframe sandbox="allow-scripts allow-downloads" style="width: 100%; height: {_HEIGHT_PX}px; border: 0" '
                f'srcdoc="{html.escape(text)}"></iframe>')


def _options(size: Any, other: Any, anonymous: bool, open_browser: bool) -> List[str]:
    chosen = [] if size is None else ["--size", str(size)]
    chosen += [] if other is None else ["--with", os.fspath(other)]
    return chosen + ["--anonymous"] * bool(anonymous) + ["--open"] * bool(open_browser)


def page_of(trace: Any, page: Any = None, *options: str) -> Page:
    """The page of a native trace."""
    name = os.fspath(trace)
    path = os.path.abspath(f"{os.path.splitext(name)[0]}.html" if page is None else os.fspath(page))
    said = command.run("view", *options, "-o", path, "--", name)
    return Page(path, said.strip())


def view(page: Any = "profile.html", *, trace: Optional[Any] = None, size: Any = None, other: Optional[Any] = None,
         anonymous: bool = False, open_browser: bool = False) -> Page:
    """Writes one HTML file that shows a profile in a browser, without network or server: `mxprof view`.

    Parameters
    ----------
    page : str or path
        The file; it is replaced.
    trace : str or path, optional
        A native trace. Without one the page is of what is held now: call it before dump(), which hands that over
        to its files. Recording continues.
    size : int or str, optional
        Bytes at most, as '8M'; 'none' for every span, however large.
    other : str or path, optional
        A native trace before a change, to compare with.
    anonymous : bool
        Without host, command and paths.
    open_browser : bool
        Opens it.

    Returns
    -------
    Page
        With `path`. A notebook shows it.

    Raises
    ------
    MXNetError
        If nothing can be written or read, or there is no mxprof command.
    """
    options = _options(size, other, anonymous, open_browser)
    if trace is not None:
        return page_of(trace, page, *options)
    with tempfile.TemporaryDirectory(prefix="mxprof-") as folder:
        taken = os.path.join(folder, "profile.mxp")
        snapshot(taken)
        return page_of(taken, page, *options)
