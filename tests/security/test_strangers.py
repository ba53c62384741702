"""A stranger's commit is graded with the keys of the job: none of it is opened, run or obeyed."""

import json
import os
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rubric_ci.gate.selection.proposed_cases import is_setting
from tests.captured import captured
from tests.checkout import ENVIRONMENT, Checkout
from tests.security.hostile_strangers import hostile

ROOT = Path(__file__).parents[2]
FILES = {
    "rubric-ci.yaml": (
        "evals: ['evals/**/*.yaml', 'evals/**/*.yml']\n"
        "env: {allow: [SECRET_OF_THE_JOB]}\n"
        "targets:\n"
        "  - {name: default, provider: mock, response: Hello}\n"
        "  - {name: program, provider: cli, command_template: 'cat {PROMPT_FILE}', "
        "depends_on: [src/**]}\n"
    ),
    "evals/a.yaml": (
        "evalcases:\n  - id: greeting\n    input: Hi\n    rubrics: [{contains: Hello}]\n"
        "  - id: scripted\n    input: Hi\n    execution: {evaluators: "
        "[{name: polite, type: code_judge, script: [sh, polite.sh]}]}\n"
    ),
    "evals/polite.sh": "printf '{\"score\": 1}'\n",
    "src/agent.py": "print(1)\n",
}
KINDS = dict(hostile())
FEW = ("python conftest.py", "evaluator shell", "case command", *[*KINDS][1::16])
OUTSIDE = ("/etc/passwd", "/root/.netrc", "/proc/self/environ", "/dev/zero")


@dataclass(frozen=True)
class Run:
    """What a run of one commit did."""

    status: int
    events: list[tuple[str, list[Any]]]
    imported: list[str]
    said: str
    changed: frozenset[str]


@pytest.fixture(scope="module")
def victim(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A checkout of the base branch, with hooks and helpers that would show that git runs them."""
    folder = tmp_path_factory.mktemp("strangers")
    (folder / "secret").write_text("of the machine\n")
    made = Checkout.create(folder / "shop")
    made.commit(FILES)
    for name, value in (
        ("filter.eve.clean", "touch pwned; cat"),
        ("filter.eve.smudge", "touch pwned; cat"),
        ("diff.eve.textconv", "touch pwned; cat"),
        ("diff.eve.command", "touch pwned"),
        ("merge.eve.driver", "touch pwned"),
        ("core.fsmonitor", "touch pwned"),
        ("core.hooksPath", "hooks"),
        ("credential.helper", "!touch pwned"),
    ):
        made.git("config", name, value)
    return made


@pytest.fixture(
    scope="module", params=[FEW, pytest.param((*KINDS,), marks=pytest.mark.deep)], ids=len
)
def runs(request: pytest.FixtureRequest, victim: Checkout) -> dict[str, Run]:
    return graded(victim, request.param)


def graded(victim: Checkout, kinds: Iterable[str]) -> dict[str, Run]:
    """Make each kind of commit elsewhere, fetch them as objects, grade them in one process."""
    folder = Path(tempfile.mkdtemp(dir=victim.root.parent))
    stranger = victim.clone(folder / "stranger")
    base = stranger.git("rev-parse", "HEAD")
    commits: dict[str, str] = {}
    for name in kinds:
        stranger.git("checkout", "--quiet", "--force", "--detach", base)
        stranger.git("clean", "-ffdxq")
        KINDS[name](stranger)
        stranger.git("add", "--all", "--force")
        stranger.git("commit", "--quiet", "--allow-empty", "--no-verify", "--message", "x")
        commits[name] = (stranger.root / ".git/HEAD").read_text().strip()  # detached
        (stranger.root / f".git/refs/heads/kind-{len(commits)}").write_text(commits[name])
    quiet = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false")
    victim.git(*quiet, "fetch", "--quiet", str(stranger.root), "+refs/heads/*:refs/strangers/*")
    done = captured(
        [sys.executable, "-m", "tests.security.watched_run", str(victim.root), *commits.values()],
        cwd=ROOT,
        env={**ENVIRONMENT, "PYTHONDONTWRITEBYTECODE": "1"},
        timeout=900,
    )
    assert done.returncode == 0, done.stderr
    found = {}
    for (name, commit), line in zip(commits.items(), done.stdout.splitlines(), strict=True):
        listing = victim.git(*quiet, "diff-tree", "-r", "-z", "--name-only", base, commit)
        changed = frozenset(path for path in listing.split("\0") if path)
        status, events, imported, said = json.loads(line)
        found[name] = Run(status, events, imported, said, changed)
    return found


def test_there_are_many_kinds() -> None:
    assert len(KINDS) >= 200


def test_nothing_of_the_commits_is_opened_or_run(runs: dict[str, Run], victim: Checkout) -> None:
    for kind, run in runs.items():
        check(kind, run, victim)


def check(kind: str, run: Run, victim: Checkout) -> None:
    assert run.status in {0, 1, 2, 3}, (kind, run.said)
    assert "Traceback" not in run.said, kind
    opened = [_place(path[0], victim.root) for event, path in run.events if event == "open"]
    written = ".rubric-ci/"  # our own report, which the checkout does not have
    changed = {path for path in run.changed if not path.startswith(written)}
    assert [path for path in opened if path in changed and not is_setting(path)] == [], kind
    assert any(event == "start" for event, _ in run.events), kind  # the watch sees git
    assert {
        path for path in opened if path.startswith(OUTSIDE) or path.endswith("/secret")
    } == set(), kind
    assert [event for event, _ in run.events if event not in {"open", "start"}] == [], kind
    assert run.imported == [], kind
    for words, _, environment in (rest for event, rest in run.events if event == "start"):
        if words[0] == "git":
            assert environment["GIT_TERMINAL_PROMPT"] == "0", kind
            assert words[1] in GUARDED_OR_HARMLESS or environment["GIT_NO_REPLACE_OBJECTS"] == "1"
        else:
            assert words == ["sh", "polite.sh"], (kind, words)
            assert "evals/polite.sh" not in run.changed, kind
            assert {"SECRET_OF_THE_JOB", "OPENAI_API_KEY"}.isdisjoint(environment), kind
    assert "s3cr3t" not in run.said, kind
    assert "of the machine" not in run.said, kind


GUARDED_OR_HARMLESS = {"rev-parse", "config"}
"""Commands that look at no file: the first ones, which find the repository and its programs."""


def test_nothing_was_run_or_changed_in_the_checkout(runs: dict[str, Run], victim: Checkout) -> None:
    assert runs
    assert list(victim.root.parent.rglob("pwned")) == []
    files = {
        path.relative_to(victim.root).as_posix()
        for path in victim.root.rglob("*")
        if path.is_file() and ".git" not in path.parts and ".rubric-ci" not in path.parts
    }
    assert files == {*FILES}
    assert {name: (victim.root / name).read_text() for name in FILES} == FILES


def test_the_kinds_are_graded_or_refused_and_not_only_ignored(runs: dict[str, Run]) -> None:
    statuses = {run.status for run in runs.values()}
    assert statuses == {0, 2, 3}
    assert runs["python conftest.py"].status == 0
    assert runs["evaluator shell"].status == 3
    assert runs["case command"].status == 3


def _place(path: str, root: Path) -> str:
    """Return a path below the root as git names it, any other as it is."""
    full = os.path.join(root, path)  # noqa: PTH118 - keeps `..`
    return os.path.relpath(full, root) if full.startswith(f"{root}/") else path
