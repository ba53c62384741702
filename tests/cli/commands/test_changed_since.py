"""`rubric-ci run --changed-since` as a user types it."""

import json
from pathlib import Path

import pytest

from rubric_ci.text.globs import Comparisons
from tests.checkout import ENVIRONMENT, Checkout
from tests.cli.commands.test_run_against import report, run
from tests.invoke import invoke

EVALS = """\
evalcases:
  - id: one
    input: Say hello
    tags: [fast]
    evaluators: [{name: s, type: code_judge, script: 'grep -qi hello {answer_file}'}]
  - id: two
    input: Say hello
    evaluators: [{name: s, type: code_judge, script: 'grep -qi hello {answer_file}'}]
"""
FILES = {
    "rubric-ci.yaml": "targets: [{name: default, provider: mock, response: Hello}]\n",
    "evals/a.yaml": EVALS,
}


ONE_OF_TWO = {"complete": False, "narrowed_by": ["changed-since"], "suite": 2}


def test_only_changed_cases_run_and_the_report_gives_the_reason(checkout: Checkout) -> None:
    base = checkout.commit(FILES)
    checkout.write({"evals/a.yaml": EVALS.replace("Say hello", "Say hi", 1)})
    done = run(checkout, "evals", "--changed-since", "main")
    assert (done.returncode, done.stderr) == (0, "[1/1] pass       1.00  one\n")
    (case,) = report(checkout)["cases"]
    assert (case["id"], case["why"]) == ("one", "the case was edited: input_messages")
    named = f"the last common commit with `main` ({base[:10]})"
    assert report(checkout)["scope"] == ONE_OF_TWO | {"base": named}
    assert report(checkout)["notes"] == []
    assert f"changed cases since {named}" in " ".join(done.stdout.split())


def test_nothing_changed_is_a_verdict_of_its_own(checkout: Checkout) -> None:
    checkout.commit(FILES)
    for _ in range(2):  # our own output of the first run is no change either
        done = run(checkout, "evals", "--changed-since", "HEAD")
        assert (done.returncode, done.stderr) == (0, "")
        assert report(checkout)["verdict"] == "nothing-changed"
        assert report(checkout)["scope"].items() >= ONE_OF_TWO.items()


def test_a_selection_by_tag_counts_only_its_own_cases(checkout: Checkout) -> None:
    checkout.commit(FILES)
    checkout.write({"evals/a.yaml": EVALS.replace("Say hello", "Say hi")})
    run(checkout, "evals", "--changed-since", "HEAD", "--tag", "fast")
    assert [case["id"] for case in report(checkout)["cases"]] == ["one"]
    assert report(checkout)["scope"].items() >= (ONE_OF_TWO | {"narrowed_by": ["tag"]}).items()


def test_it_works_from_a_folder_of_the_repository(checkout: Checkout) -> None:
    checkout.commit(FILES)
    checkout.write({"evals/a.yaml": EVALS.replace("Say hello", "Say hi", 1)})
    inside = Checkout(checkout.root / "evals")
    assert run(inside, "a.yaml", "--changed-since", "HEAD").returncode == 0
    assert report(inside)["scope"].items() >= ONE_OF_TWO.items()
    run(inside, "a.yaml", "--changed-since", "HEAD")
    assert report(inside)["scope"].items() >= ONE_OF_TWO.items()


@pytest.mark.parametrize("option", ["--changed-since", "--against"])
def test_a_misspelt_revision(checkout: Checkout, option: str) -> None:
    checkout.commit(FILES)
    done = run(checkout, "evals", option, "mian")
    said = (
        f"rubric-ci: {option}: there is no revision `mian` here\n"
        "  run `git fetch`, or name a branch, tag or commit that `git rev-parse` knows\n"
    )
    assert (done.returncode, done.stderr) == (2, said)


def test_without_git(checkout: Checkout) -> None:
    checkout.write(FILES)
    (checkout.root / ".git").rename(checkout.root / "git")
    around = {"GIT_CEILING_DIRECTORIES": str(checkout.root.parent)}
    done = run(checkout, "evals", "--changed-since", "main", **around)
    assert done.returncode == 2
    assert done.stderr.startswith("rubric-ci: git rev-parse failed in ")


def test_the_base_of_a_branch_is_found(checkout: Checkout) -> None:
    base = checkout.commit(FILES)
    checkout.git("update-ref", "refs/remotes/origin/main", base)
    checkout.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    checkout.git("switch", "--quiet", "--create", "topic")
    checkout.commit({"evals/a.yaml": EVALS.replace("id: two", "id: three")})
    run(checkout, "evals", "--changed-since", "auto")
    assert [case["why"] for case in report(checkout)["cases"]] == ["the case is new"]
    assert report(checkout)["notes"] == ["Removed since the base: `two`."]


def test_without_a_base_all_cases_run_and_the_report_has_a_note(checkout: Checkout) -> None:
    checkout.commit(FILES)
    run(checkout, "evals", "--changed-since", "auto")
    assert len(report(checkout)["cases"]) == 2
    (note,) = report(checkout)["notes"]
    assert note == (
        "Every case runs, as there is nothing to compare with: `origin/HEAD` is not known; "
        "name a base with `--changed-since`."
    )


def test_the_base_comes_from_the_event_of_a_workflow(checkout: Checkout, tmp_path: Path) -> None:
    checkout.commit(FILES)
    before = checkout.commit({"evals/a.yaml": EVALS.replace("Say hello", "Say hi", 1)})
    checkout.commit({"README.md": "read me\n"})
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"repository": {"default_branch": "main"}, "before": before}))
    known = {"GITHUB_REPOSITORY": "acme/shop", "GITHUB_EVENT_PATH": str(event)}
    known |= {"GITHUB_REF": "refs/heads/main", "GITHUB_EVENT_NAME": "push"}
    run(checkout, "evals", "--changed-since", "auto", **known)
    assert report(checkout)["scope"]["base"] == f"the branch before the push ({before[:10]})"
    assert report(checkout)["verdict"] == "nothing-changed"


def test_globs_and_files_too_many(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    """A case is never skipped because its globs could not be compared."""
    monkeypatch.setattr(Comparisons, "MOST", 20)
    row = "- {{id: c{0}, input: Hi, rubrics: [contains: H], depends_on: ['src/*[0-9{0}]']}}\n"
    cases = "".join(row.format(n) for n in range(30))
    checkout.commit(FILES | {"evals/a.yaml": f"evalcases:\n{cases}"})
    checkout.commit({f"src/f{n}": "" for n in range(9)})
    done = run(checkout, "evals", "--changed-since", "HEAD~1")
    too_many = "there are too many globs and files to test each glob on each file"
    why = {case["id"]: case["why"] for case in report(checkout)["cases"]}
    assert why["c0"] == "`src/f0` and 8 more files changed"
    assert why["c29"] == f"its `depends_on` is not compared: {too_many}"
    assert f"Not every glob under `depends_on` is looked up: {too_many}." in " ".join(
        done.stdout.split()
    )
    checked = invoke(checkout.root, ENVIRONMENT, "validate", "evals")
    assert f"depends-on-unmatched: `src/*[0-929]` is not looked up: {too_many}" in checked.stdout
