"""Criteria as an eval file writes them, to their values."""

import json
from dataclasses import replace
from typing import Annotated, Any

from rubric_ci.evaluators.assertions.keys import SCHEMA_KEY, keys_of
from rubric_ci.evaluators.assertions.marking import described
from rubric_ci.evaluators.kind import (
    INCLUDED,
    UNFILLED,
    Fill,
    Included,
    UsedFiles,
    Written,
    criteria_at,
    names_file,
    weight_of,
)
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.diagnostics import Span
from rubric_ci.values.evals import RubricSpec
from rubric_ci.values.json_value import JSON
from rubric_ci.values.problems import Path
from rubric_ci.values.rubric import (
    Assertion,
    ByAnswer,
    ByJudge,
    ByMark,
    Check,
    Choice,
    Chosen,
    Condition,
    Criterion,
    Level,
    Levelled,
    MarkedAnswer,
    MarkTest,
    Rubric,
    Scored,
    ScoreRange,
    renamed,
)
from rubric_ci.values.written_keys import Key, read_keys


@dataclass(frozen=True, slots=True, kw_only=True)
class ByCase:
    """A criterion applies to cases with a tag, or with this value of a variable."""

    tag: Annotated[str, Key("formal")] = ""
    """Tag of the cases to which the criterion applies."""
    var: Annotated[str, Key("language", title="Variable", pattern="^[A-Za-z_][A-Za-z0-9_]*$")] = ""
    """Name of a variable of the case; with `equals`."""
    equals: Annotated[
        JSON,
        Key(
            "de", type=["string", "number", "boolean", "object", "array"], to=lambda value, _: value
        ),
    ] = None
    """Value of the variable, or of the answer as for the assertion."""

    def rules_out(self, written: Written) -> bool:
        """Return True if the case has another value, or not the tag."""
        if self.tag:
            return self.tag not in written.tags
        return bool(self.var) and written.variables.get(self.var) != self.equals


def read_rubric(written: Written) -> RubricSpec:
    data = written.data
    return read_keys(
        RubricSpec,
        data,
        span=written.span("name"),
        rubric=_rubric(written, data["rubrics"], (*written.path, "rubrics")),
        **_briefing(data, written.files),
        examples=_examples(data),
    )


def inline(name: str, written: Written, turn: int = 0) -> RubricSpec:
    """Return the spec of `rubrics`; in a turn, its name precedes the ids of the criteria."""
    path, owner = written.path, written.data
    rubric = _rubric(written, *criteria_at(owner, path))
    if turn:
        rubric = Rubric(tuple(renamed(c, f"{name}/") for c in rubric))
    span = Span(*written.source.locate(path, at_key=True))
    if not isinstance(owner, dict):  # a list of criteria has no keys
        return RubricSpec(name=name, rubric=rubric, turn=turn, span=span)
    return read_keys(
        RubricSpec,
        owner,
        name=name,
        rubric=rubric,
        **_briefing(owner, written.files),
        examples=_examples(owner, f"{name}/" if turn else ""),
        tests=tuple(_test(written, n, each) for n, each in enumerate(owner.get("tests", ()))),
        turn=turn,
        span=span,
    )


def _briefing(owner: dict[str, Any], files: UsedFiles) -> dict[str, Any]:
    """Return the material that an owner and its rubric files give to a judge, and these files."""
    given = owner.get("guidelines", {})
    every = {given: ""} if isinstance(given, str) else given
    texts = tuple([files.read(each).text if names_file(each) else each for each in every])
    seen = owner.get("sees", ("answer",))
    return {
        "sees": tuple(seen),
        "seen_by": tuple(seen.values()) if isinstance(seen, dict) else (),
        "guidelines": texts,
        "guided_by": tuple(every.values()),
    }


def _examples(owner: dict[str, Any], prefix: str = "") -> tuple[MarkedAnswer, ...]:
    return tuple(
        read_keys(
            MarkedAnswer, each, marks={f"{prefix}{k}": mark for k, mark in each["marks"].items()}
        )
        for each in owner.get("examples", ())
    )


def _test(written: Written, number: int, test: dict[str, Any]) -> MarkTest:
    marks = {k: tuple(v) if isinstance(v, list) else (v,) for k, v in test["marks"].items()}
    line = written.source.locate((*written.path, "tests", number))[0]
    return read_keys(MarkTest, {"name": f"test-{number + 1}", **test}, marks=marks, line=line)


def _rubric(written: Written, criteria: list[Any], path: Path) -> Rubric:
    found = [_placed(written, each, (*path, n), n + 1) for n, each in enumerate(criteria)]
    return Rubric(tuple([each for each in found if each is not None]))


def _placed(written: Written, template: Any, path: Path, number: int) -> Criterion | None:
    """Return a criterion at its place, which is another file for one that is included."""
    origin = template.get(INCLUDED) if isinstance(template, dict) else None
    if not isinstance(origin, Included):
        return _criterion(written, template, Span(*written.source.locate(path)), number)
    own = {key: value for key, value in template.items() if key != INCLUDED}
    variables = {**origin.defaults, **written.variables, **origin.given}
    inside = written._replace(fill=Fill(variables, typed=True), variables=variables)
    return _criterion(inside, own, origin.span, number)


def _criterion(written: Written, template: Any, span: Span, number: int) -> Criterion | None:
    """Return a criterion with its variables replaced, and its text without, if that differs.

    None: by a tag or a variable of the case, it does not apply.
    """
    if isinstance(template, str):
        template = {"expected_outcome": template}
    fill, filled = written.fill, template
    if fill.variables is not None:
        filled = {k: v if k in UNFILLED else fill.value(v) for k, v in template.items()}
    if isinstance(filled.get(SCHEMA_KEY), str):
        filled[SCHEMA_KEY] = template[SCHEMA_KEY]  # the name of a file, which the checks found
    condition = filled.get("applies_if")
    if isinstance(condition, dict) and read_keys(ByCase, condition).rules_out(written):
        return None
    found = _read_criterion(filled, written.files, span, number)
    if filled is template or filled == template:
        return found
    return replace(found, template=_wording(template))


def _condition(written: Any, files: UsedFiles, span: Span) -> Condition | None:
    if isinstance(written, str):
        return ByJudge(text=written)
    if not written or "tag" in written or "var" in written:
        return None
    if "criterion" in written:
        return ByMark(criterion=written["criterion"], mark=written["is"])
    (key,) = keys_of(written)
    return ByAnswer(assertion=_assertion(written, key, files, id="", span=span))


def _wording(criterion: dict[str, Any]) -> str:
    """Return the text of a criterion, or what stands for it, with the variables in it."""
    if keys := keys_of(criterion):
        return _in_words(criterion, keys[0])
    ranges = [each.text for each in _ranges(criterion.get("score_ranges", []))]
    levels = [each.text for each in _levels(criterion.get("levels", []))]
    choices = [each.text or each.name for each in _choices(criterion.get("choices", []))]
    return _criterion_text(criterion) or "; ".join([*ranges, *levels, *choices])


def _read_criterion(
    criterion: dict[str, Any], files: UsedFiles, span: Span, number: int
) -> Criterion:
    weight, fault = weight_of(criterion)
    given: dict[str, Any] = {
        "id": criterion.get("id", f"rubric-{number}"),
        "weight": weight,
        "applies_if": _condition(criterion.get("applies_if"), files, span),
        "span": span,
    }
    if "score_ranges" in criterion:
        return read_keys(Scored, criterion, ranges=_ranges(criterion["score_ranges"]), **given)
    if "levels" in criterion:
        return read_keys(Levelled, criterion, levels=_levels(criterion["levels"]), **given)
    given |= {"required": criterion.get("required", not fault), "fault": fault}
    if "choices" in criterion:
        given["required"] &= fault
        return read_keys(Chosen, criterion, choices=_choices(criterion["choices"]), **given)
    if keys := keys_of(criterion):
        return _assertion(criterion, keys[0], files, **given)
    return read_keys(Check, criterion, **given)


def _assertion(criterion: dict[str, Any], key: str, files: UsedFiles, **given: Any) -> Assertion:
    value = criterion[key]
    if key == SCHEMA_KEY and isinstance(value, str):
        value = json.loads(files.read(value).text)
    text = _in_words(criterion, key)
    return read_keys(Assertion, criterion, text=text, key=key, value=value, **given)


def _in_words(criterion: dict[str, Any], key: str) -> str:
    negated, field = criterion.get("not", False), criterion.get("field", "")
    return _criterion_text(criterion) or described(
        key, criterion[key], negated=negated, field=field
    )


def _ranges(written: Any) -> tuple[ScoreRange, ...]:
    if isinstance(written, dict):
        lows = sorted(map(int, written))
        highs = [*(low - 1 for low in lows[1:]), 10]
        return tuple(
            ScoreRange(low=low, high=high, text=written[str(low)])
            for low, high in zip(lows, highs, strict=True)
        )
    ranges = (read_keys(ScoreRange, each) for each in written)
    return tuple(sorted(ranges, key=lambda scores: scores.low))


def _levels(written: Any) -> tuple[Level, ...]:
    if isinstance(written, dict):
        texts = {int(k): {"criteria": v} if isinstance(v, str) else v for k, v in written.items()}
        written = [{**each, "level": number} for number, each in texts.items()]
    levels = (read_keys(Level, each) for each in written)
    return tuple(sorted(levels, key=lambda level: level.level))


def _choices(written: Any) -> tuple[Choice, ...]:
    if isinstance(written, dict):
        written = [{"choice": name, "score": each} for name, each in written.items()]
    return tuple(read_keys(Choice, each) for each in written)


def _criterion_text(criterion: dict[str, Any]) -> str:
    return str(criterion.get("expected_outcome", criterion.get("description", "")))
