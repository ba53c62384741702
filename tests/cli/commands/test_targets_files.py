"""Which targets file serves which eval file, in every command."""

import pytest

from tests.checkout import Checkout
from tests.cli.commands.test_run_against import report, run
from tests.cli.commands.test_validate import rubric_ci

CASE = """\
evalcases:
  - id: {name}
    input: Say it
    evaluators: [{{name: s, type: code_judge, script: 'grep -qx {name} {{answer_file}}'}}]
"""


def targets(answer: str, *names: str) -> str:
    target = "  - {{name: {}, provider: mock, response: {}}}\n"
    lines = "".join(target.format(name, answer) for name in names or ("default",))
    return f"targets:\n{lines}"


def written(path: str, answer: str) -> str:
    """Return a file with the target `default`, in the format of its name."""
    provider = f"- {{id: mock, label: default, response: {answer}}}\n"
    return provider if "providers" in path else targets(answer)


def answers(checkout: Checkout) -> dict[str, str]:
    return {case["id"]: case["answer"] for case in report(checkout)["cases"]}


PRECEDENCE = {
    "of two folders, each its own": (
        {"a/.agentv/targets.yaml": "a", "b/.agentv/targets.yaml": "b"},
        {"a": "a", "b": "b"},
    ),
    "the nearest": (
        {"targets.yaml": "root", "a/targets.yaml": "a", ".agentv/targets.yaml": "hidden"},
        {"a": "a", "b": "root"},
    ),
    "providers of AgentV 5 after targets": (
        {
            "a/.agentv/providers.yaml": "new",
            "a/.agentv/targets.yaml": "old",
            "b/.agentv/providers.yml": "b",
        },
        {"a": "old", "b": "b"},
    ),
    "the configuration comes first": (
        {"rubric-ci.yaml": "config", "a/targets.yaml": "a"},
        {"a": "config", "b": "config"},
    ),
    "in one folder, the plain file comes first": (
        {"a/targets.yaml": "plain", "a/.agentv/targets.yaml": "hidden", "targets.yml": "root"},
        {"a": "plain", "b": "root"},
    ),
}


@pytest.mark.parametrize(("files", "expected"), PRECEDENCE.values(), ids=PRECEDENCE)
def test_run_takes_the_nearest_targets_file(
    checkout: Checkout, files: dict[str, str], expected: dict[str, str]
) -> None:
    checkout.write({path: written(path, answer) for path, answer in files.items()})
    checkout.write({f"{name}/one.yaml": CASE.format(name=name) for name in "ab"})
    run(checkout, "a", "b")
    assert answers(checkout) == expected


@pytest.mark.parametrize("path", [[], ["a/.agentv/targets.yaml", "targets.yaml"]])
def test_validate_reports_names_defined_twice(checkout: Checkout, path: list[str]) -> None:
    checkout.write(
        {
            "rubric-ci.yaml": targets("config", "first"),
            "a/.agentv/targets.yaml": targets("hidden", "near", "second", "third"),
            "a/targets.yaml": targets("a", "near", "own"),
            "targets.yaml": targets("root", "first", "second", "own", "other"),
            "b/targets.yaml": targets("b", "near", "other"),
            "a/one.yaml": CASE.format(name="a"),
            "b/one.yaml": CASE.format(name="b"),
        }
    )
    done = rubric_ci("validate", *path, cwd=checkout.root)
    assert done.returncode == 0
    assert [line for line in done.stdout.splitlines() if " warning: " in line] == SHADOWED


FIRST = "which comes first"
IN = f"{FIRST} for eval files in `{{}}`"
HINT = "rename one of the two, or remove it"
SHADOWED = [
    f"{place}:12: warning: target-shadowed: {message}; {HINT}"
    for place, message in (
        ("a/.agentv/targets.yaml:2", f"`near` is also defined in `a/targets.yaml`, {FIRST}"),
        ("targets.yaml:2", f"`first` is also defined in `rubric-ci.yaml`, {FIRST}"),
        (
            "targets.yaml:3",
            f"`second` is also defined in `a/.agentv/targets.yaml`, {IN.format('a')}",
        ),
        ("targets.yaml:4", f"`own` is also defined in `a/targets.yaml`, {IN.format('a')}"),
        ("targets.yaml:5", f"`other` is also defined in `b/targets.yaml`, {IN.format('b')}"),
    )
]
UNMATCHED = """\
depends_on: [scr/**, src/**, '!none/**']
evalcases:
  - id: one
    input: Hi
    depends_on: [src/agnet.py, nowhere/x.py, 'src/*.js', '../src/*', ./src/agent.py, src]
    evaluators: [{name: s, type: code_judge, script: 'true'}]
"""
WRONG_TARGET = targets("x").replace("}", ", depends_on: [srcs/**]}")
NEAREST = {
    "scr/**": "did you mean `src/**`?",
    "src/agnet.py": "did you mean `src/agent.py`?",
    "nowhere/x.py": "globs count from the root of the repository",
    "src/*.js": "the nearest existing path is `src`",
    "../src/*": "globs count from the root of the repository",
}


def test_validate_reports_dependencies_that_match_no_file(checkout: Checkout) -> None:
    checkout.write(
        {"src/agent.py": "", "evals/a.yaml": UNMATCHED, "evals/targets.yaml": WRONG_TARGET}
    )
    done = rubric_ci("validate", cwd=checkout.root)
    found = [line.split(" warning: ") for line in done.stdout.splitlines() if "warning: " in line]
    rule = "depends-on-unmatched: no file matches"
    assert done.returncode == 0
    assert found == [
        ["evals/targets.yaml:2:63:", f"{rule} `srcs/**`; did you mean `src/**`?"],
        *(
            [f"evals/a.yaml:{place}:", f"{rule} `{glob}`; {hint}"]
            for place, (glob, hint) in zip(
                ("1:14", "5:18", "5:32", "5:46", "5:58"), NEAREST.items(), strict=True
            )
        ),
    ]


def test_every_run_notes_dependencies_that_match_no_file(checkout: Checkout) -> None:
    checkout.write({"src/agent.py": "", "evals/a.yaml": UNMATCHED, "targets.yaml": WRONG_TARGET})
    run(checkout, "evals")
    of_target = (
        "No file matches `srcs/**` under `depends_on` of target `default`: did you mean `src/**`?"
    )
    assert report(checkout)["notes"] == [
        *(
            f"No file matches `{glob}` under `depends_on` of `evals/a.yaml`: {hint}"
            for glob, hint in NEAREST.items()
        ),
        of_target,
    ]
    checkout.commit({"evals/a.yaml": CASE.format(name="x")})
    checkout.write({"src/agent.py": "import sys\n"})
    assert run(checkout, "evals", "--changed-since", "HEAD").returncode == 0
    assert report(checkout)["verdict"] == "nothing-changed"
    assert report(checkout)["notes"] == [of_target]
