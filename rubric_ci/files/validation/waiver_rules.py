"""Rules of `waivers.yaml`: its shape, dates, and that each entry is in force."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any, Final, NamedTuple, TypeAlias

from rubric_ci.files.validation.schema import problems as schema_problems
from rubric_ci.files.yaml_text.document import Document
from rubric_ci.values.problems import Path, Problem, Rule

WAIVER_DATE: Final = Rule(
    id="waiver-date",
    meaning="`until` of a waiver is a date of the calendar.",
    hint="write a date such as 2026-12-31",
)
WAIVER_REPEATED: Final = Rule(
    id="waiver-repeated", meaning="Two waivers excuse the same criterion.", hint="keep one of them"
)
WAIVER_LIMIT: Final = Rule(
    id="waiver-limit",
    meaning="There are more waivers than `gate.max_waivers` allows, so the gate fails.",
    hint="fix some of the failures, or raise `gate.max_waivers`",
)
WAIVER_EXPIRED: Final = Rule(
    id="waiver-expired",
    severity="warning",
    meaning="The date of a waiver has passed, so it is not in force.",
    hint="fix the failure, or set a new `until`",
)
WAIVER_EDITED: Final = Rule(
    id="waiver-edited",
    severity="warning",
    meaning="The criterion or its question was edited after the waiver, which is not in force.",
    hint="review it and write the waiver again with `rubric-ci waive`",
)
WAIVER_UNMATCHED: Final = Rule(
    id="waiver-unmatched",
    severity="warning",
    meaning="No case, or several, and no criterion match the waiver, so it is not in force.",
    hint="fix `case`, `criterion` or `file`, or remove the waiver",
)
WAIVER_SAFETY: Final = Rule(
    id="waiver-safety",
    meaning="Cases and criteria with the tag `safety` cannot be waived.",
    hint="remove the waiver",
)
BY_STATE: Final[Mapping[str, Rule]] = {
    "expired": WAIVER_EXPIRED,
    "edited": WAIVER_EDITED,
    "unmatched": WAIVER_UNMATCHED,
    "safety": WAIVER_SAFETY,
}


class States(NamedTuple):
    """The state of each entry of a valid file, and the limit of the gate."""

    states: Sequence[str]  # of each entry
    max_waivers: int | None  # of the gate


FindStates: TypeAlias = Callable[[], States]


def waiver_problems(document: Document, find_states: FindStates | None = None) -> Iterator[Problem]:
    """Yield all problems; entries are compared with the cases only if the file is valid."""
    if not document.readable:
        return
    found = [*schema_problems("waivers", document)]
    found += [*_dates(document.data), *_repeated(document.data)] if not found else []
    yield from found
    if not found and find_states:
        yield from _not_in_force(document.data["waivers"], find_states())


def _dates(data: Any) -> Iterator[Problem]:
    for index, entry in enumerate(data["waivers"]):
        try:
            date.fromisoformat(entry["until"])
        except ValueError:
            path: Path = ("waivers", index, "until")
            yield Problem(WAIVER_DATE, path, f"`{entry['until']}` is not a date")


def _repeated(data: Any) -> Iterator[Problem]:
    seen: set[tuple[str, ...]] = set()
    for index, entry in enumerate(data["waivers"]):
        key = entry.get("file", ""), entry["case"], entry["criterion"]
        if key in seen:
            message = f"`{entry['case']}/{entry['criterion']}` is waived twice"
            yield Problem(WAIVER_REPEATED, ("waivers", index), message)
        seen.add(key)


def _not_in_force(entries: Sequence[Any], found: States) -> Iterator[Problem]:
    for index, (entry, state) in enumerate(zip(entries, found.states, strict=True)):
        if rule := BY_STATE.get(state):
            yield Problem(rule, ("waivers", index), _message(entry, state))
    from rubric_ci.values.gate import too_many_waivers  # few projects have waivers

    most = found.max_waivers
    if most is not None and (message := too_many_waivers(most, len(entries))):
        yield Problem(WAIVER_LIMIT, ("waivers", most), message)


def _message(entry: Any, state: str) -> str:
    name = f"`{entry['case']}/{entry['criterion']}`"
    match state:
        case "expired":
            return f"the waiver of {name} ended on {entry['until']}"
        case "edited":
            return f"the criterion {name} or its question was edited after it was waived"
        case "safety":
            return f"{name} has the tag `safety`"
        case _:
            return f"{name} is not exactly one criterion of the eval files"
