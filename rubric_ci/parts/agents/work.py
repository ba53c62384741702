"""The work of an agent in its workspace: files that it changed, and assertions about the folder.

Changes are found from outside by comparing two folders: nothing is executed, no link is followed,
and only regular files are opened. Assertions are checked while the folder exists; commands come
last, in file order.
"""

import difflib
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import BinaryIO, Final

from rubric_ci.errors import CannotAnswer, CannotReadFile, CannotRunScript
from rubric_ci.evaluators.assertions import folder
from rubric_ci.evaluators.assertions.folder import check_name
from rubric_ci.evaluators.assertions.row import Outcome
from rubric_ci.grading.targets.workplace import assertions_of
from rubric_ci.parts.agents.workspace import MOST_BYTES, MOST_FILES
from rubric_ci.system import file_io, processes
from rubric_ci.system.output_and_masking import redact
from rubric_ci.system.processes import Command
from rubric_ci.system.scratch import variables
from rubric_ci.text.globs import matcher
from rubric_ci.values.context import RunContext
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.media import MOST_BYTES as MOST_MEDIA
from rubric_ci.values.media import MOST_BYTES_OF_CASE, Media
from rubric_ci.values.references import MEDIA_STARTS
from rubric_ci.values.rubric import Assertion
from rubric_ci.values.trace import FileChange, KeptFile, Work, WorkCheck

DIFF: Final = "diff"
MOST_DIFF: Final = 20_000  # characters of one file
INPUTS: Final = "inputs"  # has the images and documents of a case
MOST_DIFFS: Final = 200_000  # of all files
_MOST_LINES: Final = 2_000  # of a side: a comparison takes their product
_TOO_LONG: Final = "is longer than 1 MiB and cannot be searched; name a smaller file"
_CHUNK: Final = 2**20

COMMAND_SECONDS: Final = 300.0
_MOST_OUTPUT: Final = 400  # characters, from the end


def work_left(before: Path, work: Path, keep: Sequence[str], sandbox: str = "") -> Work:
    """Return the changes and the files that `keep` names; raises CannotAnswer for too much."""
    old, new = dict(entries(before)), dict(entries(work))
    changes: list[FileChange] = []
    notes: list[str] = []
    left = MOST_DIFFS
    for change in _changes(before, work, old, new):
        shown = _shortened(change.diff, min(MOST_DIFF, left))
        left -= len(shown)
        changes.append(FileChange(path=change.path, kind=change.kind, diff=shown))
        if shown != change.diff:
            notes.append(f"the diff of {change.path} is cut to {len(shown):,} characters")
    names = matcher(tuple(glob for glob in keep if glob != DIFF))
    files = [
        KeptFile(path=name, text=_shortened(text, MOST_DIFF))
        for name, status in sorted(new.items())
        if names(name) and (text := text_of(work / name, status)) is not None
    ]
    return Work(sandbox=sandbox, changes=tuple(changes), files=tuple(files), notes=tuple(notes))


def put_inputs(case: EvalCase, work: Path) -> None:
    """Copy the images and documents of a case into the folder; raises CannotAnswer."""
    from rubric_ci.models.llm.media import content  # few cases have one

    for each in case.media:
        path = work / input_name(each)
        try:
            file_io.write(path, content(each))
        except CannotReadFile as error:
            raise CannotAnswer(error.message) from None
        except OSError as error:
            message = f"cannot copy {each.path} into the workspace: {error.strerror}"
            raise CannotAnswer(message) from None


def input_name(media: Media) -> str:
    return f"{INPUTS}/{media.path}"


def without_inputs(work: Work, case: EvalCase) -> Work:
    """Return the work without the copies, which the agent did not add."""
    names = {input_name(each) for each in case.media}
    own = tuple(each for each in work.changes if each.path not in names)
    return replace(work, changes=own) if names else work


def media_left(work: Path, keep: Sequence[str]) -> tuple[Media, ...]:
    """Return the images and documents that `keep` names; raises CannotAnswer for too much."""
    globs = tuple(glob for glob in keep if glob != DIFF)
    if not globs:
        return ()
    names, found = matcher(globs), list[Media]()
    for name, status in sorted(entries(work)):
        if names(name) and stat.S_ISREG(status.st_mode) and status.st_size <= MOST_MEDIA:
            found += _media(name, work / name)
    if sum(each.size for each in found) > MOST_BYTES_OF_CASE:
        raise CannotAnswer(f"`keep` has more than {MOST_BYTES_OF_CASE // 2**20} MiB of images")
    return tuple(found)


def _media(name: str, path: Path) -> Iterator[Media]:
    try:
        with _opened(path) as file:
            data: bytes = file.read(MOST_MEDIA)
    except OSError:
        return
    if not data.startswith(MEDIA_STARTS):
        return
    from rubric_ci.values.media import media_of  # few files are one

    if media := media_of(name, data, partial(bytes, data)):
        yield media


def listed(media: Media) -> KeptFile:
    """Return an image or a document as a kept file, whose text is its name and digest."""
    return KeptFile(path=media.path, text=f"{media.name}\nSHA-256 {media.digest}")


def _shortened(text: str, most: int) -> str:
    """Return the start of a text; it is redacted before, as half a key is not recognised."""
    return text if len(text) <= most else redact(text)[:most]


def entries(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Yield everything but folders, by its path; raises CannotAnswer for too much.

    The internals of a git repository are not work.
    """
    files = size = 0
    for place, names, others in os.walk(folder):
        names[:] = [name for name in names if name != ".git"]
        for name in (*names, *others):
            path = Path(place, name)
            try:
                status = path.lstat()
            except OSError:
                continue
            if stat.S_ISDIR(status.st_mode):
                continue
            files, size = files + 1, size + status.st_size
            if files > MOST_FILES or size > MOST_BYTES:
                limits = f"{MOST_FILES:,} files and {MOST_BYTES // 2**20} MiB"
                raise CannotAnswer(f"the workspace has more than {limits} at the end")
            yield path.relative_to(folder).as_posix(), status


def _changes(
    before: Path, work: Path, old: Mapping[str, os.stat_result], new: Mapping[str, os.stat_result]
) -> Iterator[FileChange]:
    for name in sorted(old.keys() | new.keys()):
        if name not in new:
            text = text_of(before / name, old[name])
            yield FileChange(path=name, kind="deleted", diff=_diff(name, text, ""))
        elif name not in old:
            text = text_of(work / name, new[name])
            yield FileChange(path=name, kind="added", diff=_diff(name, "", text))
        elif not _same(before / name, old[name], work / name, new[name]):
            was, now = text_of(before / name, old[name]), text_of(work / name, new[name])
            yield FileChange(path=name, kind="modified", diff=_diff(name, was, now))


def _same(old: Path, was: os.stat_result, new: Path, now: os.stat_result) -> bool:
    """Compare by kind and content: times are the agent's to set."""
    if stat.S_IFMT(was.st_mode) != stat.S_IFMT(now.st_mode):
        return False
    if stat.S_ISLNK(was.st_mode):
        return old.readlink() == new.readlink()
    if not stat.S_ISREG(was.st_mode):
        return True
    return was.st_size == now.st_size and _same_bytes(old, new)


def _same_bytes(old: Path, new: Path) -> bool:
    try:
        with old.open("rb") as one, _opened(new) as other:
            while chunk := one.read(_CHUNK):
                if chunk != other.read(_CHUNK):
                    return False
    except OSError:
        return False
    return True


def _opened(path: Path) -> BinaryIO:
    return os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), "rb")


def text_of(path: Path, status: os.stat_result) -> str | None:
    """Return the text of a file, the target of a link; None: it has none, or is too long."""
    if stat.S_ISLNK(status.st_mode):
        return f"link to {path.readlink()}\n"
    if not stat.S_ISREG(status.st_mode) or status.st_size > _CHUNK:
        return None
    try:
        with _opened(path) as file:
            data: bytes = file.read(_CHUNK)
        return None if b"\0" in data else data.decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def _diff(name: str, was: str | None, now: str | None) -> str:
    """Return the unified diff of two texts; "" if one is not text or has too many lines."""
    if was is None or now is None:
        return ""
    old, new = was.splitlines(keepends=True), now.splitlines(keepends=True)
    if max(len(old), len(new)) > _MOST_LINES:
        return ""
    lines = difflib.unified_diff(old, new, f"a/{name}", f"b/{name}")
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def check_files(
    case: EvalCase, work: Path, changes: tuple[FileChange, ...]
) -> tuple[WorkCheck, ...]:
    return tuple(_files(assertions_of(case), work, changes))


def _files(
    assertions: list[Assertion], work: Path, changes: tuple[FileChange, ...]
) -> Iterator[WorkCheck]:
    paths = dict(entries(work)) if assertions else {}
    for each in assertions:
        value = each.value
        match each.key:
            case "exists":
                found = folder.exists(paths, value)
            case "file_contains":
                files = {name: paths[name] for name in folder.named(paths, value["path"])}
                regular = {n: each for n, each in files.items() if stat.S_ISREG(each.st_mode)}
                if long := next((n for n, each in regular.items() if each.st_size > _CHUNK), ""):
                    yield WorkCheck(name=check_name(each.key, value), error=f"{long} {_TOO_LONG}")
                    continue
                texts = {name: text_of(work / name, status) for name, status in files.items()}
                found = folder.file_contains(texts, value)
            case "unchanged":
                found = folder.unchanged([change.path for change in changes], value)
            case _:
                continue
        yield _check(each, found)


async def run_commands(
    case: EvalCase, work: Path, home: Path, context: RunContext
) -> tuple[WorkCheck, ...]:
    """Run the commands that assertions name, without the target's variables and sandbox."""
    commands = [each for each in assertions_of(case) if each.key == "command"]
    return tuple([await _run(each, work, home, context) for each in commands])


async def _run(assertion: Assertion, work: Path, home: Path, context: RunContext) -> WorkCheck:
    command = Command(
        script=str(assertion.value),
        cwd=work,
        known=context.environment,
        added={"HOME": str(home), **variables(work)},
        timeout_seconds=COMMAND_SECONDS,
    )
    name = check_name(assertion.key, assertion.value)
    if _is_gone(work):
        return _check(assertion, Outcome(holds=False, found="the agent removed its workspace"))
    try:
        finished = await processes.run(command)
    except CannotRunScript as error:
        return WorkCheck(name=name, error=str(error))
    printed = redact(f"{finished.stdout}{finished.stderr}").strip()
    if finished.status in {126, 127}:
        reason = processes.describe_exit(finished)
        return WorkCheck(name=name, error=f"the command could not be run: {reason}")
    return _check(assertion, folder.command(finished.status, printed[-_MOST_OUTPUT:]))


def _is_gone(work: Path) -> bool:
    """Return True if an agent removed or moved its workspace, or put a link in its place."""
    return work.is_symlink() or not work.is_dir()


def _check(assertion: Assertion, found: Outcome) -> WorkCheck:
    return WorkCheck(
        name=check_name(assertion.key, assertion.value),
        holds=found.holds,
        found=found.found,
        evidence=found.evidence,
    )
