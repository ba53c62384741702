"""The exact diagnostics of every file in `invalid/`: `make golden` writes them again."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from rubric_ci.files.yaml_text.source import open_source
from rubric_ci.values.diagnostics import Diagnostic
from rubric_ci.files.project.working_tree import lookup, sidecar_of
from rubric_ci.files.validation.located_problems import to_diagnostic
from rubric_ci.files.validation.rules import apply_suppressions
from rubric_ci.files.validation.includes import with_includes
from rubric_ci.files.validation.validator import Surroundings, check_evals
from rubric_ci.values.problems import LocatedProblem
from rubric_ci.files.yaml_text.source import decode

FOLDER = Path(__file__).parent


def evals(folder: str) -> list[Path]:
    """Return the eval files of a folder; sidecars belong to their lines."""
    found = (
        path for path in sorted((FOLDER / folder).iterdir()) if path.suffix in {".yaml", ".jsonl"}
    )
    return [
        path for path in found if not path.with_suffix(".jsonl").exists() or path.suffix == ".jsonl"
    ]


@cache
def diagnostics(path: Path) -> tuple[Diagnostic, ...]:
    """Check one file as `rubric-ci validate` does."""
    text = decode(path.read_bytes())
    if isinstance(text, LocatedProblem):
        return (to_diagnostic(path.name, text, ()),)
    suite = sidecar_of(path)
    sidecar = suite.read_text(encoding="utf-8") if suite else None
    find = lookup(FOLDER, path)
    source = with_includes(
        open_source(path.name, text, sidecar, lambda name: [find(name)]), find
    )
    return apply_suppressions(check_evals(source, Surroundings(find)), source.texts(), {})


def report(path: Path) -> str:
    """Return the diagnostics of one file, one a line."""
    return "".join(f"{line}\n" for line in _lines(path))


def _lines(path: Path) -> Iterator[str]:
    for found in diagnostics(path):
        span = found.span
        place = f"{found.file}:{span.line}:{span.column}-{span.end_line}:{span.end_column}"
        hint = f"; {found.hint}" if found.hint else ""
        yield f"{place}: {found.severity.value}: {found.rule}: {found.message}{hint}"


if __name__ == "__main__":
    for path in evals("invalid"):
        path.with_suffix(".txt").write_text(report(path), encoding="utf-8")
