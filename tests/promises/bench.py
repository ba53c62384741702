"""The repository of a kind in which checks run the command line.

What several checks of a kind begin with is done once; what it left is copied for each check that
uses it.
"""

import json
import os
import subprocess
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from shutil import copytree, rmtree
from typing import Any, TypeVar

from tests.checkout import Checkout
from tests.invoke import invoke
from tests.pictures import write
from tests.promises.kinds import AGENT, KINDS, PROGRAM, SAID, SECRET, TOOL, Edit, Kind, Server
from tests.sample_project import clean_environment

SYMBOLIC = ("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
REPORTS = ("--reports", "json,markdown,junit,sarif,html")
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What a step left: files, what the server remembers, and what the step returned."""

    files: Path
    remembered: Mapping[str, Any]
    returned: Any


@dataclass(slots=True)
class Shelf:
    """The repositories of all kinds; what several checks begin with is done once, and copied."""

    folder: Path
    server: Server
    kept: dict[tuple[str, ...], Kept] = field(default_factory=dict)
    due: tuple[str, ...] = ()  # what is restored as soon as it is used

    def bench(self, name: str, cases: int) -> "Bench":
        """Return the repository of a kind, as it was committed."""
        self.due = ()
        key = (name, str(cases))
        bench: Bench = self.once(key, lambda: Bench.of(name, cases, self))
        return replace(bench, environment={**bench.environment})

    def once(self, key: tuple[str, ...], step: Callable[[], T]) -> T:
        """Take a step in the repository of a kind, or restore what it left."""
        if key in self.kept:
            self.due = key
        else:
            self.restore()
            self.kept[key] = self._taken(key[0], step)
        returned: T = self.kept[key].returned
        return returned

    def restore(self) -> None:
        """Restore what is due."""
        if self.due:
            name, kept = self.due[0], self.kept[self.due]
            self.due = ()
            self._clear(name)
            copytree(kept.files, self.folder / name, symlinks=True)
            self._remember(kept.remembered)

    def empty(self, name: str) -> Path:
        """Return an empty folder for the repository of a kind; the server forgets all."""
        self._clear(name)
        self._remember(_memory(Server(url=self.server.url)))
        return self.folder / name

    def _taken(self, name: str, step: Callable[[], Any]) -> Kept:
        returned, files = step(), self.folder / f"kept-{len(self.kept)}"
        copytree(self.folder / name, files, symlinks=True)
        return Kept(files=files, remembered=_memory(self.server), returned=returned)

    def _clear(self, name: str) -> None:
        rmtree(self.folder / name, ignore_errors=True)

    def _remember(self, values: Mapping[str, Any]) -> None:
        for name, value in values.items():
            setattr(self.server, name, copy(value))


def _memory(server: Server) -> Mapping[str, Any]:
    return {each.name: copy(getattr(server, each.name)) for each in fields(server)}


@dataclass(slots=True)
class Bench:
    """The repository of a kind."""

    repository: Path
    name: str
    cases: int
    shelf: Shelf
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def kind(self) -> Kind:
        return KINDS[self.name]

    @property
    def root(self) -> Path:
        """The repository, with the files that the last step left."""
        self.shelf.restore()
        return self.repository

    @property
    def log(self) -> Path:
        """The file to which each program adds that it was started."""
        return self.root.parent / "log.txt"

    @property
    def server(self) -> Server:
        """The server, which remembers what it was asked until the last step."""
        self.shelf.restore()
        return self.shelf.server

    @classmethod
    def of(cls, name: str, cases: int, shelf: Shelf) -> "Bench":
        """Write the repository, and commit it."""
        kind, root = KINDS[name], shelf.empty(name)
        log = root / "log.txt"
        checkout = Checkout.create(root / "repository")
        programs = root / "programs"
        programs.mkdir(parents=True)
        facts = {"log": str(log), "said": SAID}
        (programs / "claude").write_text(AGENT.format(**facts))
        (programs / "claude").chmod(0o755)
        written = {"program.sh": PROGRAM.format(**facts), "tool.sh": TOOL.format(**facts)}
        files = {**kind.files, ".gitignore": ".rubric-ci/\n*.jsonl.tmp\n", **written}
        texts = {path: of(cases) if callable(of) else of for path, of in files.items()}
        url = shelf.server.url
        write(checkout.root, {path: _bytes(text, url) for path, text in texts.items()})
        environment = {
            **clean_environment(),
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "ANTHROPIC_API_KEY": SECRET,
            "GIT_CONFIG_GLOBAL": os.devnull,
        }
        bench = cls(checkout.root, name, cases, shelf, environment)
        if kind.made:
            done = bench(*kind.made)
            assert done.returncode == 0, done.stderr
        if kind.graded_by:
            bench.edit(kind.graded_by)
        checkout.commit()
        for remote in (("update-ref", "refs/remotes/origin/main", "HEAD"), SYMBOLIC):
            checkout.git(*remote)
        return bench

    def __call__(self, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Run the command line in the repository."""
        return invoke(self.root, {**self.environment, **more}, *arguments)

    def run(self, *options: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Grade, or adopt."""
        return self(*self.kind.run, *options, **more)

    def once(self, name: str, step: Callable[[], T]) -> T:
        """Take a step that other checks of this kind take as well, as the first one."""
        return self.shelf.once((self.name, str(self.cases), name), step)

    def first_run(self) -> subprocess.CompletedProcess[str]:
        """Grade, or adopt, what was committed."""
        return self.once("run", lambda: self.run(*REPORTS))

    def worse_run(self) -> subprocess.CompletedProcess[str]:
        """Make the answers worse, and grade, or adopt, them."""
        return self.once("worse", self._worse_run)

    def _worse_run(self) -> subprocess.CompletedProcess[str]:
        self.first_run()
        self.edit(self.kind.worse)
        return self.run(*REPORTS)

    def report(self) -> dict[str, Any]:
        read: dict[str, Any] = json.loads((self.root / ".rubric-ci/report.json").read_text())
        return read

    def edit(self, change: Edit) -> None:
        """Change every place of a text in a file."""
        name, old, new = change[0], *map(_bytes, change[1:])
        data = (self.root / name).read_bytes()
        assert old in data
        (self.root / name).write_bytes(data.replace(old, new))

    def proposed(self, change: Edit) -> str:
        """Commit an edit, return to the commit before, and return the name of the new one."""
        checkout = Checkout(self.root)
        self.edit(change)
        commit = checkout.commit()
        checkout.git("reset", "--quiet", "--hard", "HEAD~1")
        return commit

    @property
    def judged(self) -> int:
        """How many judge requests arrived."""
        return len(self.server.seen)

    @property
    def asked(self) -> int:
        """How often a model, a service or a program was asked for an answer."""
        starts = self.log.read_text().count("start") if self.log.exists() else 0
        return starts + len(self.server.asked)


def _bytes(data: str | bytes, url: str = "URL") -> bytes:
    return data if isinstance(data, bytes) else data.replace("URL", url).encode()
