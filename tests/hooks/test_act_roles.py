"""Every workflow of examples/workflows/ in every role that it can run in, under act.

A row says which steps ran in each job, how they ended, which answers reached the judge, what was
posted and what was kept. A workflow without a row in a role must not start there.
"""

import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from rubric_ci import __version__
from rubric_ci.system.git.plumbing import checkout_commit
from tests.answer_judge import AnswerJudge, judging
from tests.checkout import ENVIRONMENT, Checkout
from tests.contract.fake_github import GitHub, Pull, Token, serving
from tests.hooks import gate_repository, runner
from tests.hooks.conftest import once
from tests.hooks.gate_repository import Repository
from tests.hooks.pins import OURS, at
from tests.hooks.roles import ROLES, Role, finished

pytestmark = [pytest.mark.deep, *runner.WITH_ACT]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What a workflow does in a role."""

    jobs: tuple[str, ...] = ()  # `job: steps`; `=1` is the exit code of a step that failed
    judged: str = ""
    posted: int = 0  # comments and issues
    kept: str = ""


GRADES, POSTS = "evals-gate-fork-safe.yml", "evals-gate-report.yml"
NIGHTLY, ADDS = "evals-nightly.yml", "evals-history.yml"
FOLLOWS = {GRADES: POSTS, NIGHTLY: ADDS}
"""The second workflow of each first, which starts when the first ends."""
ELSEWHERE = {f"evals-{name}.yml" for name in ("aws", "azure", "google", "strangers")}
"""Run by `test_act_clouds.py`, the gate with another login, and by `test_act_strangers.py`."""
# The head's answer in six trials, then the base's; its first trial is in the cache of main.
BOTH_SIDES = "go away x5, hello again x4"
CACHE = "refs/{}/.rubric-ci_cache"
STARTS = "grade: checkout cache/restore cache/restore digest of the cache"
TESTS = "tests of rubrics"  # not without secrets
RESTORES = f"{STARTS} {TESTS} rubric-ci"

VALIDATED = Row(jobs=("validate: checkout rubric-ci",))
INVALID = Row(jobs=("validate: checkout rubric-ci=1",))  # the rule that the change turns off
PAGES = "upload-artifact"  # report.html
GATE = Row(
    jobs=(f"{RESTORES}=1 cache/save {PAGES}",),
    judged=BOTH_SIDES,
    kept=f"artifact, {CACHE.format('pull/7/merge')}",
)
SAFE = replace(GATE, jobs=(f"{RESTORES}=1 cache/save upload-artifact {PAGES}",))
REPORT = Row(jobs=("comment: download-artifact rubric-ci",), posted=1)
PULL_REQUEST = {
    "evals-validate.yml": INVALID,
    "evals-gate.yml": replace(GATE, posted=1),
    GRADES: SAFE,
    POSTS: REPORT,
}
STRANGERS = {  # green, nothing was asked, and nothing is new in the cache: no secrets
    "evals-validate.yml": INVALID,
    "evals-gate.yml": Row(jobs=(f"{STARTS} rubric-ci {PAGES}",), kept="artifact"),
    GRADES: Row(jobs=(f"{STARTS} rubric-ci upload-artifact {PAGES}",), kept="artifact"),
    POSTS: REPORT,
}
STARTS = "night: checkout cache/restore"
SAVES = "cache/save"
FETCHES = "add: checkout download-artifact"
QUEUE = CACHE.format("heads/gh-readonly-queue/main/pr-7-0123456")
NOTHING = Row()
"""A workflow that starts, and skips every job."""
DIGESTED = "grade: checkout cache/restore digest of the cache"
DEFAULT_BRANCH = Row(  # all of it is in the cache, which is not saved again
    jobs=(f"{DIGESTED} rubric-ci upload-artifact {PAGES}",), kept="artifact"
)
FIRST_PUSH = Row(
    jobs=(f"{DIGESTED} rubric-ci cache/save upload-artifact {PAGES}",),
    judged="hello x1, hello again x1",
    kept="artifact, refs/heads/main/.rubric-ci_cache",
)
SHARDS = Row(
    jobs=(
        "plan: checkout rubric-ci",
        "tests of rubrics: checkout rubric-ci",
        "1: checkout rubric-ci upload-artifact",
        f"merge: download-artifact rubric-ci {PAGES}",
    ),
    judged="hello x1, hello again x1",
    kept="artifact",
)
NIGHT = Row(  # the first of the reference: 3 trials and 5 of the sentinel
    jobs=(f"{STARTS} rubric-ci rubric-ci upload-artifact {PAGES} {SAVES} rubric-ci",),
    judged="hello x8, hello again x8",
    kept="artifact, refs/heads/main/.rubric-ci_reference",
)
HISTORY = Row(jobs=(f"{FETCHES} rubric-ci push the history",))
# Nothing to draft here: tests/hooks/test_act_generate.py has a case without rubrics.
GENERATE = Row(jobs=("generate: checkout rubric-ci",))
TABLE = {
    "base": PULL_REQUEST,
    "fork": STRANGERS,
    "copy-that-is-no-fork": STRANGERS,
    "in-a-forked-repository": PULL_REQUEST,
    "dependabot": STRANGERS,
    "commit-on-dependabots-branch": PULL_REQUEST,
    "merge-group": {
        "evals-validate.yml": INVALID,
        "evals-gate.yml": replace(GATE, kept=f"artifact, {QUEUE}"),
        GRADES: replace(SAFE, kept=f"artifact, {QUEUE}"),
        POSTS: NOTHING,
    },
    "push": {
        "evals-validate.yml": VALIDATED,
        "evals-default-branch.yml": DEFAULT_BRANCH,
        "evals-shards.yml": SHARDS,
    },
    "push-by-dependabot": {
        "evals-validate.yml": VALIDATED,
        "evals-default-branch.yml": NOTHING,
        "evals-shards.yml": NOTHING,
    },
    "schedule": {"evals-generate.yml": GENERATE, NIGHTLY: NIGHT, ADDS: HISTORY},
    "dispatch": {
        "evals-default-branch.yml": DEFAULT_BRANCH,
        "evals-generate.yml": GENERATE,
        NIGHTLY: NIGHT,
        ADDS: HISTORY,
    },
}


@dataclass(frozen=True, slots=True)
class Scene:
    """Where workflows run: a repository, a judge, a GitHub, and what runs keep."""

    repository: Repository
    published: Checkout
    judge: AnswerJudge
    github: GitHub
    scratch: Path

    def play(self, workflow: str, role: Role, conclusion: str = "failure") -> tuple[Row, str]:
        """Run a workflow; return what it did, and its log."""
        self.judge.answers.clear()
        before = set(self.kept())
        follows = workflow in FOLLOWS.values()
        sent = finished(role, self.repository.head, conclusion)
        job = self.repository.run(
            workflow,
            role,
            published=self.published,
            scratch=self.scratch,
            environ=self.environ(),
            event=("workflow_run", sent) if follows else None,
        )
        asked = sorted(Counter(self.judge.answers).items())
        row = Row(
            jobs=tuple(line.replace("rubric-ci/rubric-ci", "rubric-ci") for line in job.ran),
            judged=", ".join(f"{name} x{n}" for name, n in asked),
            posted=len(self.github.pulls[7].comments) + len(self.github.issues),
            kept=", ".join(sorted({place(path) for path in set(self.kept()) - before})),
        )
        return row, job.log

    def kept(self) -> Iterator[Path]:
        """Yield what runs have kept."""
        top = self.scratch / "kept"
        yield from (path.relative_to(top) for path in top.rglob("*") if path.is_file())

    def environ(self) -> dict[str, str]:
        """Return what leads requests and git to this machine; only a token that writes pushes."""
        return {
            "GITHUB_API_URL": self.github.url,
            "OPENAI_BASE_URL": f"{self.judge.url}/v1",
            "GIT_CONFIG_COUNT": "2",
            "GIT_CONFIG_KEY_0": f"url.{self.scratch}/history.git.insteadOf",
            "GIT_CONFIG_VALUE_0": "https://github.com/acme/app",
            "GIT_CONFIG_KEY_1": f"url.{self.scratch}/history.git.insteadOf",
            "GIT_CONFIG_VALUE_1": "https://x-access-token:writes@github.com/acme/app",
        }


def place(path: Path) -> str:
    """Return the cache, without its key, or the kind of thing that a file belongs to."""
    if path.parts[0] == "caches":
        return re.sub(r"caches/(.*)/[\w-]+-\d+-1/kept\b.*", r"\1", path.as_posix())
    return "page" if path.parts[0] == "pages" else "artifact"


@pytest.fixture(scope="session")
def repository(shared: Path) -> Repository:
    return Repository(once(shared / "acme", gate_repository.create))


@pytest.fixture
def judge() -> Iterator[AnswerJudge]:
    with judging() as server:
        yield server


@pytest.fixture
def github(repository: Repository) -> Iterator[GitHub]:
    tokens = {"writes": Token(), "reads": Token(writes=False)}
    pull = Pull(7, head_sha=repository.head)
    with serving(GitHub(tokens=tokens, pulls={7: pull})) as server:
        yield server


@pytest.fixture
def cold(
    repository: Repository, published: Checkout, judge: AnswerJudge, github: GitHub, tmp_path: Path
) -> Scene:
    """Return a scene in which nothing ran yet."""
    shutil.copytree(repository.folder / "history.git", tmp_path / "history.git")
    return Scene(repository, published, judge, github, tmp_path)


@pytest.fixture
def warm(cold: Scene, shared: Path) -> Scene:
    """Return a scene after a push to the default branch, which filled the caches."""

    def push(folder: Path) -> None:
        did, log = cold.play("evals-default-branch.yml", ROLES["push"])
        assert did == FIRST_PUSH, log
        (cold.scratch / "kept/caches").rename(folder)
        shutil.rmtree(cold.scratch / "kept")  # artifacts belong to their run

    shutil.copytree(once(shared / "warm", push), cold.scratch / "kept/caches")
    return cold


@pytest.mark.parametrize(
    ("role", "workflow"),
    [(role, name) for role, rows in TABLE.items() for name in rows if name not in FOLLOWS.values()],
)
def test_what_a_workflow_does(role: str, workflow: str, warm: Scene) -> None:
    warm.github.pulls[7].head_owner = ROLES[role].head.partition("/")[0]
    for name in filter(None, (workflow, FOLLOWS.get(workflow))):
        did, log = warm.play(name, ROLES[role])
        assert did == TABLE[role][name], log
    assert warm.judge.models <= {"honest"}  # never that of the change
    assert warm.github.checks == []


@pytest.mark.parametrize("role", ROLES)
def test_no_other_workflow_starts(role: str, repository: Repository) -> None:
    starts = runner.listed(repository.main, ROLES[role].event)
    assert starts - ELSEWHERE == TABLE[role].keys() - FOLLOWS.values()


@pytest.mark.parametrize(
    ("workflow", "role", "conclusion"),
    [
        (POSTS, "base", "cancelled"),
        (POSTS, "schedule", "failure"),
        (ADDS, "base", "failure"),  # a pull request may name a workflow as it likes
        (ADDS, "fork", "success"),
        (ADDS, "push", "success"),
        (ADDS, "schedule", "cancelled"),
    ],
)
def test_other_runs_are_ignored(workflow: str, role: str, conclusion: str, cold: Scene) -> None:
    did, log = cold.play(workflow, ROLES[role], conclusion)
    assert did == NOTHING, log


def test_a_cache_of_a_pull_request_does_not_hide_that_of_main(warm: Scene) -> None:
    own = warm.scratch / "kept/caches/refs/pull/7/merge/.rubric-ci_cache/rubric-ci-change-1-1/kept"
    own.mkdir(parents=True)
    (own / "used-by.json").write_text('{"used_by": []}')
    did, log = warm.play("evals-gate.yml", ROLES["base"])
    assert did.judged == BOTH_SIDES, log  # without the cache of main, the base is asked once more


def test_an_outage_keeps_no_report(cold: Scene) -> None:
    cold.judge.out = True
    did, log = cold.play("evals-default-branch.yml", ROLES["push"])
    assert did.jobs == (f"{DIGESTED} rubric-ci=3 cache/save {PAGES}",), log
    assert not (cold.scratch / "kept/rubric-ci-report").exists()  # report.html alone


class WithoutSecrets(Role):
    """A pull request of the repository's own branch, whose secret is not set."""

    @property
    def is_trusted(self) -> bool:
        return False


def test_the_second_workflow_posts_why_the_first_could_not_start(warm: Scene) -> None:
    did, log = warm.play(GRADES, WithoutSecrets())
    assert did == Row(jobs=(f"{RESTORES}=2 upload-artifact",), kept="artifact"), log
    assert (warm.scratch / "kept/rubric-ci-report/failure.json").exists()
    did, log = warm.play(POSTS, ROLES["base"])
    assert did == REPORT, log
    (comment,) = warm.github.pulls[7].comments
    assert "Gate undecided: the run could not start" in comment.body
    assert "The pull request's own run says so; it is not verified." in comment.body
    assert "OPENAI\\_API\\_KEY" in comment.body


def test_the_second_workflow_says_that_the_first_left_no_report(cold: Scene) -> None:
    did, log = cold.play(POSTS, ROLES["base"])
    assert did.posted == 1, log
    (comment,) = cold.github.pulls[7].comments
    assert "its run left no report; see the log of evals-gate-fork-safe" in comment.body
    did, log = cold.play(POSTS, ROLES["base"], "success")  # an artifact of another name
    assert did.jobs == ("comment: download-artifact=1",), log


def test_a_night_without_a_report_publishes_nothing(cold: Scene) -> None:
    without_secrets = replace(ROLES["schedule"], head="someone/app")
    did, log = cold.play(NIGHTLY, without_secrets)
    assert did == Row(jobs=(f"{STARTS} rubric-ci=2",)), log
    did, log = cold.play(ADDS, ROLES["schedule"])
    assert did == Row(jobs=(f"{FETCHES}=1",)), log


def test_init_writes_these_workflows(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "rubric_ci", "init", "--yes"]
    subprocess.run(words, cwd=tmp_path, capture_output=True, timeout=60, check=True)
    files = (tmp_path / ".github/workflows").glob("*.yml")
    written = {path.read_text() for path in files}
    names = ("evals-validate.yml", "evals-gate.yml", "evals-default-branch.yml", NIGHTLY)
    folder = gate_repository.ROOT / "examples/workflows"
    pin = at(OURS).partition("@")[2]
    texts = [(folder / name).read_text() for name in names]
    commit = f"@{checkout_commit(ENVIRONMENT)} # a checkout of v{__version__}"
    assert written == {re.sub(f"@{pin}.*", commit, text) for text in texts}
