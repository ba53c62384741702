"""Gradings of Agent Skills: `benchmark.json`, or the `grading.json` of one run.

`expectations` is skill-creator's name, `assertion_results` agentskills.io's. Neither marks a
failure of the infrastructure: a run without a grading is left out by the tool.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rubric_ci.files.parsing.typed_json import Mismatch
from rubric_ci.parts.bring.adoption.samples import Check, Data, Sample, json_data, text_of

_LISTS = ("expectations", "assertion_results", "assertions")
COMPARED = "with_skill"
"""The configuration that is graded; the others are what it is compared with by the tool."""


def read(text: str) -> Iterator[Sample]:
    """Yield the runs with the skill; runs of one eval are trials."""
    data = json_data(text)
    if data.get("runs") is None:
        yield _sample("grading", data, data)
        return
    for run in data.items("runs"):
        if run.text("configuration", COMPARED) == COMPARED:
            name = f"eval-{text_of(run.get('eval_id'))}"
            yield replace(_sample(name, run, run.at("result")), is_run=True)


def _sample(name: str, run: Data, result: Data) -> Sample:
    found = [(key, list(run.items(key))) for key in _LISTS]
    marks = next((marks for _, marks in found if marks), [])
    if not marks and result.at("summary").value is None and result.get("pass_rate") is None:
        raise Mismatch(f"{run.path or 'the file'} has none of {', '.join(_LISTS)}")
    checks = tuple(
        Check(
            name=f"expectation-{number}",
            passed=mark.flag("passed"),
            text=mark.text("text", ""),
            reason=mark.text("evidence", ""),
        )
        for number, mark in enumerate(marks, 1)
    )
    return Sample(
        id=name,
        checks=checks,
        error=_uncounted(checks, result) if checks else "",
        skipped="" if checks else "its expectations are not in this file",
    )


def _uncounted(checks: Sequence[Check], result: Data) -> str:
    """Return how the counts of a summary exceed its expectations; empty: they do not."""
    told = result.at("summary") if result.at("summary").value is not None else result
    here = {
        "passed": sum(check.passed is True for check in checks),
        "failed": sum(check.passed is False for check in checks),
        "total": len(checks),
    }
    said = {key: int(told.number(key) or 0) for key in here}
    more = [f"`{key}` is {said[key]:,}, {n:,} listed" for key, n in here.items() if said[key] > n]
    return f"its summary counts more expectations: {', '.join(more)}" if more else ""
