"""The decorator of values: `dataclasses.dataclass`, whose methods are generated when first called.

A run loads 300 value classes and creates instances of 90. With all methods generated at import a
run of one cached case took 1.2 times the processor time.
NOTE: mypy keeps frozen values from being changed, and Python does not: an instance that is frozen
at run time takes more than twice as long to create.
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
        # NOTE: a class without a docstring gets one, from a signature that takes long.
        cls.__doc__ = cls.__doc__ or cls.__name__
        kw_only = options.pop("kw_only", False)
        if options != {"frozen": True, "slots": True}:
            return dataclasses.dataclass(cls, kw_only=kw_only, **options)
        made = dataclasses.dataclass(
            cls, slots=True, kw_only=kw_only, init=False, repr=False, eq=False
        )
        for name in _PARTS:
            setattr(made, name, _first_call(made, name))
        return made

    _PARTS = {"__init__": "init", "__repr__": "repr", "__eq__": "eq", "__hash__": "unsafe_hash"}
    _KEPT = {"__doc__", "__post_init__"}

    def _first_call(made, name):
        """Return a method that takes its place from the standard library when it is called."""

        def method(self, *args, **kwargs):
            parts = {"init": False, "repr": False, "eq": False} | {_PARTS[name]: True}
            fields = [(each.name, each.type, each) for each in dataclasses.fields(made)]
            # A docstring is not made from the signature, as above; a check is called as well.
            kept = {key: of for key, of in vars(made).items() if key in _KEPT}
            twin = dataclasses.make_dataclass(made.__name__, fields, namespace=kept, **parts)
            setattr(made, name, vars(twin)[name])
            return getattr(made, name)(self, *args, **kwargs)

        return method
