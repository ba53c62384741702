"""`rubric-ci run --untrusted`: a stranger's commit is graded, none of it runs or configures."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.checkout import Checkout
from tests.invoke import invoke
from tests.sample_project import clean_environment
from tests.security.test_policy_from_base import KEY, judging

CONFIG = """\
evals: [evals/**/*.yaml]
rules: {base-not-asked: "off"}
targets:
  - {name: default, provider: mock, response: Hello there}
  - {name: program, provider: cli, command_template: "cat {PROMPT_FILE}", depends_on: [src/**]}
  - {name: kept, provider: recorded, answers: answers.jsonl}
  - {name: service, provider: http, url: "http://127.0.0.1:9/", body: {q: "{{ input }}"}}
"""
EVAL = """\
evalcases:
  - id: greeting
    input: Say hello
    rubrics: [{contains: Hello}]
"""
SCRIPTED = """\
evalcases:
  - id: scripted
    input: Say hello
    execution:
      evaluators: [{name: polite, type: code_judge, script: [sh, judges/polite.sh]}]
"""
POLITE = "printf '{\"score\": 1}'\n"
FILES = {
    "rubric-ci.yaml": CONFIG,
    "evals/a.yaml": EVAL,
    "evals/s.yaml": SCRIPTED,
    "evals/judges/polite.sh": POLITE,
    "src/agent.py": "print(1)\n",
    "answers.jsonl": '{"id": "recorded", "answer": "Hello"}\n',
}
START = "not gradable for an untrusted change: "


class Pull:
    """A checkout of the base branch, and a stranger's commit in its objects."""

    def __init__(self, root: Path) -> None:
        self.checkout = Checkout.create(root)
        self.checkout.commit(FILES)
        self.sha = ""

    def propose(self, files: dict[str, str], *gone: str) -> None:
        """Commit files on a branch, and go back to the base."""
        self.checkout.git("switch", "--quiet", "--create", "stranger")
        for name in gone:
            (self.checkout.root / name).unlink()
        self.sha = self.checkout.commit(files)
        self.checkout.git("switch", "--quiet", "main")

    def run(self, *options: str, **more: str) -> subprocess.CompletedProcess[str]:
        words = ("run", "--untrusted", self.sha, *options)
        return invoke(self.checkout.root, clean_environment() | more, *words)

    @property
    def report(self) -> dict[str, Any]:
        text = (self.checkout.root / ".rubric-ci/report.json").read_text()
        report: dict[str, Any] = json.loads(text)
        return report

    @property
    def cases(self) -> dict[str, str]:
        """The verdict of each case, or why it has none."""
        return {case["id"]: case.get("verdict", case["reason"]) for case in self.report["cases"]}


@pytest.fixture
def pull(tmp_path: Path) -> Pull:
    return Pull(tmp_path / "repository")


def case(identifier: str, more: str = "rubrics: [{contains: Hello}]", asked: str = "Hi") -> str:
    return f"evalcases:\n  - id: {identifier}\n    input: {asked}\n    {more}\n"


def test_a_changed_case_is_graded_and_the_checkout_stays_as_it_is(pull: Pull) -> None:
    pull.propose({"evals/a.yaml": EVAL.replace("{contains: Hello}", "{contains: Goodbye}")})
    done = pull.run()
    assert (done.returncode, pull.cases) == (1, {"greeting": "fail"})
    assert (pull.checkout.root / "evals/a.yaml").read_text() == EVAL
    (first, *_) = pull.report["notes"]
    base = pull.checkout.git("rev-parse", "HEAD")
    assert first == (
        f"Untrusted change: texts come from {pull.sha[:10]}, everything else from {base[:10]}."
    )


def test_a_new_case_is_graded_and_a_report_shows_what_changes_in_the_grading(pull: Pull) -> None:
    pull.propose({"evals/new.yaml": case("new")})
    assert pull.run().returncode == 0
    assert pull.cases == {"new": "pass"}
    assert [each["about"] for each in pull.report["grading_changes"]] == ["new"]


def test_a_change_of_no_case_has_nothing_to_grade(pull: Pull) -> None:
    pull.propose({"README.md": "Hello\n"})
    assert pull.run().returncode == 0
    assert pull.report["verdict"] == "nothing-changed"


JUDGED_BY = "execution: {evaluators: [{name: j, type: llm_judge"
CHANGED = "changed, and configuration comes from the checkout"
NOT_GRADABLE = {
    "configuration": (
        {"rubric-ci.yaml": CONFIG.replace("Hello there", "Hello Eve")},
        dict.fromkeys(("greeting", "scripted"), f"`rubric-ci.yaml` {CHANGED}"),
    ),
    "targets file": (
        {"evals/targets.yaml": "targets: [{name: default, provider: mock, response: Eve}]\n"},
        dict.fromkeys(("greeting", "scripted"), f"`evals/targets.yaml` {CHANGED}"),
    ),
    "script": (
        {"evals/judges/polite.sh": "touch pwned\n"},
        {"scripted": "`evals/judges/polite.sh` changed, on which the script of `polite` depends"},
    ),
    "command in place of a script": (
        {"evals/s.yaml": SCRIPTED.replace("[sh, judges/polite.sh]", "touch pwned")},
        {"scripted": "the script of `polite` is not one of the checkout"},
    ),
    "variables for a script": (
        {"evals/s.yaml": SCRIPTED.replace("type: code", "env: [SECRET_KEY], type: code")},
        {"scripted": "the script of `polite` is not one of the checkout"},
    ),
    "code of a program": (
        {
            "src/agent.py": "print(2)\n",
            "evals/p.yaml": case("p", "target: program\n    rubrics: [{contains: Hello}]"),
        },
        {"p": "target `program` starts a program, and `src/agent.py` changed"},
    ),
    "text for a service": (
        {"evals/p.yaml": case("p", "target: service\n    rubrics: [{contains: Hi}]")},
        {"p": "target `service` asks a service, which gets no text of the change"},
    ),
    "judge prompt": (
        {"evals/j.yaml": case("j", f"{JUDGED_BY}, prompt: 'Say 1, {{{{ answer }}}}'}}]}}")},
        {"j": "`j` has a judge prompt that the checkout does not have"},
    ),
    "model of a judge": (
        {"evals/j.yaml": case("j", f"{JUDGED_BY}, model: openai/eve, rubrics: [Is kind]}}]}}")},
        {"j": "`j` asks the judge `openai/eve`, which the checkout does not ask"},
    ),
    "command in a workspace": (
        {"evals/c.yaml": case("c", "rubrics: [{command: touch pwned}]")},
        {"c": '`rubric` has a command that the checkout does not have: {"command": "touch pwned"}'},
    ),
}


@pytest.mark.parametrize(("files", "reasons"), NOT_GRADABLE.values(), ids=NOT_GRADABLE)
def test_ungradable_cases(files: dict[str, str], reasons: dict[str, str], pull: Pull) -> None:
    pull.propose(files)
    done = pull.run()
    assert (done.returncode, pull.report["verdict"]) == (3, "error"), done.stdout
    assert pull.cases == {name: START + reason for name, reason in reasons.items()}
    assert {each["outcome"] for each in pull.report["cases"]} == {"skipped"}
    assert not list(pull.checkout.root.rglob("pwned"))


EVIL = case("u", more="target: evil\n    rubrics: [{contains: Eve}]")
EVIL_TARGET = "targets: [{name: evil, provider: mock, response: Eve}]\n"
GATED = {"rubric-ci.yaml": CONFIG + "gate: {targets: [default]}\n"}
NOT_THERE = (
    {"evals/u.yaml": EVIL, "evals/new.yaml": case("new"), "rubric-ci.yaml": EVIL_TARGET},
    dict.fromkeys(("greeting", "scripted", "new", "u"), START + f"`rubric-ci.yaml` {CHANGED}"),
)
TALK = """\
evalcases:
  - id: talk
    simulated_user: {persona: Terse., goal: A refund., max_turns: 2}
    rubrics: [Greets]
"""
OUTCOMES: dict[str, tuple[dict[str, str], dict[str, str], dict[str, str]]] = {
    "recorded answers alone": (
        {"evals/r.yaml": case("recorded", more="target: kept\n    rubrics: [{contains: Hello}]")},
        {"answers.jsonl": '{"id": "recorded", "answer": "Eve"}\n'},
        {"recorded": f"{START}`answers.jsonl` changed, which has the answers of target `kept`"},
    ),
    "the cap of cases of the checkout": (
        {"rubric-ci.yaml": f"{CONFIG}untrusted: {{max_cases: 1}}\n"},
        {"evals/a.yaml": case("one"), "evals/b.yaml": case("two")},
        {"one": "pass", "two": f"{START}more than 1 cases (`untrusted.max_cases`)"},
    ),
    "the cap of characters": (
        {},
        {"evals/a.yaml": case("one", asked="word " * 50_000)},
        {"one": f"{START}more than 200,000 characters (`untrusted.max_characters`)"},
    ),
    "a table comes from the commit": (
        {},
        {
            "evals/t.yaml": "evalcases: cases.csv\nrubrics: [{contains: Hello}]\n",
            "evals/cases.csv": "id,input\nrow,Hi\nother,Ho\n",
        },
        {"row": "pass", "other": "pass"},
    ),
    "a target of the change": ({}, *NOT_THERE),
    "a target of the change, with a gate": (GATED, *NOT_THERE),
    "a target that is nowhere, and another case": (
        GATED,
        {"evals/u.yaml": EVIL, "evals/new.yaml": case("new")},
        {"u": f"{START}target `evil` is not one of the checkout", "new": "pass"},
    ),
    "a simulated user of a changed configuration": (
        {},
        {"evals/talk.yaml": TALK, "rubric-ci.yaml": f"{CONFIG}# changed\n"},
        dict.fromkeys(("greeting", "scripted", "talk"), START + f"`rubric-ci.yaml` {CHANGED}"),
    ),
}


@pytest.mark.parametrize(("base", "files", "cases"), OUTCOMES.values(), ids=OUTCOMES)
def test_what_becomes_of_each_case(
    base: dict[str, str], files: dict[str, str], cases: dict[str, str], pull: Pull
) -> None:
    pull.checkout.commit(base)
    pull.propose(files)
    done = pull.run()
    expected = 3 if START in str(cases) else 0
    assert (done.returncode, pull.cases) == (expected, cases), done.stderr


def test_a_case_that_fails_decides_before_one_that_is_not_gradable(pull: Pull) -> None:
    fails = {"evals/a.yaml": EVAL.replace("contains: Hello", "contains: Goodbye")}
    pull.propose(fails | {"evals/judges/polite.sh": "touch pwned\n"})
    assert pull.run().returncode == 1
    assert pull.run("--fail-on", "never").returncode == 3


def test_what_the_base_changed_since_is_not_undone(pull: Pull) -> None:
    pull.propose({"evals/new.yaml": case("new")})
    pull.checkout.commit({"evals/a.yaml": EVAL.replace("Say hello", "Greet me")})
    assert pull.run().returncode == 0
    assert pull.cases == {"new": "pass"}


EXCLUDES = "exclude each other: the commit is compared with the checkout, whose policy holds"
JUDGED = """\
evals: [evals/**/*.yaml]
judge:
  {{model: openai/gpt-6-luna, api_base: "{base}/v1", api_key: "${{{{ OPENAI_API_KEY }}}}"{price}}}
targets: [{{name: default, provider: mock, response: Hello}}]
"""
OVER = (
    "the next call may cost $0.0072; increase the limit, or set `max_tokens` of "
    "openai/gpt-6-luna below 4,096"
)
PRICE = ", input_cost_per_token: 0.000001, output_cost_per_token: 0.000001"


@pytest.mark.parametrize(
    ("cap", "options", "code", "cases", "keys"),
    [
        ("", (), 0, {"new": "pass"}, {f"Bearer {KEY}"}),
        (
            "untrusted: {max_cost_usd: 0}\n",
            ("--max-cost-usd", "5"),
            3,
            {"new": f"rubric: budget: $0.0000 of $0 spent; {OVER}"},
            set(),
        ),
    ],
    ids=["the judge of the checkout is asked with its key", "a cap of nothing asks nothing"],
)
def test_what_the_judge_is_asked(
    cap: str, options: tuple[str, ...], code: int, cases: dict[str, str], keys: set[str], pull: Pull
) -> None:
    with judging(satisfied=True) as judge:
        pull.checkout.commit({"rubric-ci.yaml": JUDGED.format(base=judge.url, price=PRICE) + cap})
        pull.propose({"evals/new.yaml": case("new", more="rubrics: [Greets]")})
        done = pull.run(*options, OPENAI_API_KEY=KEY)
    assert (done.returncode, pull.cases, set(judge.keys)) == (code, cases, keys), done.stderr


REFUSED = {
    "shards": (
        ["--shard", "1/2"],
        "--untrusted and --shard exclude each other: the caps hold for one run",
    ),
    "another base": (["--against", "main"], f"--untrusted and --against {EXCLUDES}"),
    "another policy": (["--policy-from", "head"], f"--untrusted and --policy-from {EXCLUDES}"),
}


@pytest.mark.parametrize(("options", "message"), REFUSED.values(), ids=REFUSED)
def test_options_that_are_refused(options: list[str], message: str, pull: Pull) -> None:
    pull.propose({"evals/new.yaml": case("new")})
    done = pull.run(*options)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())


TRUSTED = "only its files are trusted"


@pytest.mark.parametrize(
    ("in_clone", "message"),
    [
        (True, f"the checkout already has `{{}}`\n  check out the base branch; {TRUSTED}"),
        (False, "`{}` is not in this clone\n  fetch it first: git fetch origin pull/NUMBER/head"),
    ],
    ids=["a checkout of the commit", "no such commit"],
)
def test_a_commit_that_is_refused(pull: Pull, message: str, *, in_clone: bool) -> None:
    pull.sha = pull.checkout.git("rev-parse", "HEAD") if in_clone else "1" * 40
    done = pull.run()
    said = f"rubric-ci: --untrusted: {message.format(pull.sha)}\n"
    assert (done.returncode, done.stderr) == (2, said)


def test_a_checkout_without_a_configuration_is_refused(pull: Pull) -> None:
    pull.checkout.git("rm", "--quiet", "rubric-ci.yaml")
    pull.checkout.commit()
    pull.propose({"rubric-ci.yaml": CONFIG})
    done = pull.run()
    assert done.returncode == 2
    assert "the checkout has no configuration in git" in done.stderr


def test_a_stranger_takes_a_case_out_of_the_gate(pull: Pull) -> None:
    core = EVAL.replace("input: Say", "tags: [core]\n    input: Say")
    pull.checkout.commit(
        {
            "rubric-ci.yaml": CONFIG + "gate: {on_weaker_grading: fail, tags: [core]}\n",
            "evals/a.yaml": core,
            "evals/b.yaml": core.replace("greeting", "other"),
        }
    )
    pull.propose({"evals/a.yaml": core.replace("core", "Core").replace("Say hello", "Say no")})
    done = pull.run()
    assert done.returncode == 1, done.stdout
    (weaker,) = [each for each in pull.report["grading_changes"] if each["direction"] == "weaker"]
    assert (weaker["kind"], weaker["about"]) == ("tag", "greeting")
    assert (weaker["before"], weaker["after"]) == ("core (decides)", "Core (does not decide)")
