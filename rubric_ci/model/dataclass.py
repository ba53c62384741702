"""The decorator of values: `dataclasses.dataclass`, whose methods are generated when first called.

A run loads 250 value classes and creates instances of 80. To generate all methods at import took
half of its start-up.
"""

from typing import TYPE_CHECKING

__all__ = ("dataclass",)

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    import dataclasses
    from functools import partial

    def dataclass(cls=None, /, **options):
        """Return the class as the standard library's decorator does; lazy if frozen with slots."""
        if cls is None:
            return partial(dataclass, **options)
        kw_only = options.pop("kw_only", False)
        if options != {"frozen": True, "slots": True}:
            return dataclasses.dataclass(cls, kw_only=kw_only, **options)
        made = dataclasses.dataclass(
            cls, slots=True, kw_only=kw_only, init=False, repr=False, eq=False
        )
        for name in _GENERATED:
            setattr(made, name, _first_call(made, name))
        made.__setattr__, made.__delattr__ = _refuse_to_assign, _refuse_to_delete
        made.__getstate__, made.__setstate__ = _state, _restore
        return made

    _GENERATED = frozenset(("__init__", "__repr__", "__eq__", "__hash__"))

    def _first_call(made, name):
        """Return a method that takes its place from the standard library when it is called."""

        def method(self, *args, **kwargs):
            parts = {"init": False, "repr": False, "eq": False} | {_PARTS[name]: True}
            written = [(each.name, each.type, each) for each in dataclasses.fields(made)]
            twin = vars(dataclasses.make_dataclass(made.__name__, written, frozen=True, **parts))
            for each in _GENERATED & twin.keys():
                setattr(made, each, twin[each])
            return getattr(made, name)(self, *args, **kwargs)

        return method

    _PARTS = {"__init__": "init", "__repr__": "repr", "__eq__": "eq", "__hash__": "eq"}

    def _refuse_to_assign(_self, name, _value):
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")

    def _refuse_to_delete(_self, name):
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")

    def _state(self):
        return [getattr(self, each.name) for each in dataclasses.fields(self)]

    def _restore(self, state):
        for each, value in zip(dataclasses.fields(self), state, strict=True):
            object.__setattr__(self, each.name, value)
