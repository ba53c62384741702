"""Find and read the files of a working tree: the root, eval files, references."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from rubric_ci.errors import CannotFindEvals, CannotReadFile
from rubric_ci.files.project.file_kinds import CONFIG_NAMES, HIDDEN, is_targets_file
from rubric_ci.system import file_io
from rubric_ci.system.repository import NOT_CHECKED_OUT, around, empty_submodule
from rubric_ci.values.problems import GIT_LFS
from rubric_ci.values.references import (
    LFS_POINTER,
    MOST_CHARACTERS,
    NO_SUCH_FILE,
    Found,
    Lookup,
    NotFound,
    file_content,
    file_text,
    why_no_path,
)

HERE: Final = "."
SUFFIXES: Final = (".yaml", ".yml", ".jsonl", "evals.json")
"""How the names of files end that a search looks into; the last is Agent Skills' file."""

_SKIPPED = frozenset(("node_modules", "__pycache__", "venv"))


def find_root(start: Path) -> Path:
    """Return the repository that holds a folder; without one, the nearest configured folder."""
    here = start.resolve()
    configured = (
        folder
        for folder in (here, *here.parents)
        if any((folder / name).exists() for name in CONFIG_NAMES)
    )
    return next(around(here), None) or next(configured, here)


def find_evals(paths: Sequence[str], globs: Sequence[str], root: Path) -> list[Path]:
    """Return the eval files of PATHS, or of the configured globs where there are none.

    Raises CannotFindEvals for a path that does not exist or holds no eval file.
    """
    configured = list(_configured(globs, root))
    if not paths and globs and not configured:
        raise CannotFindEvals(
            f"no file matches the configured evals: {', '.join(globs)}",
            "fix `evals` in rubric-ci.yaml, or pass file paths",
        )
    if not paths and configured:
        return configured
    known = {path.resolve() for path in configured}
    found = [file for path in paths or [HERE] for file in _of_path(path, known)]
    return list({os.path.realpath(path): path for path in found}.values())


def from_root(path: Path, root: Path) -> str:
    """Return the name of a file in reports: relative to the root, with forward slashes."""
    lost = path.is_symlink() and not path.exists()  # a link to nothing has its own name
    real = f"{os.path.realpath(path.parent)}{os.sep}{path.name}" if lost else os.path.realpath(path)
    top = os.path.realpath(root)
    return _below(real, top) if file_io.is_inside(real, top) else path.as_posix()


def _below(path: str, top: str) -> str:
    """Return a path inside of a folder relative to it, with forward slashes."""
    return path[len(top) :].replace(os.sep, "/").lstrip("/") or HERE


def read_text(path: Path, root: Path | None = None, *, written_by: str = "") -> str:
    """Return the text of a file, see `file_text`; raises CannotReadFile as `read_bytes` does.

    The error of a missing file names the command that writes it, if given.
    """
    if written_by and not os.path.lexists(path):
        raise CannotReadFile(f"{path} does not exist", f"`{written_by}` writes it")
    data = read_bytes(path, root)
    if data.startswith(LFS_POINTER):
        raise CannotReadFile(f"{path} is a pointer of Git LFS, not the text", GIT_LFS.hint)
    try:
        return file_text(data)
    except UnicodeDecodeError as error:
        raise CannotReadFile(
            f"{path} is not UTF-8 text: byte {error.start} does not fit", "save it as UTF-8"
        ) from None


def read_bytes(path: Path, root: Path | None = None) -> bytes:
    """Return a file's bytes; raises CannotReadFile, also if a link leads it out of the root.

    Without a root, it is the repository of the current folder.
    """
    return file_io.read_given(path, root or find_root(Path.cwd()))


def write_text(path: Path, text: str, what: str = "", hint: str = "") -> None:
    """Write a file and its folders atomically; raises CannotWriteFile if links lead elsewhere.

    `what` the file is stands in the message where it cannot be written.
    """
    check_place(path.parent)
    with file_io.writing(path.as_posix(), what, hint):
        file_io.write(path, text.encode())


def check_place(path: Path) -> None:
    """Raise CannotWriteFile if a link leads a path out of the repository of the current folder."""
    file_io.check_place(path, find_root(Path.cwd()))


def sidecar_of(path: Path) -> Path | None:
    """Return the YAML file with the suite fields of a JSON Lines file, if there is one."""
    sidecar = path.with_suffix(".yaml")
    return sidecar if path.suffix == ".jsonl" and os.path.lexists(sidecar) else None


def lookup(root: Path, eval_path: Path) -> Lookup:
    """Resolve references in the folder of the eval file, then in each folder above it."""
    top = os.path.realpath(root)
    folder = os.path.realpath(eval_path.parent)

    def find(reference: str) -> Found | NotFound:
        if refused := why_no_path(reference):
            return refused
        reason = NO_SUCH_FILE
        for candidate in _candidates(reference, folder, top):
            real = os.path.realpath(candidate)
            if not os.path.lexists(candidate):
                continue
            if not file_io.is_inside(real, top):
                reason = "is outside the repository"
                continue
            return _found(real, top)
        return NotFound(_in_submodule(reference, folder, top) or reason)

    return find


def _in_submodule(reference: str, folder: str, top: str) -> str:
    """Return that a file is in a submodule that is not checked out; "": it is in none."""
    root = Path(top)
    places = (os.path.normpath(each) for each in _candidates(reference, folder, top))
    inside = (_below(place, top) for place in places if file_io.is_inside(place, top))
    found = next(filter(None, (empty_submodule(root, place) for place in inside)), "")
    return f"{NO_SUCH_FILE}; {NOT_CHECKED_OUT.format(found)}" if found else ""


def _found(real: str, top: str) -> Found | NotFound:
    if os.path.isdir(real):
        return NotFound("is a folder")
    if not os.path.isfile(real):
        return NotFound("is not a regular file")  # reading a pipe would wait for its writer

    def read() -> bytes:
        return file_io.read_named(Path(real), Path(top))

    try:
        return file_content(_below(real, top), read(), read)
    except CannotReadFile as error:
        return NotFound(f"cannot be read: {error.reason}")
    except UnicodeDecodeError:
        return NotFound("is not UTF-8 text")


def _candidates(reference: str, folder: str, top: str) -> Iterator[str]:
    if reference.startswith("/"):
        yield top + reference
        return
    while True:  # plain strings, as above
        yield os.path.join(folder, reference)
        if folder == top or not file_io.is_inside(folder, top):
            return
        folder = os.path.dirname(folder)


def _configured(globs: Sequence[str], root: Path) -> Iterator[Path]:
    """Yield the files of the globs in a stable order; `!glob` takes files away."""
    files: dict[Path, None] = {}
    for glob in globs:
        if ".." in glob.removeprefix("!").split("/"):
            raise CannotFindEvals(
                f"{glob} under `evals` leaves the repository",
                "use globs below the folder of rubric-ci.yaml, or pass file paths",
            )
        for path in _glob(root, glob.removeprefix("!")):
            if glob.startswith("!"):
                files.pop(path, None)
            elif _may_hold_evals(path):
                files[path] = None
    yield from (shown(path) for path in files)


def _glob(folder: Path, pattern: str) -> list[Path]:
    """Return the files that match, the same ones on every version of Python."""
    if len(pattern) > MOST_CHARACTERS:
        raise CannotFindEvals(f"a glob has more than {MOST_CHARACTERS:,} characters")
    parts = pattern.lstrip("/").split("/")
    if any("**" in part and part != "**" for part in parts):
        raise CannotFindEvals(f"invalid glob {pattern}: `**` must be a whole path component")
    every = "/*" if parts[-1] == "**" else ""
    try:
        return [path for path in sorted(folder.glob("/".join(parts) + every)) if not path.is_dir()]
    except (ValueError, RecursionError, OSError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or error
        raise CannotFindEvals(f"invalid glob {pattern}: {reason}") from None


def _may_hold_evals(path: Path) -> bool:
    """Return False for files that globs match too, such as targets files and recorded answers."""
    if path.name in CONFIG_NAMES or is_targets_file(path.absolute().as_posix()):
        return False
    if path.suffix == ".jsonl":
        from rubric_ci.files.project.file_kinds import lines_may_hold_cases

        try:
            return lines_may_hold_cases(file_io.read_start(path))
        except CannotReadFile:
            return True  # it is reported
    is_sidecar = path.suffix == ".yaml" and path.with_suffix(".jsonl").is_file()
    return not is_sidecar or holds_cases(path)


def shown(path: Path) -> Path:
    """Return a path relative to the current folder, if it is below it."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def holds_cases(path: Path) -> bool:
    """Return True if a YAML file is an eval file."""
    from rubric_ci.files.project.file_kinds import yaml_holds_cases

    return yaml_holds_cases(file_io.read_start(path))


def is_eval(path: Path, globs: Sequence[str], root: Path) -> bool:
    """Return True if a search of the repository would find a file."""
    return path.name.endswith(SUFFIXES) and (
        _holds_evals(path, set())
        or path.resolve() in {p.resolve() for p in _configured(globs, root)}
    )


def _of_path(written: str, configured: set[Path]) -> Iterator[Path]:
    path = Path(written)
    if path.is_file():
        yield path
        return
    if path.is_dir():
        found = [file for file in walk(path) if _holds_evals(file, configured)]
    else:
        found = [file for file in _matches(written) if _may_hold_evals(file)]
    if not found:
        raise CannotFindEvals(*_nothing(written, path))
    yield from found


def _nothing(written: str, path: Path) -> tuple[str, str]:
    if path.is_dir():
        from rubric_ci.files.project.near_files import foreign_files  # few folders hold none

        known = "an eval file is YAML with `evalcases`, or is named by `evals` in rubric-ci.yaml"
        if named := _named_like_evals(path):
            known = f"{named} has no `evalcases`; {known}"
        known += foreign_files(walk(path))
        root = find_root(path)
        if found := empty_submodule(root, from_root(path, root)):
            known = NOT_CHECKED_OUT.format(found)
        hint = f"{known}; `rubric-ci init` writes a first one" if written == HERE else known
        return f"{written if written != HERE else 'this folder'} holds no eval file", hint
    if any(sign in written for sign in "*?["):
        return f"no file matches {written}", ""
    if path.exists():
        return f"{written} is neither a regular file nor a folder", "`validate -` reads a pipe"
    from rubric_ci.files.project.near_files import near_path  # few paths are misspelt
    from rubric_ci.text.suggestions import did_you_mean

    root = find_root(path.parent)
    if found := empty_submodule(root, from_root(path, root)):
        return f"{written} does not exist", NOT_CHECKED_OUT.format(found)
    near = did_you_mean(near_path(written, os.path.realpath(HERE)))
    return f"{written} does not exist", near


def _named_like_evals(folder: Path) -> str:
    """Return the first file that its name or folder says is an eval file; empty: there is none."""
    places = (shown(path).as_posix() for path in walk(folder))
    named = (
        name
        for name in places
        if "eval" in name.lower() and not (Path(name).name in CONFIG_NAMES or is_targets_file(name))
    )
    return next(named, "")


def _matches(written: str) -> list[Path]:
    if not any(sign in written for sign in "*?["):
        return []
    path = Path(written)
    start = Path(path.anchor) if path.is_absolute() else Path()
    return _glob(start, str(path.relative_to(path.anchor)))


def walk(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder that may hold cases by their names."""
    for current, folders, names in os.walk(folder):
        folders[:] = sorted(filter(is_searched, folders))
        found = (Path(current, name) for name in sorted(names) if name.endswith(SUFFIXES))
        yield from (path for path in found if path.is_file() or is_named_eval(path.name))


def find_targets(folder: Path) -> Iterator[Path]:
    """Yield the targets files of a folder and of those below it."""
    for current, folders, names in os.walk(folder):
        folders[:] = sorted(f for f in folders if f == HIDDEN or is_searched(f))
        files = (Path(current, name) for name in sorted(names))
        yield from (file for file in files if is_targets_file(file.as_posix()))


def is_searched(folder: str) -> bool:
    """Return True unless a search leaves a folder of this name out."""
    return not folder.startswith(".") and folder not in _SKIPPED


def is_named_eval(name: str) -> bool:
    """Return True for a file that its name says is an eval file."""
    return name.endswith((".eval.yaml", ".eval.yml", ".eval.jsonl"))


def _holds_evals(path: Path, configured: set[Path]) -> bool:
    if is_named_eval(path.name) or path.resolve() in configured:
        return True
    try:
        data = file_io.read_start(path)
    except CannotReadFile:
        return path.exists()  # it is reported, unless it is a dangling link
    from rubric_ci.files.project.file_kinds import lines_hold_cases, yaml_holds_cases

    return lines_hold_cases(data) if path.suffix == ".jsonl" else yaml_holds_cases(data)
