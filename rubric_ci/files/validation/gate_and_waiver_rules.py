"""Rules of the gate (pass rates at the present number of cases) and of `waivers.yaml`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from rubric_ci.files.validation.config_summary import Prompt
from rubric_ci.files.validation.schema import problems as schema_problems
from rubric_ci.files.yaml_text.document import Document
from rubric_ci.text.suggestions import suggest
from rubric_ci.values.problems import GOOD_FILE, Path, Problem, Rule, list_at, mapping_at, mappings


class CaseName(NamedTuple):
    """A case of an eval file; the target is empty where the file names none."""

    file: str
    id: str
    target: str = ""


class Sizes(NamedTuple):
    """The number of cases of the eval files of a configuration, their names, and how to read."""

    cases: int
    by_tag: Mapping[str, int]
    names: tuple[CaseName, ...] = ()
    read: Callable[[str], bytes | None] | None = None  # a file of the repository, by its name
    variables: frozenset[str] = frozenset()  # of all cases
    prompts: Callable[[], Mapping[str, Prompt]] = dict  # of the targets of the file, by their name


FindSizes: TypeAlias = Callable[[], Sizes]

PASS_RATE_SIZE: Final = Rule(
    id="pass-rate-size",
    severity="warning",
    switchable=True,
    meaning=(
        "At the present number of cases the pass rate tolerates no failure, so it is no more "
        "lenient than a gate without it."
    ),
    hint="lower the rate, add cases, or set it to 1 to say so",
)
GROUP_WITHOUT_CASES: Final = Rule(
    id="group-without-cases",
    severity="warning",
    switchable=True,
    meaning=(
        "No case has a tag that the gate names: the pass rate of a group checks nothing, or the "
        "gate is about other cases than it says."
    ),
    hint="set the tag on cases, or remove it from the gate",
)
GATE_WITHOUT_CASES: Final = Rule(
    id="gate-without-cases",
    meaning="No case has one of the tags in `gate.tags`, so that no case decides.",
    hint="set the tag on the cases that decide, or remove `tags` from the gate",
)
UNUSED_PASS_RATE: Final = Rule(
    id="unused-pass-rate",
    severity="warning",
    switchable=True,
    meaning="With `fail_on: never`, pass rates are not checked.",
    hint="set another `fail_on`, or remove the pass rates",
    bad="gate: {fail_on: never, min_pass_rate: 0.9}\n",
    good="gate: {fail_on: fail, min_pass_rate: 0.9}\n",
)
TRIALS_PASS: Final = Rule(
    id="trials-pass",
    meaning="More trials must pass than there are.",
    hint="set `pass` to at most `count`",
    bad=GOOD_FILE.replace("evalcases", "trials: {count: 3, pass: 4}\nevalcases"),
    good=GOOD_FILE.replace("evalcases", "trials: {count: 5, pass: 4}\nevalcases"),
)


def pass_rate_problems(data: Any, sizes: FindSizes | None = None) -> Iterator[Problem]:
    """Yield pass rates that are not used, tolerate no failure, or have no case."""
    gate = mapping_at(data, "gate")
    for path, tag, rate in _rates(gate):
        if gate.get("fail_on") == "never":
            message = "`fail_on: never` does not check the pass rate"
            yield Problem(UNUSED_PASS_RATE, path, message)
        elif sizes and tag != "*":
            size = sizes().by_tag.get(tag, 0) if tag else sizes().cases
            yield from _rate_problems(path, tag, rate, size)


def tag_problems(data: Any, sizes: FindSizes) -> Iterator[Problem]:
    """Yield tags of the gate that no case has: it would be about other cases than it says."""
    for key in ("tags", "not_tags"):
        written = list_at(mapping_at(data, "gate"), key)
        for index, tag in enumerate(written):
            if isinstance(tag, str) and tag not in (known := sizes().by_tag):
                hint = suggest(tag, known)
                message = f"no case has the tag `{tag}`"
                none = key == "tags" and not {each for each in written if each in known}
                rule = GATE_WITHOUT_CASES if none else GROUP_WITHOUT_CASES
                yield Problem(rule, ("gate", key, index), message, hint)


def trial_problems(data: Any) -> Iterator[Problem]:
    """Yield trials of which more must pass than there are."""
    for path, owner in [((), data), *mappings(data, "evalcases")]:
        trials = mapping_at(owner, "trials")
        count, needed = trials.get("count"), trials.get("pass")
        if isinstance(count, int) and isinstance(needed, int) and needed > count >= 1:
            message = f"{needed} of {count} trials cannot pass"
            yield Problem(TRIALS_PASS, (*path, "trials", "pass"), message)


def _rates(gate: dict[str, Any]) -> Iterator[tuple[Path, str, float]]:
    """Yield the path, the tag and the value of each rate of the right type."""
    groups = mapping_at(gate, "groups").items()
    owners: list[tuple[str, Any, Path]] = [("", gate, ("gate",))]
    owners += [(tag, group, ("gate", "groups", tag)) for tag, group in groups]
    for tag, owner, path in owners:
        rate = owner.get("min_pass_rate") if isinstance(owner, dict) else None
        if isinstance(rate, int | float) and not isinstance(rate, bool) and 0 <= rate <= 1:
            yield (*path, "min_pass_rate"), tag, rate


def _rate_problems(path: Path, tag: str, rate: float, size: int) -> Iterator[Problem]:
    from rubric_ci.values.gate import required_passes  # few configurations have a rate

    if tag and not size:
        yield Problem(GROUP_WITHOUT_CASES, path[:-1], f"no case has the tag `{tag}`")
    elif size and rate < 1 and required_passes(rate, size) == size:
        cases = "the only case" if size == 1 else f"{size:,} cases"
        of = f" with the tag `{tag}`" if tag else ""
        yield Problem(PASS_RATE_SIZE, path, f"of {cases}{of} at {rate} none may fail")


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
    found = found or list(_dates_and_repeated(document.data["waivers"]))
    yield from found
    if not found and find_states:
        yield from _not_in_force(document.data["waivers"], find_states())


def _dates_and_repeated(entries: Sequence[Any]) -> Iterator[Problem]:
    from datetime import date  # few projects have waivers

    seen: set[tuple[str, ...]] = set()
    for index, entry in enumerate(entries):
        try:
            date.fromisoformat(entry["until"])
        except ValueError:
            path: Path = ("waivers", index, "until")
            yield Problem(WAIVER_DATE, path, f"`{entry['until']}` is not a date")
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
