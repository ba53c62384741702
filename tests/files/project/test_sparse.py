"""A sparse checkout: cases that are not there are not removed."""

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from tests.checkout import ENVIRONMENT, Checkout
from tests.invoke import invoke

CONFIG = "targets: [{name: default, provider: mock, response: hello}]\n"


def suite(case: str, text: str) -> str:
    return f"evalcases: [{{id: {case}, input: q, rubrics: [{{contains: {text}}}]}}]\n"


@pytest.fixture
def origin(tmp_path: Path) -> Checkout:
    """Two suites; the last commit makes the case of the second one fail."""
    made = Checkout.create(tmp_path / "origin")
    made.commit(
        {
            "rubric-ci.yaml": CONFIG,
            "x/x.eval.yaml": suite("x", "hello"),
            "y/y.eval.yaml": suite("y", "hello"),
            "z/code.py": "1\n",
        }
    )
    made.commit({"y/y.eval.yaml": suite("y", "nope"), "z/code.py": "2\n"})
    return made


def sparse(origin: Checkout, *folders: str) -> Checkout:
    made = origin.clone(origin.root.parent / "sparse", "--sparse")
    made.git("sparse-checkout", "set", *folders)
    return made


REFUSED = """\
rubric-ci: this checkout is sparse, without y/y.eval.yaml: the cases there would look removed
check out these folders (`git sparse-checkout add`, `sparse-checkout` of actions/checkout), \
or pass as PATHS those that are there
"""


@pytest.mark.parametrize(
    "options", [["--changed-since", "HEAD^"], ["--against", "HEAD^"], ["--baseline", "b.json"]]
)
def test_eval_files_that_are_left_out(origin: Checkout, options: list[str]) -> None:
    made = sparse(origin, "x")
    (made.root / "b.json").write_text(json.dumps({}))
    done = invoke(made.root, ENVIRONMENT, "run", *options)
    assert (done.returncode, " ".join(done.stderr.split())) == (2, " ".join(REFUSED.split()))


@pytest.mark.parametrize(
    ("folders", "paths", "status"),
    [(["x", "y"], [], 1), (["x"], ["x"], 0)],
    ids=["others", "paths"],
)
def test_sparse(origin: Checkout, folders: list[str], paths: list[str], status: int) -> None:
    made = sparse(origin, *folders)
    done = invoke(made.root, ENVIRONMENT, "run", "--changed-since", "HEAD^", *paths)
    assert (done.returncode, "Removed" in done.stdout) == (status, False)


def test_a_file_that_is_removed_is_not_left_out(origin: Checkout) -> None:
    origin.git("rm", "-q", "y/y.eval.yaml")
    origin.commit()
    done = invoke(sparse(origin, "x").root, ENVIRONMENT, "run", "--changed-since", "HEAD^")
    assert (done.returncode, "Removed since the base: `y`." in done.stdout) == (0, True)


def graded(checkout: Checkout, output: str, paths: Sequence[str]) -> tuple[int, list[str]]:
    """Run what changed; return the exit code and the cases that ran."""
    options = ("--changed-since", "HEAD^", "--output-dir", output)
    done = invoke(checkout.root, ENVIRONMENT, "run", *options, *paths)
    report = checkout.root / output / "report.json"
    cases = json.loads(report.read_text())["cases"] if report.exists() else []
    return done.returncode, sorted(case["id"] for case in cases)


@pytest.mark.parametrize("seed", range(6))
def test_drawn_checkouts(seed: int, tmp_path: Path) -> None:
    """A part of a checkout grades as the whole, or is refused; its own reports change nothing."""
    draw, folders = Random(seed), ["a", "b", "c"]
    origin = Checkout.create(tmp_path / "origin")
    target = "targets: [{name: default, provider: cli, command_template: echo hello}]\n"
    files = {f"{each}/{each}.eval.yaml": suite(each, "hello") for each in folders}
    origin.commit({"rubric-ci.yaml": target, **files})
    edited = draw.sample(sorted(files), draw.randint(1, 2))
    origin.commit({each: suite(each[0], draw.choice(["hell", "nope"])) for each in edited})
    kept = draw.sample(folders, draw.randint(1, 3))
    paths = draw.choice([[], kept, draw.sample(folders, 2)])
    whole, part = origin.clone(tmp_path / "whole"), sparse(origin, *kept)
    expected = graded(whole, "one", paths)
    assert expected[1] == sorted(each[0] for each in edited if not paths or each[0] in paths)
    if not {*(paths or folders)} <= {*kept}:
        expected = 2, []
    assert [graded(part, each, paths) for each in ("one", "out/two", "one")] == [expected] * 3
