# SPDX-License-Identifier: Apache-2.0
"""What a program marks itself: domains with tasks, frames, counters and markers; events."""
import ctypes
import functools
from typing import Any, Callable, Optional, cast

from ..base import _LIB, ProfileHandle, c_str, check_call, core


def _create(function: Any, *arguments: Any) -> int:
    handle = ProfileHandle()
    check_call(function(*arguments, ctypes.byref(handle)))
    return handle.value or 0


class Domain:
    """A group of objects, the category of their records. Domains of one name are one; they live as
    long as the process. MXNetError for an empty name."""

    __slots__ = ("name", "handle")

    def __init__(self, name: str):
        self.name = name
        self.handle = ProfileHandle()
        check_call(_LIB.MXProfileCreateDomain(c_str(name), ctypes.byref(self.handle)))

    def __str__(self) -> str:
        return self.name

    def new_task(self, name: str) -> "Task":
        """A task of this domain."""
        return Task(self, name)

    def new_frame(self, name: str) -> "Frame":
        """A frame of this domain."""
        return Frame(self, name)

    def new_counter(self, name: str, value: Optional[int] = None) -> "Counter":
        """A counter of this domain, set at once if a value is given."""
        return Counter(self, name, value)

    def new_marker(self, name: str) -> "Marker":
        """A marker of this domain."""
        return Marker(self, name)


def _domain_handle(domain: Any) -> Optional[ProfileHandle]:
    if domain is not None and not isinstance(domain, Domain):
        raise TypeError(f"domain must be a profiler.Domain, not {type(domain).__name__}")
    return domain.handle if domain is not None else None


class _Shown:
    """What tasks, frames, events and counters share."""

    __slots__ = ()
    name: str

    @property
    def handle(self) -> ProfileHandle:
        """The handle for calls of the C interface; it stays this object's."""
        return ProfileHandle(self._address)

    def __str__(self) -> str:
        return self.name


class _Decorator:
    """What can be used with `with` can decorate a function."""

    __slots__ = ()

    def __call__(self, function: Callable) -> Callable:
        """Decorates a function: a span for each of its calls."""
        @functools.wraps(function)
        def spanned(*arguments: Any, **keywords: Any) -> Any:
            with cast(Any, self):
                return function(*arguments, **keywords)

        return spanned


class _Duration(_Shown, _Decorator, core.Duration):
    """start() and stop(), `with` and decorator; any number of times, on any thread, nested too.
    The span is recorded when it ends."""

    __slots__ = ("name",)


class Task(_Duration):
    """Work of the program, of a domain: what a viewer shows as spans that may overlap."""

    __slots__ = ()

    def __init__(self, domain: Domain, name: str):
        self.name = name
        self._address = _create(_LIB.MXProfileCreateTask, _domain_handle(domain), c_str(name))


class Frame(_Duration):
    """A task whose passes are numbered, like the pictures of a film."""

    __slots__ = ()

    def __init__(self, domain: Domain, name: str):
        self.name = name
        self._address = _create(_LIB.MXProfileCreateFrame, _domain_handle(domain), c_str(name))


class Event(_Duration):
    """A span of one thread, without a domain; nests with the others of the thread."""

    __slots__ = ()

    def __init__(self, name: str):
        self.name = name
        self._address = _create(_LIB.MXProfileCreateEvent, c_str(name))


class Span(_Decorator, core.Span):
    """Span(name, category='python'): start() and stop(), `with` and decorator; on any thread, nested
    too, and around itself. The cheapest way to mark a stretch of a program: no handle, no domain, and
    it nests with everything else of its thread."""

    __slots__ = ("name", "category")

    def __init__(self, name: str, category: str = "python"):
        self.name = name
        self.category = category
        self._identify(category, name)


class Counter(_Shown, core.Counter):
    """A value of 0 to 2**64 - 1, recorded whenever it changes; also with += and -=. What is no whole
    number is cut to one, as the original does: 1.9 sets 1."""

    __slots__ = ("name",)

    def __init__(self, domain: Domain, name: str, value: Optional[int] = None):
        self.name = name
        self._address = _create(_LIB.MXProfileCreateCounter, _domain_handle(domain), c_str(name))
        if value is not None:
            self.set_value(value)


class Marker:
    """A point in time."""

    __slots__ = ("domain", "name")

    def __init__(self, domain: Domain, name: str):
        _domain_handle(domain)
        self.domain = domain
        self.name = name

    def mark(self, scope: str = "process") -> None:
        """Records now. `scope`: 'global', 'process', 'thread', 'task' or 'marker'; MXNetError for
        another."""
        check_call(_LIB.MXProfileSetMarker(_domain_handle(self.domain), c_str(self.name),
                                           c_str(scope)))
