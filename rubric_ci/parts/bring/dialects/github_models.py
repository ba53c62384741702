"""GitHub Models' `.prompt.yml`, for `import`: a case a row of `testData`, evaluators as criteria.

The target keeps the file as its prompt, with the model and the parameters that it names.
"""

import re
from posixpath import basename, join
from typing import Any, Final

from rubric_ci.parts.bring.translation import Beside, Placed, Translation, filled
from rubric_ci.values.json_value import is_number
from rubric_ci.values.problems import Path

_STRINGS: Final = {
    "equals": "equals",
    "contains": "contains",
    "startsWith": "starts_with",
    "endsWith": "ends_with",
}


def matches(data: Any) -> bool:
    """Return True for a prompt file with data to test it."""
    return isinstance(data, dict) and isinstance(data.get("testData"), list) and "messages" in data


def translate(data: dict[str, Any], beside: Beside, file: str) -> Translation:
    found = Translation()
    stem = basename(file).partition(".")[0]
    found.targets.append({"name": stem, "prompt": join(beside.base, basename(file))})
    found.put(("target",), stem, ())
    found.put(("evalcases",), [], ("testData",))
    evaluators = data.get("evaluators") or []
    if not isinstance(evaluators, list):
        found.refuse(("evaluators",), "`evaluators` is a list")
        evaluators = []
    for index, row in enumerate(data["testData"]):
        place: Path = ("testData", index)
        if not isinstance(row, dict):
            found.refuse(place, "a row that is not a mapping is not imported")
            continue
        ours: Path = ("evalcases", len(found.data["evalcases"]))
        found.put(ours, {"id": str(row.get("id", f"{stem}-{index + 1}"))}, place)
        texts = {key: str(each) for key, each in row.items()}
        found.copy(texts, {"input": "input", "expected": "expected_output"}, ours, place)
        if "input" not in row:
            found.put((*ours, "input"), "-", place)
        if rest := {k: each for k, each in texts.items() if k not in {"id", "input", "expected"}}:
            found.put((*ours, "vars"), rest, place)
        criteria: list[Placed] = []
        for number, evaluator in enumerate(evaluators):
            criteria += _translate_evaluator(found, evaluator, row, ("evaluators", number))
        if criteria:
            found.put_list((*ours, "rubrics"), criteria, ("evaluators",))
    return found


def _translate_evaluator(
    found: Translation, evaluator: Any, row: dict[str, Any], place: Path
) -> list[Placed]:
    """Return the criteria of an evaluator; none, and a report, without a counterpart."""
    written = evaluator if isinstance(evaluator, dict) else {}
    string, model, named = (written.get(key) for key in ("string", "llm", "uses"))
    if isinstance(string, dict) and not string.keys() - _STRINGS.keys():
        folding = {key: {} if key == "equals" else {"ignore_case": True} for key in string}
        return [
            ({_STRINGS[key]: filled(value, row), **folding[key]}, (*place, "string", key))
            for key, value in string.items()
        ]
    if isinstance(named, str) and (question := _QUESTIONS.get(named)):
        text = filled(question, row)
        if "{{" not in text:
            return [({"expected_outcome": text, "levels": dict(_LEVELS)}, (*place, "uses"))]
        found.refuse((*place, "uses"), f"`{named}` needs `expected` in each row")
        return []
    if isinstance(model, dict) and (criterion := _model_target(model, row)):
        if "modelId" in model:
            found.skip((*place, "llm", "modelId"), "the judge of the run is asked")
        return [(criterion, (*place, "llm"))]
    found.refuse(
        place, "only evaluators with `string`, `llm` or `uses: github/…` have a counterpart"
    )
    return []


_QUESTIONS: Final = {
    "github/similarity": "Means the same as this reference: {{expected}}",
    "github/coherence": "Reads as one text: its sentences follow from each other",
    "github/fluency": "Is written in correct and natural language",
    "github/relevance": "Answers what is asked, and nothing else",
    "github/groundedness": "States only what the question and its context say",
}
_LEVELS: Final = {
    1: "not at all",
    2: "in small part",
    3: "in part",
    4: "for the most part",
    5: "in full",
}
_COMPLETION: Final = re.compile(r"\{\{\s*completion\s*\}\}")


def _model_target(model: dict[str, Any], row: dict[str, Any]) -> dict[str, Any] | None:
    """Return a question to a model as a criterion with a level for each score; None: it is none."""
    choices, prompt = model.get("choices"), model.get("prompt")
    if not isinstance(prompt, str) or not isinstance(choices, list):
        return None
    levels: dict[int, str] = {}
    for each in choices:
        score = each.get("score") if isinstance(each, dict) else None
        if not is_number(score) or not 0 <= score <= 1:
            return None
        level, choice = round(score * 10), each.get("choice")
        said = {True: "yes", False: "no"}.get(choice, str(choice))
        levels[level] = f"{levels[level]}, or {said}" if level in levels else said
    texts = [model.get("systemPrompt"), prompt]
    question = "\n".join(text.strip() for text in texts if isinstance(text, str))
    question = filled(_COMPLETION.sub("the answer", question), row)
    return {"expected_outcome": question, "levels": levels} if len(levels) > 1 else None
