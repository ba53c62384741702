"""`rubric-ci import`: eval files of other tools as files of ours."""

from pathlib import Path
from typing import NamedTuple

import click
import yaml

from rubric_ci.dialects import promptfoo
from rubric_ci.dialects.table import dialect_of
from rubric_ci.dialects.translation import TranslatedSource
from rubric_ci.errors import CannotConfigure, CannotWriteFile, ExitCode, InvalidInput
from rubric_ci.model.diagnostics import Severity
from rubric_ci.project import discovery
from rubric_ci.project.loader import load
from rubric_ci.text import numbers
from rubric_ci.text.escape import log_line
from rubric_ci.validation.diagnostics import diagnose
from rubric_ci.validation.output.text import headline
from rubric_ci.yaml_text.document import Document


class ImportSettings(NamedTuple):
    """Options of `rubric-ci import`."""

    files: tuple[Path, ...]
    output_dir: Path | None = None  # None: beside each file


def import_files(settings: ImportSettings) -> ExitCode:
    """Write a file for each; return 1 if something of them was lost, after saying what."""
    root = discovery.find_root(Path.cwd())
    lost = [line for file in settings.files for line in _import(file, settings, root)]
    for line in lost:
        click.echo(log_line(line))
    if lost:
        click.echo(f"{numbers.plural(len(lost), 'part')} of the files not imported, see above")
    return ExitCode.GATE if lost else ExitCode.OK


def _import(file: Path, settings: ImportSettings, root: Path) -> list[str]:
    """Write our file of one file; return what it lacks, each with its line."""
    source = _translated(file)
    theirs = [headline(each) for each in diagnose(source, [])]
    if not source.data["evalcases"]:
        click.echo(log_line(f"{file.as_posix()}: no case is imported"))
        return theirs or [f"{file.as_posix()}: no case"]
    target = (settings.output_dir or file.parent) / f"{_stem(file)}.eval.yaml"
    if target.exists():
        raise CannotWriteFile(f"{target} exists already", "remove it, or set --output-dir")
    text = yaml.safe_dump(source.data, sort_keys=False, allow_unicode=True, width=100)
    lookup = discovery.lookup(root, target)
    checked = load(discovery.from_root(target, root), text, lookup)
    discovery.write_text(target, text)
    cases = numbers.plural(len(source.data["evalcases"]), "case")
    click.echo(log_line(f"wrote {target.as_posix()}: {cases}"))
    errors = [each for each in checked.diagnostics if each.severity is Severity.ERROR]
    return [*theirs, *map(headline, errors)]


def _translated(file: Path) -> TranslatedSource:
    document = Document(file.as_posix(), discovery.read_text(file))
    if not document.readable:
        raise InvalidInput(f"{file.as_posix()} is not YAML or JSON", "see `rubric-ci validate`")
    dialect = dialect_of(document.data)
    if dialect is None and promptfoo.matches(document.data):
        dialect = promptfoo
    if dialect is None:
        raise CannotConfigure(
            f"{file.as_posix()} is no file of Agent Skills, AgentV 2.7 to 5 or promptfoo",
            "write `evalcases` with `id`, `input` and `rubrics` (docs/evals.md)",
        )
    return TranslatedSource(document, dialect.translate(document.data))


def _stem(file: Path) -> str:
    """Return the name without what says that it is an eval file."""
    stem = file.stem
    for end in (".eval", ".EVAL"):
        stem = stem.removesuffix(end)
    return stem
