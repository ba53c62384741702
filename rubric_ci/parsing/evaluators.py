"""Checked evaluators and criteria to specs and rubrics."""

import json
from collections.abc import Iterator
from dataclasses import replace
from posixpath import dirname, join, normpath
from typing import Any, Final

from rubric_ci.assertions.keys import SCHEMA_KEY, keys_of
from rubric_ci.assertions.table import described
from rubric_ci.measures import KINDS
from rubric_ci.measures.kind import Written
from rubric_ci.model.diagnostics import Span
from rubric_ci.model.evals import (
    CodeJudgeSpec,
    CompositeSpec,
    EvaluatorSpec,
    LlmJudgeSpec,
    RubricSpec,
    WeightedAverage,
)
from rubric_ci.model.rubric import (
    Assertion,
    Check,
    Criterion,
    Level,
    Levelled,
    Rubric,
    Scored,
    ScoreRange,
)
from rubric_ci.model.trace import SeenPart
from rubric_ci.parsing.file_references import UsedFiles
from rubric_ci.validation.evaluator_rules import CODE_JUDGE_KEYS
from rubric_ci.validation.reference_rules import names_file
from rubric_ci.validation.rubric_rules import criteria_at
from rubric_ci.yaml_text.problems import Path
from rubric_ci.yaml_text.source import Placed

TEXT_KEYS: Final = ("expected_outcome", "description", "criteria")


def case_evaluators(
    source: Placed, path: Path, files: UsedFiles, default: str
) -> tuple[EvaluatorSpec, ...]:
    """Return the evaluators of the case at a path: inline rubrics first."""
    case = source.data["evalcases"][path[1]]
    owner: Path = path if "rubrics" in case else ()
    rubrics = case.get("rubrics", source.data.get("rubrics"))
    inline = [_inline("rubric", source, rubrics, (*owner, "rubrics"), files)] if rubrics else []
    for number, turn in enumerate(case.get("turns", ()), start=1):
        if isinstance(turn, dict) and "rubrics" in turn:
            where: Path = (*path, "turns", number - 1, "rubrics")
            inline.append(_inline(f"turn-{number}", source, turn["rubrics"], where, files, number))
    where, named = _named(source.data, case, path)
    specs = tuple(_spec(source, e, (*where, n), files) for n, e in enumerate(named))
    return (*inline, *specs) or tuple(_default(source, path, default))


def _inline(
    name: str, source: Placed, rubrics: Any, path: Path, files: UsedFiles, turn: int = 0
) -> RubricSpec:
    """Return the spec of `rubrics`; in a turn, its name precedes the ids of the criteria."""
    rubric = _rubric(source, *criteria_at(rubrics, path), files)
    rubric = Rubric(tuple(replace(c, id=f"{name}/{c.id}" if turn else c.id) for c in rubric))
    span = _span(source, path, key=True)
    return RubricSpec(name=name, rubric=rubric, sees=_sees(rubrics), turn=turn, span=span)


def _default(source: Placed, path: Path, default: str) -> Iterator[EvaluatorSpec]:
    """Yield the evaluator of a case without any: the suite's, else the configuration's."""
    suite = source.data
    if suite.get("evaluator", "") == "llm_judge":
        yield LlmJudgeSpec(name="llm_judge", span=_span(source, ("evaluator",)))
        return
    has_outcome = suite["evalcases"][path[1]].keys() & {"expected_outcome", "outcome"}
    if default == "llm_judge" and has_outcome and "evaluator" not in suite:
        yield LlmJudgeSpec(name="llm_judge", span=_span(source, (*path, "id")))


def _named(suite: Any, case: Any, path: Path) -> tuple[Path, list[Any]]:
    """Return the path of the evaluators that apply, and the evaluators."""
    if "evaluators" in case.get("execution", {}):
        return (*path, "execution", "evaluators"), case["execution"]["evaluators"]
    if "evaluators" in case:
        return (*path, "evaluators"), case["evaluators"]
    return ("execution", "evaluators"), suite.get("execution", {}).get("evaluators", [])


def _spec(source: Placed, evaluator: dict[str, Any], path: Path, files: UsedFiles) -> EvaluatorSpec:
    span = _span(source, (*path, "name"))
    name, weight = evaluator["name"], float(evaluator.get("weight", 1.0))
    model = evaluator.get("model", "")
    match evaluator:
        case {"type": "rubric" | "llm_judge" as kind, "rubrics": rubrics}:
            rubric = _rubric(source, rubrics, (*path, "rubrics"), files)
            return RubricSpec(
                name=name,
                type=kind,
                weight=weight,
                rubric=rubric,
                sees=_sees(evaluator),
                model=model,
                span=span,
            )
        case {"type": "llm_judge"}:
            return _llm_judge(source, evaluator, span, files)
        case {"type": "code_judge"}:
            return _code_judge(source, evaluator, span, files)
        case {"type": "composite"}:
            return _composite(source, evaluator, path, files)
        case _:
            written = Written(source=source, path=path, data=evaluator, lookup=files.lookup)
            return KINDS[evaluator["type"]].read(written)


def _llm_judge(
    source: Placed, evaluator: dict[str, Any], span: Span, files: UsedFiles
) -> LlmJudgeSpec:
    prompt, script = evaluator.get("prompt", ""), None
    if isinstance(prompt, dict):
        script = _code_judge(source, {**prompt, "name": evaluator["name"]}, span, files)
        prompt = ""
    text, file = _prompt(prompt, files)
    return LlmJudgeSpec(
        name=evaluator["name"],
        weight=float(evaluator.get("weight", 1.0)),
        prompt=text,
        prompt_path=file,
        prompt_script=script,
        model=evaluator.get("model", ""),
        span=span,
    )


def _prompt(written: str, files: UsedFiles) -> tuple[str, str]:
    """Return a prompt's text, and its path if it is a file."""
    if not names_file(written):
        return written, ""
    found = files.read(written)
    return found.text, found.path


def _code_judge(
    source: Placed, evaluator: dict[str, Any], span: Span, files: UsedFiles
) -> CodeJudgeSpec:
    script, cwd = evaluator["script"], evaluator.get("cwd", ".")
    files.note_script(script, cwd)
    own = {key: item for key, item in evaluator.items() if key not in CODE_JUDGE_KEYS}
    return CodeJudgeSpec(
        name=evaluator["name"],
        weight=float(evaluator.get("weight", 1.0)),
        script=script if isinstance(script, str) else tuple(script),
        cwd=_from_root(source.file, cwd),
        timeout_seconds=float(evaluator.get("timeout_seconds", 60.0)),
        env=tuple(evaluator.get("env", ())),
        config={**own, **evaluator.get("config", {})},
        score_from=evaluator.get("score_from"),
        span=span,
    )


def _composite(
    source: Placed, evaluator: dict[str, Any], path: Path, files: UsedFiles
) -> CompositeSpec:
    members = enumerate(evaluator["evaluators"])
    return CompositeSpec(
        name=evaluator["name"],
        weight=float(evaluator.get("weight", 1.0)),
        evaluators=tuple(_spec(source, m, (*path, "evaluators", n), files) for n, m in members),
        aggregator=_aggregator(source, evaluator, path, files),
        span=_span(source, (*path, "name")),
    )


def _aggregator(
    source: Placed, composite: dict[str, Any], path: Path, files: UsedFiles
) -> WeightedAverage | CodeJudgeSpec | LlmJudgeSpec:
    written = composite.get("aggregator", {"type": "weighted_average"})
    where: Path = (*path, "aggregator")
    match written:
        case {"type": "code_judge"}:
            script = {**written, "name": composite["name"], "script": written["path"]}
            del script["path"]
            return _code_judge(source, script, _span(source, where), files)
        case {"type": "llm_judge"}:
            text, file = _prompt(written.get("prompt", ""), files)
            return LlmJudgeSpec(
                name=composite["name"],
                prompt=text,
                prompt_path=file,
                model=written.get("model", ""),
                span=_span(source, where),
            )
        case _:
            weights = written.get("weights", {})
            return WeightedAverage(weights={name: float(w) for name, w in weights.items()})


def _from_root(file: str, folder: str) -> str:
    return normpath(folder.lstrip("/") if folder.startswith("/") else join(dirname(file), folder))


def _sees(owner: Any) -> tuple[SeenPart, ...]:
    return tuple(owner.get("sees", ("answer",))) if isinstance(owner, dict) else ("answer",)


def _rubric(source: Placed, criteria: list[Any], path: Path, files: UsedFiles) -> Rubric:
    found = (_criterion(source, c, (*path, n), n + 1, files) for n, c in enumerate(criteria))
    return Rubric(tuple(found))


def _criterion(
    source: Placed, criterion: Any, path: Path, number: int, files: UsedFiles
) -> Criterion:
    span = _span(source, path)
    if isinstance(criterion, str):
        return Check(id=f"rubric-{number}", text=criterion, span=span)
    name, text = criterion.get("id", f"rubric-{number}"), _text(criterion)
    weight = float(criterion.get("weight", 1.0))
    tags = tuple(criterion.get("tags", ()))
    if "score_ranges" in criterion:
        return Scored(
            id=name,
            text=text,
            weight=weight,
            ranges=_ranges(criterion["score_ranges"]),
            required_min_score=criterion.get("required_min_score"),
            tags=tags,
            span=span,
        )
    if "levels" in criterion:
        return Levelled(
            id=name,
            text=text,
            weight=weight,
            levels=_levels(criterion["levels"]),
            required_min_level=criterion.get("required_min_level"),
            tags=tags,
            span=span,
        )
    required = criterion.get("required", True)
    if key := next(iter(keys_of(criterion)), ""):
        return _assertion(
            criterion, key, files, id=name, weight=weight, required=required, tags=tags, span=span
        )
    return Check(id=name, text=text, weight=weight, required=required, tags=tags, span=span)


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


def _level_entry(item: Any) -> dict[str, str]:
    return {"criteria": item} if isinstance(item, str) else item


def _text(owner: dict[str, Any]) -> str:
    return next((str(owner[key]) for key in TEXT_KEYS if key in owner), "")


def _span(source: Placed, path: Path, *, key: bool = False) -> Span:
    return Span(*source.locate(path, at_key=key))
