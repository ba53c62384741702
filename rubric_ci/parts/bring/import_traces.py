"""`rubric-ci import` of traces: cases with the questions that were asked, and recorded answers."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import click
import yaml

from rubric_ci.errors import CannotReadFile, CannotWriteFile, ExitCode
from rubric_ci.files.project import working_tree
from rubric_ci.files.project.loader import load
from rubric_ci.files.validation.problem_formats import headline
from rubric_ci.files.yaml_text.csv_cases import SUFFIXES
from rubric_ci.files.yaml_text.document import MAX_CHARACTERS
from rubric_ci.parts.bring import trace_cases, trace_file
from rubric_ci.parts.bring.chat_messages import as_input
from rubric_ci.parts.bring.other_tools import outcome
from rubric_ci.parts.bring.trace_cases import LeftOut, Masker, TraceCase, Traces
from rubric_ci.parts.bring.trace_file import Fault, Record
from rubric_ci.parts.bring.translation import Translation
from rubric_ci.system import file_io, output_and_masking
from rubric_ci.text import numbers, redact
from rubric_ci.text.escape import log_line
from rubric_ci.values.diagnostics import Diagnostic
from rubric_ci.values.json_value import JSON
from rubric_ci.values.problems import errors_of

_MOST_BYTES: Final = 4 * MAX_CHARACTERS  # of a line, in UTF-8
_MOST_FAULTS: Final = 20  # that are shown
_NO_TEXT: Final = {**dict.fromkeys((".gz", ".zst", ".zip"), "compressed"), ".parquet": "Parquet"}


class TraceChoice(NamedTuple):
    form: str = ""  # "": the one that the first record shows
    where: tuple[str, ...] = ()
    sample: int | None = None
    seed: int = 0
    dedupe: bool = False
    mask: tuple[str, ...] = ()


class Chosen(NamedTuple):
    cases: list[TraceCase]
    left_out: Counter[str]  # by the option that leaves them out
    masked: Counter[str]  # texts in these cases, by kind


class Output(NamedTuple):
    eval_file: Path
    answers: Path
    targets: Path


class Origin(NamedTuple):
    file: str
    form: str


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


def check_new(*paths: Path) -> None:
    """Raise CannotWriteFile for a file that is there."""
    for path in paths:
        if path.exists():
            raise CannotWriteFile(f"{path} exists already", "remove it, or set --output-dir")


def import_traces(files: Sequence[Path], output: Output, choice: TraceChoice) -> ExitCode:
    """Write an eval file and recorded answers; return 1 if something of the files was lost."""
    conditions = trace_cases.conditions(choice.where)
    check_new(output.eval_file, output.answers)
    found, faults, left_out = _read_traces(files, choice)
    traces = len(found) + left_out.total()
    chosen = _chosen(found, choice, conditions)
    _say_read(files, traces, left_out + chosen.left_out, faults)
    if chosen.masked:
        click.echo(log_line(f"masked: {_counted(chosen.masked, ', ')}"))
    if not chosen.cases:
        click.echo("no trace is imported")
        return ExitCode.GATE
    lost = _write(chosen.cases, output, Origin(_named(files), choice.form))
    for line in lost:
        click.echo(log_line(line))
    say_ungraded(output.eval_file)
    return ExitCode.GATE if lost or faults else ExitCode.OK


def say_written(path: Path, parts: str = "") -> None:
    click.echo(log_line(f"wrote {path.as_posix()}{': ' if parts else ''}{parts}"))


def say_ungraded(path: Path) -> None:
    """Name the command that drafts the rubrics of an eval file without any."""
    command = f"rubric-ci generate rubrics {path.as_posix()}"
    click.echo(log_line(f"the cases have no rubrics yet: `{command}` drafts them"))


def _named(files: Sequence[Path]) -> str:
    more = f" and {numbers.plural(len(files) - 1, 'other file')}" if len(files) > 1 else ""
    return f"{files[0].name}{more}"


def _read_traces(
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
        return trace_file.rows(working_tree.read_text(file))
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
    found: Sequence[TraceCase], choice: TraceChoice, conditions: Sequence[trace_cases.Condition]
) -> Chosen:
    fitting = trace_cases.chosen(found, conditions)
    masked = [_masked(case, choice.mask) for case in fitting]
    cases = [case for case, _ in masked]
    once = trace_cases.each_once(cases) if choice.dedupe else cases
    size = len(once) if choice.sample is None else choice.sample
    kept = trace_cases.sample(once, size, choice.seed)
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
    masker = Masker(kinds, output_and_masking.redact)
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


def _write(cases: Sequence[TraceCase], output: Output, origin: Origin) -> list[str]:
    """Write the files; return what is left to do."""
    names = identities(cases)
    lines = [json.dumps(each, ensure_ascii=False) for each in recordings(cases, names)]
    target = f"{output.answers.name.removesuffix('.answers.jsonl')}-recorded" if lines else ""
    found = Translation(eval_file(cases, names, origin, target))
    found.keep_braces()
    text = as_yaml(found.data)
    root = working_tree.find_root(Path.cwd())
    name, lookup = (
        working_tree.from_root(output.eval_file, root),
        working_tree.lookup(root, output.eval_file),
    )
    problems = errors(load(name, text, lookup).diagnostics)  # such as that it is too large
    working_tree.write_text(output.eval_file, text)
    silent = len(cases) - len(lines)
    without = f", {silent:,} of them without an answer to grade" if silent and lines else ""
    say_written(output.eval_file, f"{numbers.plural(len(cases), 'case')}{without}")
    if not lines:
        return problems
    working_tree.write_text(output.answers, "\n".join(lines) + "\n")
    say_written(output.answers, numbers.plural(len(lines), "recorded answer"))
    recorded = {"name": target, "provider": "recorded", "answers": output.answers.name}
    return [*problems, *write_targets([recorded], output.targets)]


def errors(found: Iterable[Diagnostic]) -> list[str]:
    return [headline(each) for each in errors_of(found)]


TARGETS: Final = "targets.yaml"


def write_targets(targets: Sequence[Mapping[str, Any]], path: Path) -> list[str]:
    """Write a targets file; if there is one, print what to add, and return that it lacks it."""
    if path.exists():
        names = numbers.listed([f"`{each['name']}`" for each in targets])
        click.echo(log_line(f"add to {path.as_posix()}, under `targets`:"))
        for line in as_yaml(targets).splitlines():
            indent = " " * (2 + len(line) - len(line.lstrip()))
            click.echo(f"{indent}{log_line(line)}")
        return [f"{path.as_posix()} exists already; define {names} in it"]
    working_tree.write_text(path, as_yaml({"targets": targets}))
    say_written(path, numbers.plural(len(targets), "target"))
    return []


def as_yaml(data: Any) -> str:
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)


class _Dumper(yaml.SafeDumper):
    """Quotes a text with `- `, because a folded line that starts with it looks like an item."""


def _scalar(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "'" if " - " in text and "\n" not in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _scalar)


_SHORTEST: Final = 8  # characters of a trace's id in the id of its case


def identities(cases: Sequence[TraceCase]) -> list[str]:
    """Return an id for each case: the start of its trace's id, as long as it takes to differ."""
    names = [case.trace.replace("-", "") for case in cases]
    length, longest = _SHORTEST, max(map(len, names), default=0)
    while length < longest and len({name[:length] for name in names}) < len(names):
        length += 4
    # Several roots of a trace have its id.
    return list(numbers.numbered(f"trace-{name[:length]}" for name in names))


def eval_file(
    cases: Sequence[TraceCase], names: Sequence[str], origin: Origin, target: str
) -> dict[str, Any]:
    """Return the data of the eval file; the target is "" if no case has an answer."""
    about = {"description": f"Imported from {origin.form} traces of {origin.file}"}
    execution = {"execution": {"target": target}} if target else {}
    written = [_eval_case(case, name, origin) for case, name in zip(cases, names, strict=True)]
    return {**about, **execution, "evalcases": written}


def recordings(cases: Iterable[TraceCase], names: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield the recorded answer of each case that has one."""
    for case, name in zip(cases, names, strict=True):
        if has_answer(case):
            yield {"id": name, "answer": case.answer, **_work(case), **_rounded(case.measures)}


def has_answer(case: TraceCase) -> bool:
    return bool(case.answer or case.steps)


def _eval_case(case: TraceCase, name: str, origin: Origin) -> dict[str, Any]:
    messages = as_input(case.question)
    alone = len(messages) == 1 and messages[0].keys() == {"role", "content"}
    is_text = alone and messages[0]["role"] == "user" and messages[0]["content"].strip()
    asked = {"input": messages[0]["content"]} if is_text else {"input_messages": messages}
    known = {"expected_outcome": outcome(has_reference=bool(case.expected))}
    known |= {"expected_output": case.expected} if case.expected else {}
    tags = list(
        dict.fromkeys((*case.tags, *(each.tag for each in case.feedback if each.value is not None)))
    )
    tags += ["error"] if case.error else []
    return {
        "id": name,
        **asked,
        **known,
        **({"tags": tags} if tags else {}),
        "metadata": _metadata(case, origin),
    }


def _metadata(case: TraceCase, origin: Origin) -> dict[str, Any]:
    comments = [
        {"name": each.name, "value": each.value, "comment": each.comment}
        for each in case.feedback
        if each.comment
    ]
    place = {"file": case.file, "line": case.line, "format": origin.form, "id": case.trace}
    facts = {
        "span": case.span if case.span != case.trace else "",
        "name": case.name,
        "error": case.error,
        "feedback": comments,
        **case.rest,
    }
    return {"trace": {**place, **{key: fact for key, fact in facts.items() if fact}}}


def _work(case: TraceCase) -> dict[str, JSON]:
    """Return the messages of an answer whose work has steps."""
    calls = []
    for step in case.steps:
        facts = {
            "input": step.arguments,
            "output": step.result,
            "error": step.error,
            "duration_ms": step.duration_ms,
        }
        known = {key: fact for key, fact in facts.items() if fact not in ("", None)}
        calls.append({"tool": step.tool, **_rounded(known)})
    if not calls:
        return {}
    last = {"role": "assistant", "content": case.answer}
    return {"output_messages": [{"role": "assistant", "tool_calls": calls}, last]}


def _rounded(facts: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return facts with a duration to the microsecond."""
    took = facts.get("duration_ms")
    return {**facts, **({} if took is None else {"duration_ms": round(took, 3)})}
