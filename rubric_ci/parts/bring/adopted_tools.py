"""The tools whose results are read: one row each; and the run of such a tool."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from rubric_ci.errors import CannotReadFile, CannotRunScript, CannotRunTool
from rubric_ci.files.parsing.typed_json import Mismatch
from rubric_ci.files.project import working_tree
from rubric_ci.files.yaml_text.csv_cases import SUFFIXES
from rubric_ci.gate.grading_changes.all_changes import check_is_known
from rubric_ci.gate.grading_changes.file_changes import UNNAMED
from rubric_ci.parts.bring import graded_files, tool_results
from rubric_ci.parts.bring.adopted_samples import Sample, counting
from rubric_ci.system import processes
from rubric_ci.system.git.plumbing import first_tracked
from rubric_ci.system.processes import Command, Finished, describe_exit
from rubric_ci.text.command_lines_and_variables import shell_quote
from rubric_ci.text.numbers import listed, plural
from rubric_ci.values.config import Config
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.targets import RunnerTarget


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool by the name of `--from`."""

    name: str
    read: Callable[[str], Iterator[Sample]]  # raises Mismatch for other files
    suffixes: tuple[str, ...] = (".json",)
    made_by: str  # how its results come to be, for a message
    settings: tuple[str, ...] = ()  # globs of the files that it reads where none is named
    missing: Callable[[str], str] = lambda _: ""  # why results are of a part of a run


TOOLS: Final[Mapping[str, Tool]] = {
    tool.name: tool
    for tool in (
        Tool(
            name="promptfoo",
            read=tool_results.read_promptfoo,
            missing=tool_results.missing_in_promptfoo,
            made_by="promptfoo eval -o results.json",
            settings=UNNAMED["promptfoo"],
        ),
        Tool(
            name="inspect",
            read=tool_results.read_inspect,
            missing=tool_results.missing_in_inspect,
            made_by="inspect log dump LOG > results.json",
        ),
        Tool(
            name="deepeval",
            read=tool_results.read_deepeval,
            missing=tool_results.missing_in_deepeval,
            made_by="DEEPEVAL_RESULTS_FOLDER=results",
        ),
        Tool(
            name="pydantic-evals",
            read=tool_results.read_pydantic_evals,
            made_by="TypeAdapter(EvaluationReport).dump_json(report)",
        ),
        Tool(
            name="agent-skills",
            read=graded_files.read_agent_skills,
            made_by="a grading of skill-creator",
            settings=("evals/evals.json",),
        ),
        Tool(
            name="junit",
            read=graded_files.read_junit,
            missing=graded_files.missing_in_junit,
            suffixes=(".xml",),
            made_by="pytest --junitxml results.xml",
            settings=UNNAMED["pytest"],
        ),
        Tool(
            name="csv",
            read=graded_files.read_marks,
            suffixes=SUFFIXES,
            made_by="a table with `id` and `passed`",
        ),
    )
}


def recognise(texts: Mapping[str, str]) -> Tool | None:
    """Return the one tool that reads these texts by their names; None: none does, or several do."""
    found = texts.items()
    fitting = [tool for tool in TOOLS.values() if all(_reads(tool, *each) for each in found)]
    return fitting[0] if len(fitting) == 1 else None


def _reads(tool: Tool, name: str, text: str) -> bool:
    if Path(name).suffix not in tool.suffixes:
        return False
    try:  # a run that was killed may have no sample yet
        return any(True for _ in tool.read(text)) or bool(tool.missing(text))
    except Mismatch:
        return False


_NOT_STARTED: Final = frozenset((126, 127))  # of a shell
_SIGNAL: Final = 128  # a shell adds the signal that ended its program
_PATH: Final = re.compile(r"[\w./-]+")
_SPECIAL: Final = re.compile(r"[.*+?^${}()|\[\]\\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a tool runs: the checkout or the worktree of a base."""

    root: Path
    target: RunnerTarget
    environment: Mapping[str, str]
    trial: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    samples: tuple[Sample, ...]
    missing: tuple[str, ...] = ()  # why they are of a part of the run


async def whole(place: Place, only: Iterable[str] = ()) -> tuple[Sample, ...]:
    """Return the results of one run; raises CannotRunTool also where they are of a part of it."""
    found = await samples(place, only)
    if found.missing:
        raise CannotRunTool(f"target {place.target.name}: {found.missing[0]}")
    return found.samples


async def samples(place: Place, only: Iterable[str] = ()) -> Found:
    """Return the results of one run of the tool, of the cases with these selectors; empty: all.

    Raises CannotRunTool if it wrote none. Its exit status says only that some case failed, unless
    the program was not started or was killed.
    """
    target = place.target
    with TemporaryDirectory(prefix="rubric-ci-") as folder:
        try:
            line = Command(
                script=_script(target, folder, tuple(only)),
                cwd=place.root / target.cwd,
                known=place.environment,
                env=target.env,
                timeout_seconds=target.timeout_seconds,
            )
            finished = await processes.run(line)
        except CannotRunScript as error:
            raise CannotRunTool(f"target {target.name}: {error}") from None
        return _read_results(target, Path(folder), finished)


def committed_results(place: Place) -> tuple[str, ...]:
    """Return the files that the command names and git tracks, and that are results already.

    Raises CannotUseGit if git cannot be asked.
    """
    tool, home = TOOLS[place.target.reads], place.root / place.target.cwd
    words = dict.fromkeys(_PATH.findall(place.target.command_template))
    named = [home / word for word in words if Path(word).suffix in tool.suffixes]
    found = (first_tracked(path, place.environment) for path in named if _holds(path, tool))
    return tuple(path for path in found if path is not None)


def _holds(path: Path, tool: Tool) -> bool:
    try:
        return path.is_file() and _reads(tool, path.name, working_tree.read_text(path))
    except CannotReadFile:
        return False


def _script(target: RunnerTarget, folder: str, only: tuple[str, ...]) -> str:
    chosen = ""
    if only:
        regex = "^(" + "|".join(_SPECIAL.sub(r"\\\g<0>", name) for name in only) + ")$"
        values = {"{CASE_REGEX}": shell_quote(regex), "{CASE_IDS}": shell_quote(",".join(only))}
        chosen = re.sub(r"\{CASE_(?:REGEX|IDS)\}", lambda found: values[found[0]], target.only)
    template = target.command_template
    template = template if "{ONLY}" in template else f"{template} {{ONLY}}"
    places = {"{RESULTS}": shell_quote(folder), "{ONLY}": chosen}
    return re.sub(r"\{(?:RESULTS|ONLY)\}", lambda found: places[found[0]], template).rstrip()


def _read_results(target: RunnerTarget, folder: Path, finished: Finished) -> Found:
    tool = TOOLS[target.reads]
    found: list[Sample] = []
    missing: list[str] = []
    for path in sorted(each for each in folder.rglob("*") if each.suffix in tool.suffixes):
        try:
            text = working_tree.read_text(path)
            found += tool.read(text)
            if reason := tool.missing(text):
                missing.append(f"{path.relative_to(folder).as_posix()}: {reason}")
        except (Mismatch, CannotReadFile) as error:
            raise CannotRunTool(
                f"target {target.name}: {path.relative_to(folder)}: not results of {tool.name}: "
                f"{error}"
            ) from None
    if not found:
        raise CannotRunTool(
            f"target {target.name}: no results in {{RESULTS}}: {describe_exit(finished)}",
            f"let the command write them there: {tool.made_by}",
        )
    if finished.status < 0 or finished.status in _NOT_STARTED or finished.status > _SIGNAL:
        count = plural(len(found), "result")
        missing.insert(0, f"the command ended early, after {count}: {describe_exit(finished)}")
    return Found(samples=tuple(_named(found, target)), missing=tuple(missing))


def _named(found: list[Sample], target: RunnerTarget) -> Iterator[Sample]:
    suites = (replace(each, suite=each.suite or target.name) for each in found)
    try:
        yield from counting(suites, frozenset(target.graders))
    except Mismatch as error:
        raise CannotRunTool(f"target {target.name}: graders: {error}") from None


def check_tracked(config: Config, tool: str, tracked: Sequence[str]) -> str:
    """Return the note about results that git tracks; raises CannotConfigure where they decide."""
    if not tracked:
        return ""
    verb = "is" if len(tracked) == 1 else "are"
    return check_is_known(
        config,
        f"whether {tool} gave these marks: {listed(tracked)} {verb} tracked by git, and a change "
        "can write them",
        f"let {tool} write {plural(len(tracked), 'file')} that git ignores, in the same job",
    )
