"""Check that the data of an event fits the TypedDict of the event's type."""

from __future__ import annotations

from types import NoneType, UnionType
from typing import Any, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from events.data_types import DATA_TYPES
from events.models import Event
from events.recording import FOR_OPERATORS


def checked_event(**fields: Any) -> Event:
    """Build an event. Raise AssertionError if its data does not fit its type."""
    event = Event(**fields)
    if event.type in DATA_TYPES:
        data = {name: value for name, value in event.data.items() if name not in FOR_OPERATORS}
        assert not (found := misfits(data, DATA_TYPES[event.type], event.type)), found
    return event


def misfits(value: Any, hint: Any, path: str) -> list[str]:
    """Return a sentence for each value below `path` that does not fit the type hint."""
    origin, args = get_origin(hint), get_args(hint)
    if is_typeddict(hint):
        return _misfits_of_object(value, hint, path)
    if origin is NotRequired:
        return misfits(value, args[0], path)
    if origin in (Union, UnionType):
        return [] if any(not misfits(value, arg, path) for arg in args) else [f"{path} is {value!r}"]
    if origin is list and isinstance(value, list | tuple):
        return [said for item in value for said in misfits(item, args[0], f"{path}[]")]
    if origin is dict and isinstance(value, dict):
        return [said for name, item in value.items() for said in misfits(item, args[1], f"{path}.{name}")]
    plain = NoneType if hint is None else hint
    is_flag = hint is int and isinstance(value, bool)  # in Python, a bool is an int too
    fits = hint is Any or (isinstance(plain, type) and isinstance(value, plain) and not is_flag)
    return [] if fits else [f"{path} is {value!r}, not {hint}"]


def _misfits_of_object(value: Any, hint: Any, path: str) -> list[str]:
    if not isinstance(value, dict):
        return [f"{path} is {value!r}, not an object"]
    hints = get_type_hints(hint, include_extras=True)
    required = {name for name, of in hints.items() if get_origin(of) is not NotRequired}
    said = [f"{path}.{name} is missing" for name in sorted(required - value.keys())]
    said += [f"{path}.{name} is not described" for name in value if name not in hints]
    for name, of in hints.items():
        if name in value:
            said += misfits(value[name], of, f"{path}.{name}")
    return said
