"""Read `waivers.yaml` of one state of the repository, and which of its entries are in force."""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

from rubric_ci.errors import InvalidInput
from rubric_ci.files.project.file_kinds import RepositoryFiles
from rubric_ci.files.project.project import Project
from rubric_ci.files.validation.gate_and_waiver_rules import States
from rubric_ci.files.validation.validator import check_waivers
from rubric_ci.files.yaml_text.document import Document
from rubric_ci.files.yaml_text.source import decode
from rubric_ci.values.evals import CompositeSpec, EvalCase, EvaluatorSpec, RubricSpec
from rubric_ci.values.formats_and_defaults import WAIVERS
from rubric_ci.values.question import question
from rubric_ci.values.rubric import Criterion
from rubric_ci.values.waivers import SAFETY, Waiver, WaiverResult, WaiverState
from rubric_ci.values.walk import canonical, facts
from rubric_ci.values.written_keys import read_keys


def load_waivers(files: RepositoryFiles) -> tuple[Waiver, ...]:
    """Return the entries of `waivers.yaml`, none without the file; raises InvalidInput."""
    data = files.read(WAIVERS)
    if data is None:
        return ()
    text = decode(data)
    document = Document(WAIVERS, text) if isinstance(text, str) else None
    found = check_waivers(document) if document else ()
    if document is None or found:
        place = f"{WAIVERS}:{found[0].span.line}: {found[0].message}" if found else WAIVERS
        raise InvalidInput(f"{WAIVERS} has problems: {place}", "run `rubric-ci validate`")
    return read_waivers(document)


def read_waivers(document: Document) -> tuple[Waiver, ...]:
    return tuple(
        read_keys(Waiver, entry, line=document.locate(("waivers", index))[0])
        for index, entry in enumerate(document.data["waivers"])
    )


def in_force(project: Project, tool: str = "") -> tuple[Waiver, ...]:
    """Return the waivers of the policy that the checkout still has, with its lines.

    Waivers of a tool's adopted results are apart from waivers of eval files. A change may remove or
    shorten a waiver at once; a new one and a later date count after the merge.
    """
    found = (waiver for waiver in load_waivers(project.files) if waiver.tool == tool)
    own = {waiver.key: waiver for waiver in found}
    if project.policy_files is project.files:
        return tuple(own.values())
    return tuple(
        replace(own[each.key], until=min(own[each.key].until, each.until))
        for each in load_waivers(project.policy_files)
        if each.key in own
    )


class Match(NamedTuple):
    """The state of a waiver; `not-run` means that it is in force."""

    state: WaiverState
    case: EvalCase | None = None
    criterion: Criterion | None = None


def match_all(
    project: Project, waivers: Sequence[Waiver], cases: Iterable[EvalCase], today: date
) -> tuple[tuple[Waiver, Match], ...]:
    """Return each waiver with its case, its criterion and its state on a day.

    Which targets answer may differ from run to run: a waiver of `case [target]`, or of `case` in a
    run with several targets, may be of another run.
    """
    every = tuple(cases)
    several = len(project.targets) > 1

    def match(waiver: Waiver) -> Match:
        found = match_waiver(waiver, every, today)
        if found.case:
            return found
        others = answered_by(waiver.case, every, targets_of(project))
        alone = answered_alone(waiver.case, every) if several else ()
        return match_waiver(waiver, (*others, *alone), today)

    return tuple((waiver, match(waiver)) for waiver in waivers)


def targets_of(project: Project) -> Callable[[str], Container[str]]:
    """Return a lookup of the names of the targets that serve an eval file."""
    return lambda file: project.policy_for(file).targets


def waivers_of(
    project: Project,
    cases: Iterable[EvalCase],
    today: date,
    *,
    complete: bool = True,
    tool: str = "",
) -> tuple[WaiverResult, ...]:
    """Return the waivers of a project's policy for these cases, which a tool may have.

    Unless all eval files are loaded (`complete`), one without a case is not reported.
    """
    matches = match_all(project, in_force(project, tool), cases, today)
    return tuple(
        WaiverResult(
            state="not-run" if match.case is None and not complete else match.state,
            case=waiver.case,
            criterion=waiver.criterion,
            file=match.case.file if match.case else "",
            line=waiver.line,
            reason=waiver.reason,
            owner=waiver.owner,
            until=waiver.until,
        )
        for waiver, match in matches
    )


def find_states(
    document: Document, project: Project, evals: Callable[[], Iterable[Path]], today: date
) -> States:
    """Return the state of each entry, given the cases of the eval files of the configuration.

    Whether a tool's results have a case is known when they are adopted.
    """
    loaded = (project.load(project.name_of(path)) for path in evals())
    files = (each.eval_file for each in loaded if each and each.eval_file)
    cases = [case for file in files for case in file.cases]
    matches = match_all(project, read_waivers(document), cases, today)
    config = project.own_config.config
    return States(
        states=["not-run" if waiver.tool else match.state for waiver, match in matches],
        max_waivers=config.gate.max_waivers if config else None,
    )


def match_waiver(waiver: Waiver, cases: Iterable[EvalCase], today: date) -> Match:
    """Return the case and the criterion of a waiver, and whether it is in force on a day."""
    named = [
        case
        for case in cases
        if case.id == waiver.case and (not waiver.file or case.file == waiver.file)
    ]
    case = named[0] if len(named) == 1 else None
    criterion = dict(criteria_of(case)).get(waiver.criterion) if case else None
    if case is None or criterion is None:
        return Match("unmatched", case)
    if SAFETY in (*case.tags, *criterion.tags):
        return Match("safety", case, criterion)
    if fingerprint_of(case, criterion) != waiver.fingerprint:
        return Match("edited", case, criterion)
    expired = today > date.fromisoformat(waiver.until)
    return Match("expired" if expired else "not-run", case, criterion)


def answered_by(
    name: str, cases: Iterable[EvalCase], targets: Callable[[str], Container[str]]
) -> tuple[EvalCase, ...]:
    """Return the cases with the id `name` if several targets answer: `case [target]`.

    `targets` returns those that serve an eval file.
    """
    own, _, target = name.removesuffix("]").rpartition(" [")
    if not own or not name.endswith("]"):
        return ()
    found = {
        case.file: case for case in cases if case.own_id == own and target in targets(case.file)
    }
    return tuple(replace(case, id=name, written_id=own, target=target) for case in found.values())


def answered_alone(name: str, cases: Iterable[EvalCase]) -> tuple[EvalCase, ...]:
    """Return the cases of a run with several targets that have the id `name` in other runs."""
    found = {case.file: case for case in cases if case.written_id == name}
    return tuple(replace(case, id=name, written_id="") for case in found.values())


def criteria_of(case: EvalCase) -> Iterator[tuple[str, Criterion]]:
    """Yield the criteria of a case by the ids that reports give them."""
    for spec in case.evaluators:
        yield from _criteria(spec, "")


def fingerprint_of(case: EvalCase, criterion: Criterion) -> str:
    """Return 12 hexadecimal digits of a question and a criterion, but for weight and gate.

    A waiver belongs to the question of a case, not to its id, which another case may take over.
    """
    content = canonical(
        [criterion.kind, facts(criterion, without=_EXCUSED), question(case, files=True)]
    )
    return sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:12]


_EXCUSED: Final = frozenset(
    (
        *("id", "weight", "required", "required_min_score", "required_min_level"),
        *("required_choices",),
        *("tags", "template"),
    )
)
"""Fields of a criterion whose edit leaves a waiver in force."""


def _criteria(spec: EvaluatorSpec, prefix: str) -> Iterator[tuple[str, Criterion]]:
    match spec:
        case RubricSpec(rubric=rubric):
            yield from ((f"{prefix}{criterion.id}", criterion) for criterion in rubric)
        case CompositeSpec(evaluators=members):
            for member in members:
                yield from _criteria(member, f"{prefix}{member.name}/")
        case _:
            return
