"""The repository of the roles: acme/app with every workflow, and a pull request that breaks it.

Its pull request changes an answer for the worse, and everything that could hide that: another
judge, a gate that never fails, a rule that is off.
"""

from dataclasses import dataclass
from pathlib import Path

from tests.checkout import Checkout
from tests.hooks import runner
from tests.hooks.roles import QUEUE, Role, payload

ROOT = Path(__file__).parents[2]
WORKFLOWS = ".github/workflows"
CONFIG = """\
evals: [evals/*.eval.yaml]
judge:
  model: openai/honest
  api_key: "${{ OPENAI_API_KEY }}"
  input_cost_per_token: 1.0e-7
  output_cost_per_token: 1.0e-7
rules: {ungraded-cases: error}
targets:
  - {name: default, provider: recorded, answers: answers.jsonl}
"""
POLICY_OF_THE_CHANGE = (
    CONFIG.replace("honest", "mallory").replace("error", "off") + "gate: {fail_on: never}\n"
)
EVALS = """\
evalcases:
  - {id: greeting, input: Say hello, rubrics: [Greets]}
  - {id: farewell, input: Say hello again, rubrics: [Greets again]}
"""
UNGRADED = "  - {id: other, input: Say it, expected_outcome: Says it}\n"
ANSWERS = '{{"id": "greeting", "answer": "hello"}}\n{{"id": "farewell", "answer": "{}"}}\n'
BEFORE = {
    "rubric-ci.yaml": CONFIG,
    "evals/a.eval.yaml": EVALS,
    "answers.jsonl": ANSWERS.format("hello again"),
    ".gitignore": ".rubric-ci/\n",
}
CHANGE = {
    "rubric-ci.yaml": POLICY_OF_THE_CHANGE,
    "evals/a.eval.yaml": EVALS + UNGRADED,
    "answers.jsonl": ANSWERS.format("go away"),
}


@dataclass(frozen=True, slots=True)
class Repository:
    """Two checkouts as GitHub's, main and the merge of the pull request, and the commits."""

    folder: Path

    @property
    def main(self) -> Checkout:
        return Checkout(self.folder / "main")

    @property
    def merge(self) -> Checkout:
        return Checkout(self.folder / "merge")

    @property
    def base(self) -> str:
        return self.main.git("rev-parse", "HEAD")

    @property
    def head(self) -> str:
        return self.merge.git("rev-parse", "HEAD^2")

    def run(
        self,
        workflow: str,
        role: Role,
        *,
        published: Checkout,
        scratch: Path,
        environ: dict[str, str],
        event: tuple[str, dict[str, object]] | None = None,
    ) -> runner.Job:
        """Run a workflow of the repository in a role; `event` is another than the role's."""
        changed = event is None and role.event in {"pull_request", "merge_group"}
        checkout = self.merge if changed else self.main
        commits = self.base, self.head, self.merge.git("rev-parse", "HEAD")
        name, sent = event or (role.event, payload(role, *commits))
        trusted = role.is_trusted or event is not None
        queue = {"GITHUB_REF": QUEUE} if role.event == "merge_group" else {}
        return runner.run(
            checkout,
            workflow,
            folder=str(checkout.root / WORKFLOWS),
            scratch=scratch,
            only=("--actor", role.actor),
            event=name,
            payload=sent,
            published=published,
            environ=environ | queue,
            secrets={
                "GITHUB_TOKEN": "writes" if trusted else "reads",
                **({"OPENAI_API_KEY": "key"} if trusted else {}),
            },
        )


def create(folder: Path) -> None:
    """Make the repository, its pull request and GitHub's merge commit of it."""
    origin = Checkout.create(folder / "origin")
    origin.commit(BEFORE | {f"{WORKFLOWS}/{name}": text for name, text in workflows().items()})
    origin.git("checkout", "--quiet", "-b", "topic")
    origin.commit(CHANGE)
    origin.git("checkout", "--quiet", "main")
    origin.git("checkout", "--quiet", "--detach")
    origin.git("merge", "--quiet", "--no-ff", "--message=merge", "topic")
    origin.git("branch", "merged")
    for name, branch, depth in (("main", "main", "1"), ("merge", "merged", "2")):
        clone = origin.clone(folder / name, "--depth", depth, "--branch", branch)
        clone.git("checkout", "--quiet", "--detach")
        clone.git("remote", "set-url", "origin", "https://github.com/acme/app.git")
    history = Checkout.create(folder / "history")
    history.git("checkout", "--quiet", "--orphan", "rubric-ci-history")
    history.commit()
    history.clone(folder / "history.git", "--bare")


def workflows() -> dict[str, str]:
    """Return the workflows of examples/ by their names."""
    folder = ROOT / "examples/workflows"
    return {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.yml")}
