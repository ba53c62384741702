"""The table of `docs/calibration.md` with what the scan finds in the shipped attacks.

`make golden` writes it.
"""

from pathlib import Path

from rubric_ci.files.project.loader import load
from rubric_ci.models.judge.injection_scan import scan_for_injection
from rubric_ci.parts.lab import attack_corpus
from rubric_ci.parts.lab.attack_corpus import Probe, probes
from rubric_ci.parts.lab.judge_attack import images_below
from rubric_ci.values.references import NotFound

PAGE = Path(__file__).parents[2] / "docs/calibration.md"
SHIPPED = Path(attack_corpus.__file__).with_name("attacks.eval.yaml")
START, END = "<!-- scan: made by `make golden` -->", "<!-- end of scan -->"


def page(text: str) -> str:
    """Return the page with its table."""
    before, start, rest = text.partition(START)
    _, end, after = rest.partition(END)
    assert start, f"the page has no line {START}"
    assert end, f"the page has no line {END}"
    return f"{before}{start}\n{table()}\n{end}{after}"


def shipped() -> tuple[Probe, ...]:
    loaded = load("a.yaml", SHIPPED.read_text(encoding="utf-8"), lambda _: NotFound("nothing"))
    assert loaded.eval_file
    return probes(loaded.eval_file.cases, images_below(SHIPPED.parent))[0]


def table() -> str:
    """Return what the scan finds in each family of the corpus, and the ids that it misses."""
    rows: dict[str, list[str]] = {}
    totals: dict[str, int] = {}
    for probe in shipped():
        criteria = [criterion.text for criterion in probe.rubric]
        missed = rows.setdefault(probe.family, [])
        totals[probe.family] = totals.get(probe.family, 0) + 1
        if not scan_for_injection(probe.answer, question=probe.case.question, criteria=criteria):
            missed.append(probe.case.id.removeprefix(f"{probe.family}-"))
    lines = ["| family | answers | found | not found |", "|---|--:|--:|---|"]
    for name, missed in sorted(rows.items()):
        # RUF001: a dash of a table, not a minus
        shown = "all" if len(missed) == totals[name] else ", ".join(missed) or "–"  # noqa: RUF001
        lines.append(f"| {name} | {totals[name]} | {totals[name] - len(missed)} | {shown} |")
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
