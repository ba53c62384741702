"""Checked data to an `EvalFile`: normalises aliases, short forms and inheritance.

Strings become messages and criteria, maps become lists, and a case holds what it inherits from
its suite. The data has passed every check, so nothing is checked again.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any, Final, NamedTuple

from rubric_ci.evaluators import table
from rubric_ci.evaluators.kind import (
    FILLED_OF_USER,
    INCLUDED,
    Fill,
    UsedFiles,
    Written,
    criteria_at,
    evaluators_of,
)
from rubric_ci.files.validation.agentv import guideline_matcher
from rubric_ci.files.validation.reference_rules import is_parts
from rubric_ci.files.yaml_text.source import STOPPED, Source
from rubric_ci.text.globs import Matches
from rubric_ci.values.diagnostics import Span
from rubric_ci.values.evals import (
    CompositeSpec,
    EvalCase,
    EvalFile,
    EvaluatorSpec,
    LlmJudgeSpec,
    RubricSpec,
    TrialRule,
)
from rubric_ci.values.json_value import JSON
from rubric_ci.values.messages import (
    DataPart,
    FilePart,
    MediaPart,
    Message,
    Part,
    Role,
    SimulatedUser,
    TextPart,
    Turn,
)
from rubric_ci.values.problems import Location, Path, Place, Placed
from rubric_ci.values.references import Found, Lookup
from rubric_ci.values.workspace_settings import Workspace
from rubric_ci.values.written_keys import read_keys

_VARIABLE: Final = re.compile(r"\{\{[^{}]*\}\}|\{%[^{}]*%\}")


class TargetNames(NamedTuple):
    """The targets that answer `every` case, and the targets of cases that name none."""

    every: Sequence[str] = ()
    unnamed: Sequence[str] = ()


NO_NAMES: Final = TargetNames()


def parse(
    source: Source, lookup: Lookup, default_evaluator: str = "none", targets: TargetNames = NO_NAMES
) -> EvalFile:
    """Return the cases of a checked eval file.

    `default_evaluator` grades cases with an expected outcome and no evaluator. `targets` answer
    every case, in place of those that the file names, `compare` the cases without a target.
    """
    suite = source.data
    is_guideline = guideline_matcher(lookup)
    stem = source.file.rsplit("/", 1)[-1].rsplit(".", 1)[0].removesuffix(".eval")
    return read_keys(
        EvalFile,
        {"dataset": stem, **suite},
        path=source.file,
        in_files=source.in_files,
        rubric_files=source.rubric_files,
        of_other_tool=source.of_other_tool,
        cases=tuple(
            each
            for index in range(len(suite["evalcases"]))
            for each in _for_targets(
                _case(source, UsedFiles(lookup), index, is_guideline, default_evaluator),
                _targets(suite, suite["evalcases"][index], targets.unnamed),
                targets.every,
            )
        ),
    )


def _targets(suite: dict[str, Any], case: dict[str, Any], unnamed: Sequence[str]) -> Sequence[str]:
    return () if _target(case) else suite.get("targets", () if _target(suite) else unnamed)


def _for_targets(case: EvalCase, own: Sequence[str], given: Sequence[str]) -> Iterator[EvalCase]:
    """Yield the case once for each target: those `given`, else its own.

    Each has a different id if there are several, and keeps it if one of them is given.
    """
    if len(own) < 2 and len(given) < 2:
        yield replace(case, target=own[0]) if own else case
        return
    for target in given or own:
        yield replace(case, id=f"{case.id} [{target}]", written_id=case.id, target=target)


def _case(
    source: Source, files: UsedFiles, index: int, is_guideline: Matches, default_evaluator: str
) -> EvalCase:
    suite, path = source.data, ("evalcases", index)
    at = source.location((*path, "id"))
    placed = _InOneFile(source, at) if len(source.texts()) > 1 else source
    case = suite["evalcases"][index]
    variables = {**suite.get("vars", {}), **case.get("vars", {})}
    shared = Contents(files, is_guideline, Fill(None if suite.get("raw") else variables))
    raw = case.get("raw", suite.get("raw", False))
    trials = case.get("trials", suite.get("trials"))
    own = shared._replace(fill=Fill(None if raw else variables)) if "raw" in case else shared
    question = case.get("input_messages", case.get("input", []))
    reference = case.get("expected_messages", case.get("expected_output", []))
    unguided = own if reference == [] else own._replace(is_guideline=lambda _: False)
    messages = (
        *read_messages(suite.get("messages", []), "system", shared),
        *read_messages(question, "user", own),
    )
    turns = tuple(_turn(each, own) for each in case.get("turns", ()))
    expected = read_messages(reference, "assistant", unguided)
    written = _evaluators(placed, path, (own, shared), variables, default_evaluator)
    evaluators = tuple(each for spec in written for each in _applying(spec))
    return read_keys(
        EvalCase,
        case,
        file=at.file,
        span=Span(*at.place),
        expected_outcome=own.text(case.get("expected_outcome", case.get("outcome", ""))),
        input_messages=messages,
        turns=turns,
        simulated_user=_user(case["simulated_user"], own) if "simulated_user" in case else None,
        expected_messages=expected,
        evaluators=evaluators,
        inapplicable=bool(written) and not evaluators,
        opts_out=case.get("shared_rubrics") is False and "shared_rubrics" in suite,
        only_shared=_is_shared(case) and not (evaluators_of(case) or evaluators_of(suite)),
        target=_target(case) or _target(suite),
        workspace=_workspace(case.get("workspace", suite.get("workspace")), source.file),
        vars=variables,
        trials=read_keys(TrialRule, {"pass": trials["count"], **trials}) if trials else None,
        note=_note(case),
        metadata=case.get("metadata", {}),
        depends_on=(*suite.get("depends_on", ()), *case.get("depends_on", ())),
        references=files.paths(),
        stopped=case.get(STOPPED, "") if source.of_other_tool else "",
        template="" if raw else _template([question, *case.get("turns", ())]),
    )


def _template(question: Any) -> str:
    """Return digits of a question that has variables in a text; of a variable alone, ""."""
    text = "\n".join(_texts(question))
    words, variables = _VARIABLE.subn("", text) if "{" in text else (text, 0)
    if not variables or not any(map(str.isalnum, words)):
        return ""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _texts(written: Any) -> Iterator[str]:
    match written:
        case str():
            yield written
        case list() | tuple():
            for each in written:
                yield from _texts(each)
        case {"content": inner} | {"input": inner} | {"type": "text", "value": inner}:
            yield from _texts(inner)


class _InOneFile(NamedTuple):
    """A source for one case: the text of another file is reported at the place of the case."""

    source: Source
    at: Location

    @property
    def file(self) -> str:
        return self.source.file

    @property
    def data(self) -> Any:
        return self.source.data

    def locate(self, path: Path, *, at_key: bool = False) -> Place:
        found = self.source.location(path, at_key=at_key)
        return found.place if found.file == self.at.file else self.at.place


def _turn(written: str | dict[str, Any], own: "Contents") -> Turn:
    turn = {"input": written} if isinstance(written, str) else written
    parts = _parts(turn["input"], own)
    return Turn(
        text=Message(role="user", parts=parts).text,
        expected_outcome=own.text(turn.get("expected_outcome", "")),
        parts=parts if isinstance(turn["input"], list) else (),
    )


def _user(written: dict[str, Any], own: "Contents") -> SimulatedUser:
    texts = {key: own.text(written[key]) for key in FILLED_OF_USER if key in written}
    return read_keys(SimulatedUser, written | texts)


def _evaluators(
    source: Placed,
    path: Path,
    texts: "tuple[Contents, Contents]",
    variables: Mapping[str, JSON],
    default: str,
) -> tuple[EvaluatorSpec, ...]:
    """Return the evaluators of the case at a path: inline rubrics first.

    `texts` has how texts of the case, and of the suite, become parts.
    """
    suite, case = source.data, source.data["evalcases"][path[1]]
    of_case, of_suite = evaluators_of(case), evaluators_of(suite)

    def written(where: Path, data: Any, contents: Contents) -> Written:
        return Written(
            source,
            where,
            data,
            contents.files,
            fill=contents.fill,
            tags=case.get("tags", ()),
            variables=variables,
        )

    owner, contents = (path, texts[0]) if "rubrics" in case else ((), texts[1])
    rubrics = case.get("rubrics", suite.get("rubrics"))
    own = (
        [table.inline("rubric", written((*owner, "rubrics"), rubrics, contents))] if rubrics else []
    )
    for number, turn in enumerate(case.get("turns", ()), start=1):
        if isinstance(turn, dict) and "rubrics" in turn:
            where: Path = (*path, "turns", number - 1, "rubrics")
            own.append(
                table.inline(f"turn-{number}", written(where, turn["rubrics"], texts[0]), number)
            )
    found = ((*path, *of_case[0]), of_case[1]) if of_case else of_suite or ((), [])
    contents = texts[0] if of_case else texts[1]
    others = (written((*found[0], n), data, contents) for n, data in enumerate(found[1]))
    return (*own, *map(table.read_evaluator, others)) or tuple(_default(source, path, default))


def _is_shared(case: dict[str, Any]) -> bool:
    criteria, _ = criteria_at(case.get("rubrics", []), ())
    return bool(criteria) and all(
        isinstance(each, dict) and INCLUDED in each and each[INCLUDED].shared for each in criteria
    )


def _applying(spec: EvaluatorSpec) -> Iterator[EvaluatorSpec]:
    """Yield an evaluator, unless none of its criteria applies to the case."""
    if isinstance(spec, CompositeSpec):
        members = tuple(each for member in spec.evaluators for each in _applying(member))
        spec = replace(spec, evaluators=members) if members != spec.evaluators else spec
        if not members:
            return
    if not isinstance(spec, RubricSpec) or spec.rubric.criteria:
        yield spec


def _default(source: Placed, path: Path, default: str) -> Iterator[EvaluatorSpec]:
    """Yield the evaluator of a case without any: the suite's, else the configuration's."""
    suite = source.data
    if suite.get("evaluator", "") == "llm_judge":
        yield LlmJudgeSpec(name="llm_judge", span=Span(*source.locate(("evaluator",))))
        return
    has_outcome = suite["evalcases"][path[1]].keys() & {"expected_outcome", "outcome"}
    if default == "llm_judge" and has_outcome and "evaluator" not in suite:
        yield LlmJudgeSpec(name="llm_judge", span=Span(*source.locate((*path, "id"))))


def _target(owner: dict[str, Any]) -> str:
    return str(owner.get("execution", {}).get("target", owner.get("target", "")))


def _workspace(written: dict[str, Any] | None, file: str) -> Workspace | None:
    return None if written is None else read_keys(Workspace, written, file, of_target=False)


def _note(case: dict[str, Any]) -> str:
    notes = case.get("notes", "")
    lines = [
        case.get("description", ""),
        case.get("note", ""),
        *([notes] if isinstance(notes, str) else notes),
    ]
    return "\n".join(line for line in lines if line)


class Contents(NamedTuple):
    """How contents of messages become parts: their files, and the variables of their texts."""

    files: UsedFiles
    is_guideline: Matches = lambda _: False
    fill: Fill = Fill()

    def text(self, written: str) -> str:
        return self.fill.text(written)


def read_messages(written: Any, role: Role, contents: Contents) -> tuple[Message, ...]:
    """Return messages; a string or an object is one message of the given role."""
    if not isinstance(written, list):
        return (Message(role=role, parts=_parts(written, contents)),)
    if is_parts(written):
        return (Message(role=role, parts=_parts(written, contents), in_list=True),)
    return tuple(
        read_keys(
            Message,
            message,
            parts=_parts(message.get("content", []), contents),
            in_list=isinstance(message.get("content"), list),
        )
        for message in written
    )


def _parts(content: Any, contents: Contents) -> tuple[Part, ...]:
    match content:
        case str():
            return (TextPart(contents.text(content)),)
        case list():
            return tuple(_part(part, contents) for part in content)
        case _:
            return (DataPart(contents.fill.value(content)),)


def _part(part: dict[str, str], contents: Contents) -> Part:
    if part["type"] == "text":
        return TextPart(contents.text(part["value"]))
    found = contents.files.part(contents.text(part["value"]))
    if not isinstance(found, Found):
        return MediaPart(found)
    return FilePart(found.path, found.text, guideline=contents.is_guideline(found.path))
