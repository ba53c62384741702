"""Criteria as an eval file writes them, to their values."""

import json
from dataclasses import replace
from typing import Any, Final

from rubric_ci.evaluators.assertions.keys import SCHEMA_KEY, keys_of
from rubric_ci.evaluators.assertions.marking import described
from rubric_ci.evaluators.kind import (
    INCLUDED,
    UNFILLED,
    Fill,
    Included,
    UsedFiles,
    Written,
    common,
    criteria_at,
    names_file,
    weight_of,
)
from rubric_ci.values.diagnostics import Span
from rubric_ci.values.evals import MarkedAnswer, MarkTest, RubricSpec
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
    Rubric,
    Scored,
    ScoreRange,
    renamed,
)
from rubric_ci.values.trace import SeenPart

TEXT_KEYS: Final = ("expected_outcome", "description", "criteria")


def read(written: Written) -> RubricSpec:
    """Return the spec of criteria that a judge marks."""
    data = written.data
    return RubricSpec(
        **common(written),
        type=data["type"],
        rubric=_rubric(written, data["rubrics"], (*written.path, "rubrics")),
        sees=_sees(data),
        **_guidelines(data, written.files),
        examples=_examples(data),
        model=data.get("model", ""),
    )


def inline(name: str, written: Written, turn: int = 0) -> RubricSpec:
    """Return the spec of `rubrics`; in a turn, its name precedes the ids of the criteria."""
    rubrics, path = written.data, written.path
    rubric = _rubric(written, *criteria_at(rubrics, path))
    if turn:
        rubric = Rubric(tuple(renamed(c, f"{name}/") for c in rubric))
    span = Span(*written.source.locate(path, at_key=True))
    prefix = f"{name}/" if turn else ""
    return RubricSpec(
        name=name,
        rubric=rubric,
        sees=_sees(rubrics),
        **_guidelines(rubrics, written.files),
        examples=_examples(rubrics, prefix),
        tests=_tests(written),
        turn=turn,
        span=span,
    )


def _sees(owner: Any) -> tuple[SeenPart, ...]:
    return tuple(owner.get("sees", ("answer",))) if isinstance(owner, dict) else ("answer",)


def _guidelines(owner: Any, files: UsedFiles) -> dict[str, Any]:
    """Return the guidelines of an owner and of the rubric files that it includes, and the files."""
    given = owner.get("guidelines", {}) if isinstance(owner, dict) else {}
    every = {given: ""} if isinstance(given, str) else given
    texts = tuple([files.read(each).text if names_file(each) else each for each in every])
    return {"guidelines": texts, "guided_by": tuple(every.values())}


def _examples(owner: Any, prefix: str = "") -> tuple[MarkedAnswer, ...]:
    given = owner.get("examples", ()) if isinstance(owner, dict) else ()
    return tuple(
        MarkedAnswer(
            answer=each["answer"],
            question=each.get("question", ""),
            marks={f"{prefix}{name}": mark for name, mark in each["marks"].items()},
            why=each.get("why", ""),
        )
        for each in given
    )


def _tests(written: Written) -> tuple[MarkTest, ...]:
    given = written.data.get("tests", ()) if isinstance(written.data, dict) else ()
    return tuple(
        MarkTest(
            name=each.get("name", f"test-{number + 1}"),
            answer=each["answer"],
            marks={k: tuple(v) if isinstance(v, list) else (v,) for k, v in each["marks"].items()},
            line=written.source.locate((*written.path, "tests", number))[0],
        )
        for number, each in enumerate(given)
    )


def _rubric(written: Written, criteria: list[Any], path: Path) -> Rubric:
    found = (_placed(written, each, (*path, n), n + 1) for n, each in enumerate(criteria))
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
        template = {"criteria": template}
    filled = {k: v if k in UNFILLED else written.fill.value(v) for k, v in template.items()}
    if isinstance(filled.get(SCHEMA_KEY), str):
        filled[SCHEMA_KEY] = template[SCHEMA_KEY]  # the name of a file, which the checks found
    condition = filled.get("applies_if")
    if isinstance(condition, dict) and not _is_of_case(condition, written):
        return None
    found = replace(
        _of(filled, written.files, span, number),
        applies_if=_condition(condition, written.files, span),
    )
    if filled == template:
        return found
    return replace(found, template=_shown(template))


def _is_of_case(condition: dict[str, Any], written: Written) -> bool:
    """Return False if a tag or a variable of the case rules a criterion out."""
    if "tag" in condition:
        return condition["tag"] in written.tags
    return "var" not in condition or written.variables.get(condition["var"]) == condition["equals"]


def _condition(written: Any, files: UsedFiles, span: Span) -> Condition | None:
    if isinstance(written, str):
        return ByJudge(text=written)
    if not written or "tag" in written or "var" in written:
        return None
    if "criterion" in written:
        return ByMark(criterion=written["criterion"], mark=written["is"])
    (key,) = keys_of(written)
    return ByAnswer(assertion=_assertion(written, key, files, id="", span=span))


def _shown(criterion: dict[str, Any]) -> str:
    """Return the text of a criterion, or what stands for it, with the variables in it."""
    key = next(iter(keys_of(criterion)), "")
    if key and not _text(criterion):
        negated, field = criterion.get("not", False), criterion.get("field", "")
        return described(key, criterion[key], negated=negated, field=field)
    ranges = [each.text for each in _ranges(criterion.get("score_ranges", []))]
    levels = [each.text for each in _levels(criterion.get("levels", []))]
    choices = [each.text or each.name for each in _choices(criterion.get("choices", []))]
    return _text(criterion) or "; ".join([*ranges, *levels, *choices])


def _of(criterion: dict[str, Any], files: UsedFiles, span: Span, number: int) -> Criterion:
    weight, fault = weight_of(criterion)
    given: dict[str, Any] = {
        "id": criterion.get("id", f"rubric-{number}"),
        "weight": weight,
        "tags": tuple(criterion.get("tags", ())),
        "span": span,
    }
    text, required = _text(criterion), criterion.get("required", not fault)
    if "score_ranges" in criterion:
        ranges, least = _ranges(criterion["score_ranges"]), criterion.get("required_min_score")
        return Scored(text=text, ranges=ranges, required_min_score=least, **given)
    if "levels" in criterion:
        levels, least = _levels(criterion["levels"]), criterion.get("required_min_level")
        return Levelled(text=text, levels=levels, required_min_level=least, **given)
    if "choices" in criterion:
        return Chosen(
            text=text,
            choices=_choices(criterion["choices"]),
            required_choices=tuple(criterion.get("required_choices", ())),
            required=fault and required,
            fault=fault,
            **given,
        )
    if key := next(iter(keys_of(criterion)), ""):
        return _assertion(criterion, key, files, required=required, fault=fault, **given)
    return Check(text=text, required=required, fault=fault, **given)


def _assertion(criterion: dict[str, Any], key: str, files: UsedFiles, **common: Any) -> Assertion:
    value, negated = criterion[key], criterion.get("not", False)
    field = criterion.get("field", "")
    text = _text(criterion) or described(key, value, negated=negated, field=field)
    if key == SCHEMA_KEY and isinstance(value, str):
        value = json.loads(files.read(value).text)
    return Assertion(
        text=text,
        key=key,
        value=value,
        negated=negated,
        ignore_case=criterion.get("ignore_case", False),
        exact=criterion.get("exact", False),
        field=field,
        **common,
    )


def _ranges(written: Any) -> tuple[ScoreRange, ...]:
    if isinstance(written, dict):
        lows = sorted(map(int, written))
        highs = [*(low - 1 for low in lows[1:]), 10]
        return tuple(
            ScoreRange(low=low, high=high, text=written[str(low)])
            for low, high in zip(lows, highs, strict=True)
        )
    ranges = (
        ScoreRange(low=r["score_range"][0], high=r["score_range"][1], text=_text(r))
        for r in written
    )
    return tuple(sorted(ranges, key=lambda scores: scores.low))


def _levels(written: Any) -> tuple[Level, ...]:
    if isinstance(written, dict):
        entries = [(int(key), _level_entry(item)) for key, item in written.items()]
    else:
        entries = [(item["level"], item) for item in written]
    levels = (Level(level=n, name=e.get("name", ""), text=_text(e)) for n, e in entries)
    return tuple(sorted(levels, key=lambda level: level.level))


def _choices(written: Any) -> tuple[Choice, ...]:
    if isinstance(written, dict):
        return tuple(Choice(name=name, score=float(each)) for name, each in written.items())
    return tuple(
        Choice(name=each["choice"], score=float(each["score"]), text=each.get("criteria", ""))
        for each in written
    )


def _level_entry(item: Any) -> dict[str, str]:
    return {"criteria": item} if isinstance(item, str) else item


def _text(owner: dict[str, Any]) -> str:
    for key in TEXT_KEYS:
        if key in owner:
            return str(owner[key])
    return ""
