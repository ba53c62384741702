"""`rubric-ci import` of traces: cases with the questions that were asked, and recorded answers."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import click

from rubric_ci.errors import CannotReadFile, CannotWriteFile, ExitCode
from rubric_ci.files.project import discovery
from rubric_ci.files.project.loader import load
from rubric_ci.files.validation.output.plain_text import headline
from rubric_ci.files.yaml_text.csv_cases import SUFFIXES
from rubric_ci.files.yaml_text.size_limits import MAX_CHARACTERS
from rubric_ci.files.yaml_text.translation import Translation
from rubric_ci.parts.bring.commands.import_targets import as_yaml, write_targets
from rubric_ci.parts.bring.traces import trace_choice, trace_file, written_cases
from rubric_ci.parts.bring.traces.trace_cases import LeftOut, TraceCase, Traces
from rubric_ci.parts.bring.traces.trace_file import Fault, Record
from rubric_ci.system import file_io, masking
from rubric_ci.text import numbers, redact
from rubric_ci.text.escape import log_line
from rubric_ci.text.personal_data import Masker
from rubric_ci.values.diagnostics import Severity

_MOST_BYTES: Final = 4 * MAX_CHARACTERS  # of a line, in UTF-8
_MOST_FAULTS: Final = 20  # that are shown
_NO_TEXT: Final = {
    **dict.fromkeys((".gz", ".zst", ".zip"), "compressed"),
    ".parquet": "Parquet",
}


class TraceChoice(NamedTuple):
    """Options of `rubric-ci import` for traces."""

    form: str = ""  # "": the one that the first record shows
    where: tuple[str, ...] = ()
    sample: int | None = None
    seed: int = 0
    dedupe: bool = False
    mask: tuple[str, ...] = ()


class Chosen(NamedTuple):
    """The wanted cases, masked."""

    cases: list[TraceCase]
    left_out: Counter[str]  # by the option that leaves them out
    masked: Counter[str]  # texts in these cases, by kind


class Output(NamedTuple):
    """The files that an import of traces writes."""

    eval_file: Path
    answers: Path
    targets: Path


def check_readable(file: Path) -> None:
    """Raise CannotReadFile for a file of an export whose name shows that it is not text."""
    if kind := _NO_TEXT.get(file.suffix):
        raise _not_read(file, kind)


def _not_read(file: Path, kind: str) -> CannotReadFile:
    return CannotReadFile(
        f"{file.as_posix()} is {kind}; JSON, JSON Lines and CSV are read",
        "export one of them, or convert it (docs/bring.md)",
    )


def form_of(file: Path) -> str:
    """Return the format of a file that has traces, or ""."""
    if file.suffix not in {".json", ".jsonl", ".ndjson", *SUFFIXES} or not file.is_file():
        return ""
    return trace_file.detected(_records(file))


def import_traces(files: Sequence[Path], output: Output, choice: TraceChoice) -> ExitCode:
    """Write an eval file and recorded answers; return 1 if something of the files was lost."""
    conditions = trace_choice.conditions(choice.where)
    for path in output[:2]:
        if path.exists():
            raise CannotWriteFile(f"{path} exists already", "remove it, or set --output-dir")
    found, faults, left_out = _read(files, choice)
    traces = len(found) + left_out.total()
    chosen = _chosen(found, choice, conditions)
    _say_read(files, traces, left_out + chosen.left_out, faults)
    if chosen.masked:
        click.echo(log_line(f"masked: {_counted(chosen.masked, ', ')}"))
    if not chosen.cases:
        click.echo("no trace is imported")
        return ExitCode.GATE
    lost = _write(chosen.cases, output, written_cases.Origin(_named(files), choice.form))
    for line in lost:
        click.echo(log_line(line))
    say_ungraded(output.eval_file)
    return ExitCode.GATE if lost or faults else ExitCode.OK


def say_ungraded(path: Path) -> None:
    """Name the command that drafts the rubrics of an eval file without any."""
    command = f"rubric-ci generate rubrics {path.as_posix()}"
    click.echo(log_line(f"the cases have no rubrics yet: `{command}` drafts them"))


def _named(files: Sequence[Path]) -> str:
    more = f" and {numbers.plural(len(files) - 1, 'other file')}" if len(files) > 1 else ""
    return f"{files[0].name}{more}"


def _read(
    files: Sequence[Path], choice: TraceChoice
) -> tuple[list[TraceCase], list[str], Counter[str]]:
    """Return the cases, the unreadable lines, and the number of other traces by their reason."""
    traces, faults = Traces(), []
    for file in files:
        for each in trace_file.spans(file.name, _records(file), choice.form):
            if isinstance(each, Fault):
                faults.append(f"{file.as_posix()}:{each.line}:1: not-read: {each.message}")
            else:
                traces.add(each)
    cases: list[TraceCase] = []
    left_out: Counter[str] = Counter()
    for case in traces.cases():
        if isinstance(case, LeftOut):
            left_out[case.reason] += 1
        else:
            cases.append(case)
    return cases, faults, left_out


def _records(file: Path) -> Iterator[Record | Fault]:
    if file.suffix in SUFFIXES:
        return trace_file.rows(discovery.read_text(file))
    return trace_file.records(_lines(file))


def _lines(file: Path) -> Iterator[str]:
    if file.suffix == ".xlsx":
        raise _not_read(file, "a workbook")
    for number, line in enumerate(file_io.read_lines(file, _MOST_BYTES), start=1):
        try:
            too_long = len(line) > _MOST_BYTES  # it is cut, and refused as what it is
            yield line.decode(errors="replace" if too_long else "strict")
        except UnicodeDecodeError as error:
            raise CannotReadFile(
                f"{file.as_posix()}:{number}: byte {error.start} of the line is not UTF-8",
                "save the file as UTF-8",
            ) from None


def _chosen(
    found: Sequence[TraceCase], choice: TraceChoice, conditions: Sequence[trace_choice.Condition]
) -> Chosen:
    """Return the wanted cases."""
    fitting = trace_choice.chosen(found, conditions)
    masked = [_masked(case, choice.mask) for case in fitting]
    cases = [case for case, _ in masked]
    once = trace_choice.each_once(cases) if choice.dedupe else cases
    size = len(once) if choice.sample is None else choice.sample
    kept = trace_choice.sample(once, size, choice.seed)
    drawn = f"by --sample ({len(kept):,} of {len(once):,}, seed {choice.seed})"
    left_out = Counter(
        {
            "by --where": len(found) - len(fitting),
            "by --dedupe": len(cases) - len(once),
            drawn: len(once) - len(kept),
        }
    )
    names = {id(case) for case in kept}
    counts = sum((count for case, count in masked if id(case) in names), Counter[str]())
    return Chosen(kept, +left_out, Counter(dict(sorted(counts.items()))))


def _masked(case: TraceCase, kinds: Iterable[str]) -> tuple[TraceCase, Counter[str]]:
    masker = Masker(kinds, masking.redact)
    kept = ("trace", "span", "file", "attributes", "started")
    return redact.redacted(case, masker, kept), +masker.counts


def _say_read(
    files: Sequence[Path], traces: int, left_out: Counter[str], faults: Sequence[str]
) -> None:
    for line in numbers.counted(faults, _MOST_FAULTS):
        click.echo(log_line(line))
    unread = f", {numbers.plural(len(faults), 'line')} not read" if faults else ""
    click.echo(log_line(f"read {_named(files)}: {numbers.plural(traces, 'trace')}{unread}"))
    if left_out:
        click.echo(log_line(f"left out: {_counted(left_out, '; ')}"))


def _counted(counts: Counter[str], between: str) -> str:
    return between.join(f"{number:,} {name}" for name, number in counts.items())


def _write(cases: Sequence[TraceCase], output: Output, origin: written_cases.Origin) -> list[str]:
    """Write the files; return what is left to do."""
    names = written_cases.identities(cases)
    lines = [
        json.dumps(each, ensure_ascii=False) for each in written_cases.recordings(cases, names)
    ]
    target = f"{output.answers.name.removesuffix('.answers.jsonl')}-recorded" if lines else ""
    found = Translation(written_cases.eval_file(cases, names, origin, target))
    found.keep_braces()
    text = as_yaml(found.data)
    problems = _problems(output.eval_file, text)
    discovery.write_text(output.eval_file, text)
    silent = len(cases) - len(lines)
    without = f", {silent:,} of them without an answer to grade" if silent and lines else ""
    said = f"wrote {output.eval_file.as_posix()}: {numbers.plural(len(cases), 'case')}{without}"
    click.echo(log_line(said))
    if not lines:
        return problems
    discovery.write_text(output.answers, "\n".join(lines) + "\n")
    count = numbers.plural(len(lines), "recorded answer")
    click.echo(log_line(f"wrote {output.answers.as_posix()}: {count}"))
    recorded = {"name": target, "provider": "recorded", "answers": output.answers.name}
    return [*problems, *write_targets([recorded], output.targets)]


def _problems(path: Path, text: str) -> list[str]:
    """Return the errors of the new file, such as that it is too large."""
    root = discovery.find_root(Path.cwd())
    checked = load(discovery.from_root(path, root), text, discovery.lookup(root, path))
    return [headline(each) for each in checked.diagnostics if each.severity is Severity.ERROR]
