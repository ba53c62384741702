"""The figures of `rubric-ci probe` for bad and good criteria, marked by scripted readers.

    .venv/bin/python benchmarks/good_rubrics/measure.py

No model is asked. Each reader takes its criterion at its word: a bad criterion is met by all that
its words allow. How a real judge reads the same words, only a probe with that judge says.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from rubric_ci.files.project.loader import load
from rubric_ci.parts.lab.probe_figures import Share, figures
from rubric_ci.parts.lab.probing import Subject, key, mutations, plan
from rubric_ci.values.evals import RubricSpec
from rubric_ci.values.references import NotFound
from rubric_ci.values.results import Answer, CriterionResult

ANSWER = (
    "You can return the jacket within 30 days. Bring the receipt to the shop. "
    "The parcel costs 5 euros, and we pay it."
)
Reader = Callable[[str], str]
"""The quote of an answer that meets a criterion; empty: it is not met."""


class Row(NamedTuple):
    """A criterion of `docs/good-rubrics.md`, and how a reader takes it."""

    pair: str
    criterion: str
    reads: Reader


def has(*patterns: str) -> Reader:
    """Return a reader that quotes the first sentence with a pattern and without a negation."""

    def reads(answer: str) -> str:
        for match in re.finditer(r"[^.!?\n]+[.!?]?", answer):
            sentence = match.group()
            plain = re.sub(r"[*_]", "", " ".join(sentence.split()))
            if re.search(r"\b(?:not|cannot)\b", plain):
                continue
            if any(re.search(pattern, plain, re.IGNORECASE) for pattern in patterns):
                return sentence.strip()
        return ""

    return reads


def anything(answer: str) -> str:
    """Read a criterion that any text meets."""
    return answer.partition(".")[0]


def two_of(*patterns: str) -> Reader:
    """Return a reader that wants two of the patterns and quotes their sentences."""

    def reads(answer: str) -> str:
        found = [quote for pattern in patterns if (quote := has(pattern)(answer))]
        return " ... ".join(found) if len(found) > 1 else ""

    return reads


ROWS = (
    Row("compound", "Names the limit and says who pays the parcel", has("days", "we pay")),
    Row("", "Names the limit of 30 days", has("30 days")),
    Row("vague", "Gives a helpful answer", anything),
    Row("", "Says to bring the receipt", has("bring the receipt")),
    Row(
        "count",
        "Names two of the three: limit, receipt, cost of the parcel",
        two_of("days", "receipt", "parcel costs"),
    ),
    Row("", "Says that the parcel costs 5 euros", has("costs 5 euros")),
    Row("not seen", "Gives the steps as in the ticket", anything),
    Row("", "Says to bring the receipt to the shop", has("receipt to the shop")),
)


def measure(row: Row) -> tuple[Share, Share, str]:
    """Return both shares and the word for a criterion of one answer."""
    text = f"evalcases:\n- id: a\n  input: Can I return it?\n  rubrics:\n  - '{row.criterion}'\n"
    loaded = load("a.eval.yaml", text, lambda _: NotFound("no files"))
    assert loaded.eval_file
    (case,) = loaded.eval_file.cases
    (spec,) = (each for each in case.evaluators if isinstance(each, RubricSpec))
    subject = Subject(case=case, spec=spec, given=Answer(text=ANSWER), criteria=spec.rubric.judged)
    (criterion,) = subject.criteria

    def mark(answer: str) -> dict[str, CriterionResult]:
        quote = row.reads(answer)
        return {
            criterion.id: CriterionResult(
                id=criterion.id,
                kind="checklist",
                line=1,
                text=criterion.text,
                weight=1.0,
                mark=bool(quote),
                normalised=float(bool(quote)),
                gated=False,
                evidence=quote,
            )
        }

    before = mark(ANSWER)
    planned = plan([(subject, before)], 10)
    marks = {n: mark(trial.variant.text) for n, trial in enumerate(planned.trials)}
    return figures([each for _, _, each in mutations(planned, marks, {key(subject): before})])


def table() -> str:
    """Return the rows as Markdown."""
    lines = ["| fault | criterion | noticed | unmoved | word |", "|---|---|---|---|---|"]
    for row in ROWS:
        noticed, unmoved, word = measure(row)
        shares = " | ".join(f"{share.hit} of {share.of}" for share in (noticed, unmoved))
        lines.append(
            f"| {row.pair or 'none'} | {row.criterion} | {shares} | {word.replace('-', ' ')} |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(table(), end="")
