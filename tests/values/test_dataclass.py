"""The decorator of values behaves as the one of the standard library, and generates later."""

import copy
import dataclasses
import pickle
from collections.abc import Callable
from typing import Any, ClassVar, Generic, TypeVar

import pytest

from rubric_ci.values import dataclass as lazy

T = TypeVar("T")


@lazy.dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A point."""

    kind: ClassVar[str] = "point"
    x: int
    y: int = 0
    notes: list[str] = dataclasses.field(default_factory=list, repr=False, compare=False)


@lazy.dataclass(frozen=True, slots=True, kw_only=True)
class Named(Point, Generic[T]):
    """A point with a name."""

    name: "T"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class StandardPoint:
    """As `Point`."""

    kind: ClassVar[str] = "point"
    x: int
    y: int = 0
    notes: list[str] = dataclasses.field(default_factory=list, repr=False, compare=False)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class StandardNamed(StandardPoint, Generic[T]):
    """As `Named`."""

    name: "T"


@lazy.dataclass(frozen=True, slots=True)
class Text:
    """Takes its value by position."""

    text: str


def attempt(do: Callable[[], object]) -> str:
    try:
        return str(do())
    except (TypeError, AttributeError) as error:
        return f"{type(error).__name__}: {error}"


USES: dict[str, Callable[[Any, Any], object]] = {
    "create": lambda kind, _: kind(x=1, name="a").notes,
    "too few": lambda kind, _: kind(x=1),
    "unknown": lambda kind, _: kind(x=1, name="a", z=1),
    "by position": lambda kind, _: kind(1),
    "repr": lambda _, one: repr(one),
    "equal": lambda kind, one: one == kind(x=1, name="a", notes=["not compared"]),
    "different": lambda kind, one: one == kind(x=2, name="a"),
    "another class": lambda _, one: one == (1, 0, "a"),
    "hash": lambda kind, one: {one: 1}[kind(x=1, name="a")],
    "replace": lambda _, one: dataclasses.replace(one, y=3),
    "dict": lambda _, one: dataclasses.asdict(one),
    "fields": lambda kind, _: [each.name for each in dataclasses.fields(kind)],
    "slots": lambda kind, one: (kind.__slots__, hasattr(one, "__dict__")),
    "pickle": lambda _, one: pickle.loads(pickle.dumps(one)),
    "copy": lambda _, one: copy.deepcopy(one),
    "match": lambda kind, _: kind.__match_args__,
    "of the class": lambda kind, one: (kind.kind, one.kind),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_it_behaves_as_the_standard_library(use: Callable[[Any, Any], object]) -> None:
    expected = attempt(lambda: use(StandardNamed, StandardNamed(x=1, name="a")))
    found = attempt(lambda: use(Named, Named(x=1, name="a")))
    assert found == expected.replace("Standard", "")


def test_methods_are_generated_when_they_are_called_first() -> None:
    @lazy.dataclass(frozen=True, slots=True, kw_only=True)
    class Pair:
        """Two numbers."""

        a: int
        b: int

    before = vars(Pair)["__init__"], vars(Pair)["__eq__"]
    pair = Pair(a=1, b=2)
    assert (vars(Pair)["__init__"] is before[0], vars(Pair)["__eq__"] is before[1]) == (False, True)
    assert pair == Pair(a=1, b=2)
    assert vars(Pair)["__eq__"] is not before[1]


def test_values_by_position() -> None:
    match Text("a"):
        case Text(text):
            assert text == "a"


def test_a_class_that_can_change_is_the_standard_librarys() -> None:
    @lazy.dataclass(slots=True)
    class Counter:
        """A number."""

        count: int = 0

    counter = Counter()
    counter.count += 1
    assert repr(counter).endswith("Counter(count=1)")


@lazy.dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """Refuses a value when it is made."""

    x: int

    def __post_init__(self) -> None:
        if self.x < 0:
            raise ValueError(self.x)


def test_a_check_is_called_by_the_first_and_by_every_other_init() -> None:
    for value in (-1, -2):
        with pytest.raises(ValueError, match=str(value)):
            Checked(x=value)
