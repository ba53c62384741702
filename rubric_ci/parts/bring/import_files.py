"""`rubric-ci import`: eval files of other tools, translated."""

import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from importlib import resources
from itertools import islice
from pathlib import Path
from posixpath import join, normpath
from typing import Any, Final, NamedTuple

import click

from rubric_ci.errors import CannotConfigure, CannotReadFile, ExitCode, InvalidInput, MissingExtra
from rubric_ci.files.project import working_tree
from rubric_ci.files.project.loader import load
from rubric_ci.files.project.project import Project
from rubric_ci.files.validation import schema
from rubric_ci.files.validation.located_problems import diagnose
from rubric_ci.files.validation.problem_formats import headline
from rubric_ci.files.validation.rubric_files import ENDING
from rubric_ci.files.validation.validator import check_rubric
from rubric_ci.files.yaml_text import csv_cases
from rubric_ci.files.yaml_text.csv_cases import Cell
from rubric_ci.files.yaml_text.document import Document
from rubric_ci.files.yaml_text.source import STOPPED, Source, open_source
from rubric_ci.parts.bring.dialects import github_models, openai_evals, promptfoo, rubric_formats
from rubric_ci.parts.bring.dialects.golden_sets_and_tables import (
    Table,
    split_workbook,
    translate_json,
    translate_table,
    workbook_rows,
)
from rubric_ci.parts.bring.dialects.promptfoo_code import VARIABLES
from rubric_ci.parts.bring.import_traces import (
    TARGETS,
    Output,
    TraceChoice,
    as_yaml,
    check_new,
    check_readable,
    errors,
    form_of,
    import_traces,
    say_ungraded,
    say_written,
    write_targets,
)
from rubric_ci.parts.bring.other_tools import (
    has_our_keys,
    list_of,
    outcome,
    recognise,
    recognise_lines,
)
from rubric_ci.parts.bring.translation import (
    CASE_NOT_SUPPORTED,
    FIXTURE_MISSING,
    Beside,
    TranslatedSource,
    Translation,
)
from rubric_ci.system import file_io
from rubric_ci.system.installation import install_command
from rubric_ci.text import numbers
from rubric_ci.text.escape import log_line
from rubric_ci.values.diagnostics import Severity
from rubric_ci.values.formats_and_defaults import TRACE_FORMATS
from rubric_ci.values.json_value import nodes
from rubric_ci.values.references import Found, Lookup


class ImportSettings(NamedTuple):
    files: tuple[Path, ...]
    output_dir: Path | None = None  # None: next to each file
    traces: TraceChoice = TraceChoice()


def import_files(settings: ImportSettings) -> ExitCode:
    """Write a file for each; return 1 if something of them was lost, after saying what.

    Files of traces are read together, as one export in several files, and become one eval file.
    """
    for file in settings.files:
        check_readable(file)
    form = settings.traces.form or form_of(settings.files[0])
    if form in {"", "otlp"}:
        for file in settings.files:
            _check_spans(file)
    if form:
        return import_traces(settings.files, _output(settings), settings.traces._replace(form=form))
    if settings.traces != TraceChoice():
        raise CannotConfigure(
            f"{settings.files[0].as_posix()} has no traces that are recognised, and --where, "
            "--sample, --seed, --dedupe and --mask are for traces",
            f"name their format: --from {' | '.join(TRACE_FORMATS)}",
        )
    root = working_tree.find_root(Path.cwd())
    lost = [line for file in settings.files for line in _import(file, settings, root)]
    for line in lost:
        click.echo(log_line(line))
    if lost:
        click.echo(f"{numbers.plural(len(lost), 'part')} of the files not imported, see above")
    return ExitCode.GATE if lost else ExitCode.OK


def _output(settings: ImportSettings) -> Output:
    """Return the files of an import of traces: named as the first one."""
    first = settings.files[0]
    folder = settings.output_dir or first.parent
    stem = _stem(first)
    return Output(folder / f"{stem}.eval.yaml", folder / f"{stem}.answers.jsonl", folder / TARGETS)


def _import(file: Path, settings: ImportSettings, root: Path) -> list[str]:
    """Write our file of one file; return what it lacks, each with its line."""
    folder = settings.output_dir or file.parent
    source = _translated(file, folder)
    problems = diagnose(source, [])
    lost = [
        each for each in problems if each.severity is Severity.ERROR or each.rule in _OF_STOPPED
    ]
    theirs = [headline(replace(each, severity=Severity.ERROR)) for each in lost]
    for each in problems:
        if each.severity is Severity.WARNING and each not in lost:
            click.echo(log_line(headline(each)))
    if "evalcases" not in source.data:
        return [*theirs, *_import_rubric(source.data, file, folder, root)]
    source.data["evalcases"] = [each for each in source.data["evalcases"] if STOPPED not in each]
    if not source.data["evalcases"]:
        click.echo(log_line(f"no case of {file.as_posix()} is imported"))
        return theirs or [f"{file.as_posix()}:1:1: there is no case"]
    target = folder / f"{_stem(file)}.eval.yaml"
    variables = [folder / name for name, _ in _variables(source.found, _stem(file))]
    check_new(target, *variables)
    theirs += _beside(source.found, file, folder)
    lookup = working_tree.lookup(root, target)
    _keep_files(source.data, working_tree.lookup(root, file), lookup)
    ungraded = [] if _GRADE & source.data.keys() else source.data["evalcases"]
    ungraded = [each for each in ungraded if _GRADE.isdisjoint(each)]
    for case in ungraded:
        known = outcome(has_reference=not _REFERENCE.isdisjoint(case))
        case.setdefault("expected_outcome", known)
    text = as_yaml(source.data)
    checked = load(working_tree.from_root(target, root), text, lookup)
    working_tree.write_text(target, text)
    say_written(target, numbers.plural(len(source.data["evalcases"]), "case"))
    if len(ungraded) == len(source.data["evalcases"]):
        say_ungraded(target)
    return [*theirs, *errors(checked.diagnostics)]


def _import_rubric(data: Any, file: Path, folder: Path, root: Path) -> list[str]:
    if not data.get("criteria"):
        click.echo(log_line(f"no criterion of {file.as_posix()} is imported"))
        return []
    target = folder / f"{_stem(file)}{ENDING}"
    check_new(target)
    text = as_yaml(data)
    working_tree.write_text(target, text)
    criteria = numbers.plural(len(data["criteria"]), "criterion", "criteria")
    say_written(target, f"{criteria}; `- include: {target.name}`")
    name = working_tree.from_root(target, root)
    found, _ = check_rubric(name, text, working_tree.lookup(root, target))
    return errors(found)


_GRADE: Final = frozenset(("rubrics", "evaluators", "execution", "turns"))
_REFERENCE: Final = frozenset(("expected_output", "expected_messages"))
_OF_STOPPED: Final = (FIXTURE_MISSING.id, CASE_NOT_SUPPORTED.id)
"""Problems of a case that gets no verdict where it is: it is not imported."""


def _keep_files(data: Any, theirs: Lookup, ours: Lookup) -> None:
    """Name files of messages and prompts from the root where the new file would not find them."""
    keys = {"file": "value", "image": "value", "llm_judge": "prompt"}
    for each in _mappings(data):
        key = keys.get(str(each.get("type")), "")
        written = each.get(key)
        found = theirs(written) if isinstance(written, str) else None
        named = found if found is None or isinstance(found, Found) else found.media
        if named and isinstance(written, str) and ours(written) != found:
            each[key] = f"/{named.path}"


def _moved(data: Any, base: str) -> None:
    """Let the folders of workspaces and scripts count from the folder of the new file."""
    workspace = data.get("workspace", {})
    if "copy" in workspace:
        workspace["copy"] = normpath(join(base, workspace["copy"]))
    for hook in workspace.get("hooks", {}).values():
        hook["cwd"] = normpath(join(base, hook.get("cwd", ".")))
    for each in _mappings(data):
        if "script" in each and base != ".":
            each["cwd"] = normpath(join(base, each.get("cwd", ".")))


def _mappings(data: Any) -> list[dict[str, Any]]:
    return [each for _, each in nodes(data) if isinstance(each, dict)]


def _beside(found: Translation, file: Path, folder: Path) -> list[str]:
    """Write the scripts, images and targets of the cases; return the targets that are not."""
    for name in sorted(found.shims):
        shim = resources.files("rubric_ci.parts.bring.dialects") / "shims" / name
        working_tree.write_text(folder / name, shim.read_text(encoding="utf-8"))
        say_written(folder / name)
    for name, data in (*found.images.items(), *_variables(found, _stem(file))):
        file_io.write(folder / name, data)
        say_written(folder / name)
    lost = write_targets(found.targets, folder / TARGETS) if found.targets else []
    return [f"{file.as_posix()}: {line}" for line in lost]


def _variables(found: Translation, stem: str) -> Iterator[tuple[str, bytes]]:
    """Yield the file with the variables of each case, if a program reads them."""
    name = f"{stem}{VARIABLES}"
    if any(name in each.get("command_template", "") for each in found.targets):
        cases = {each["id"]: found.variables[each["id"]] for each in found.data["evalcases"]}
        yield name, json.dumps(cases, ensure_ascii=False, indent=1, default=str).encode()


_PROTOBUF: Final = frozenset((".pb", ".binpb"))
_PRINTED_SPAN: Final = re.compile(rb'"trace_id":\s*"0x[0-9a-f]{32}"')
_AS_JSON: Final = (
    "export OTLP JSON, one request per line, as the `file` exporter of the OpenTelemetry Collector "
    "writes it, and import that file"
)


def _check_spans(file: Path) -> None:
    """Raise CannotConfigure for spans in another form than OTLP JSON."""
    if file.suffix in _PROTOBUF:
        raise CannotConfigure(f"{file.as_posix()} is OTLP in Protobuf", _AS_JSON)
    if not file.is_file():
        return
    if _PRINTED_SPAN.search(b"".join(islice(file_io.read_lines(file, 10_000), 10))):
        printed = f"{file.as_posix()} has spans as the SDK of OpenTelemetry prints them"
        raise CannotConfigure(printed, _AS_JSON)


def _translated(file: Path, folder: Path) -> TranslatedSource:
    if file.is_dir():
        message = "an empty name, or a folder, is not a file"
        raise CannotReadFile(message, "name the files to import")
    book = split_workbook(file.name)
    text = "" if book else working_tree.read_text(file)
    base = Path(os.path.relpath(file.parent, folder)).as_posix()
    root = working_tree.find_root(file.parent.absolute())
    beside = Beside(
        lambda name: _text_in_repository(file.parent / name, root),
        base,
        lambda name: _fitting(file.parent, name),
        _stem(file),
    )
    if (rows := _rows(file, text)) is not None:
        table = Table(file.as_posix(), rows, text)
        return TranslatedSource(table, translate_table(table.data, beside))
    project = Project(working_tree.WorkingTree(root=root))
    finder = project.case_finder(working_tree.from_root(file, root))
    sidecar = working_tree.sidecar_of(file)
    suite = working_tree.read_text(sidecar) if sidecar else None
    document = open_source(file.as_posix(), text, suite, finder)
    if isinstance(document, TranslatedSource):
        _moved(document.data, base)
        return document
    if not document.readable:
        raise InvalidInput(f"{file.as_posix()} is not YAML or JSON", "see `rubric-ci validate`")
    data = document.data
    if promptfoo.matches(data):
        document = Document(file.as_posix(), text, core=True)
        found = promptfoo.translate(document.data, beside)
        for path in document.ambiguous_paths("date"):
            promptfoo.refuse_date(found, path)
        return TranslatedSource(document, found)
    if (rubric := rubric_formats.rubric_of(data, _stem(file))) is not None:
        return TranslatedSource(document, rubric)
    for each in (github_models, openai_evals):
        if each.matches(data):
            return TranslatedSource(document, each.translate(data, beside, file.name))
    if list_of(data) is not None and not _is_ours(document):
        return TranslatedSource(document, translate_json(data, beside))
    _signpost(file, data)
    raise CannotConfigure(
        f"{file.as_posix()} is not a file of Agent Skills, AgentV 2.7 to 5, promptfoo, OpenAI "
        "Evals, HealthBench or GitHub Models, no rubric of AutoRubric, rubric-kit or autoevals, no "
        "table and no golden set",
        "write `evalcases` with `id`, `input` and `rubrics` (docs/evals.md)",
    )


def _rows(file: Path, text: str) -> Iterable[list[Cell]] | None:
    """Return the rows of a table or of the sheet of a workbook; None: the file is neither."""
    if book := split_workbook(file.name):
        place = file.with_name(book[0])
        try:
            return list(workbook_rows(place.as_posix(), working_tree.read_bytes(place), book[1]))
        except ImportError as error:
            message = f"reading {place.as_posix()} needs python-calamine, which is missing"
            raise MissingExtra(message, install_command("xlsx")) from error
    return csv_cases.table(text) if file.suffix in csv_cases.SUFFIXES else None


def _is_ours(source: Source) -> bool:
    """Return True for cases as an eval file has them, with their ids."""
    cases = source.data if isinstance(source.data, list) else source.data.get("evalcases")
    return isinstance(cases, list) and schema.fits("eval", {"evalcases": cases})


def _signpost(file: Path, data: Any) -> None:
    """Raise CannotConfigure with a hint for a file that needs no import, or has no cases."""
    name = file.as_posix()
    lines = data["evalcases"] if isinstance(data, dict) and file.suffix == ".jsonl" else []
    if found := recognise_lines(lines, name):
        raise CannotConfigure(f"{name}: {found.message}", found.hint)
    if isinstance(data, dict) and "evalcases" in data and (not lines or has_our_keys(lines)):
        ours = f"{name} is an eval file of rubric-ci already"
        raise CannotConfigure(ours, f"run `rubric-ci run {name}`")
    if isinstance(data, list):
        message = f"{name} is a list of cases, which needs no import"
        raise CannotConfigure(message, f"name it in an eval file: `evalcases: {name}`")
    if found := recognise(data, name):
        raise CannotConfigure(f"{name}: {found.message}", found.hint)


def _fitting(folder: Path, glob: str) -> list[str]:
    if Path(glob).is_absolute() or ".." in Path(glob).parts:
        return []
    try:
        return sorted(each.relative_to(folder).as_posix() for each in folder.glob(glob))
    except ValueError:  # a text with `**` in a word is not a glob
        return []


def _text_in_repository(path: Path, root: Path) -> str | None:
    """Return the text of a file of the repository, if it can be read."""
    if not file_io.is_inside(os.path.realpath(path), os.path.realpath(root)):
        return None
    try:
        return working_tree.read_text(path)
    except CannotReadFile:
        return None


def _stem(file: Path) -> str:
    """Return the name without what says that it is an eval file."""
    stem = file.name.partition(".xlsx#")[0] if ".xlsx#" in file.name else file.stem
    for end in (".eval", ".EVAL", ".prompt", ".rubric"):
        stem = stem.removesuffix(end)
    return stem
