"""Several targets side by side: what runs, what is shown, what the gate is about."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.checkout import ENVIRONMENT, Checkout
from tests.cli.commands.test_run_against import changes, report, run
from tests.invoke import invoke

CONFIG = """\
targets:
  - {name: default, provider: mock, response: hello}
  - {name: b, provider: mock, response: bye}
  - {name: kept, provider: recorded, answers: answers.jsonl}
"""
SUITE = """\
rubrics: [{contains: hello}]
evalcases:
  - {id: one, input: "Hi | you"}
  - {id: two, input: Yo}
"""
ANSWERS = '{"id": "one", "answer": "hello <b>"}\n{"id": "two", "answer": "bye"}\n'
FILES = {
    "rubric-ci.yaml": CONFIG,
    "evals/a.yaml": SUITE,
    "answers.jsonl": ANSWERS,
    ".gitignore": ".rubric-ci/\n",
}
NAMED = {**FILES, "evals/a.yaml": SUITE.replace("contains", "id: says, contains")}
ALL = ("--target", "default", "--target", "b", "--target", "kept")
TABLE = (
    "**3 targets side by side · default: mean score +0.500 against kept "
    "(2 cases): no clear difference**\n\n"
    "| Case | default: 2 of 2 pass · mean score 1.00 | b: 0 of 2 pass · mean score 0.00 "
    "| kept: 1 of 2 pass · mean score 0.50 |\n"
    "| :-- | :-- | :-- | :-- |\n"
    "| ≠ one | pass 1.00 | fail 0.00 | pass 1.00 |\n"
    "| ≠ two | pass 1.00 | fail 0.00 | fail 0.00 |\n"
)


def results(checkout: Checkout) -> dict[str, Any]:
    return {case["id"]: (case["target"], case["verdict"]) for case in report(checkout)["cases"]}


def test_every_target_answers_every_case(checkout: Checkout) -> None:
    checkout.commit(FILES)
    done = run(checkout, *ALL, "--reports", "json,markdown,html")
    assert done.returncode == 1, done.stderr
    assert results(checkout) == {
        "one [default]": ("default", "pass"),
        "one [b]": ("b", "fail"),
        "one [kept]": ("kept", "pass"),
        "two [default]": ("default", "pass"),
        "two [b]": ("b", "fail"),
        "two [kept]": ("kept", "fail"),
    }
    assert TABLE in (checkout.root / ".rubric-ci/summary.md").read_text()
    assert "default: 2 of 2 pass" in done.stdout
    page = (checkout.root / ".rubric-ci/report.html").read_text()
    shown = page.partition('id="targets"')[2].partition("</details>")[0]
    cells = re.findall(r"<td[^>]*>(.*?)</td>", shown, re.DOTALL)
    texts = [" ".join(re.sub(r"<[^>]*>", " ", cell).split()) for cell in cells]
    assert texts == [
        *("≠ one Hi | you", "pass 1.00 hello", "fail 0.00 bye", "pass 1.00 hello &lt;b&gt;"),
        *("≠ two Yo", "pass 1.00 hello", "fail 0.00 bye", "fail 0.00 bye"),
    ]


def test_a_suite_names_its_targets(checkout: Checkout) -> None:
    case = "  - {id: three, input: Own, target: kept}\n"
    checkout.commit({**FILES, "evals/a.yaml": f"targets: [default, b]\n{SUITE}{case}"})
    checkout.write({"answers.jsonl": ANSWERS + '{"id": "three", "answer": "hello"}\n'})
    assert invoke(checkout.root, ENVIRONMENT, "validate").returncode == 0
    run(checkout)
    assert list(results(checkout)) == [
        *("one [default]", "one [b]", "two [default]", "two [b]", "three")
    ]


def test_one_target_changes_no_id(checkout: Checkout) -> None:
    checkout.commit(FILES)
    run(checkout, "--target", "b")
    assert list(results(checkout)) == ["one", "two"]
    run(checkout, *ALL, "--case", "one")
    assert list(results(checkout)) == ["one [default]", "one [b]", "one [kept]"]


@pytest.mark.parametrize(
    ("gating", "arguments", "code", "head"),
    [
        ("[default]", ALL, 0, "Gate passes: all 2 deciding cases pass (fail_on: fail)\n"),
        ("[kept]", ALL, 1, "Gate fails: 1 of 2 deciding cases fails (fail_on: fail)\n"),
        ("[default, kept]", ("--target", "b", "--target", "kept"), 1, ""),
        ("[default]", ("--target", "b"), 1, "Gate fails: 2 of 2 cases fail (fail_on: fail)\n"),
    ],
)
def test_the_gate_is_about_its_targets(
    checkout: Checkout, gating: str, arguments: tuple[str, ...], code: int, head: str
) -> None:
    checkout.commit({**FILES, "rubric-ci.yaml": f"{CONFIG}gate: {{targets: {gating}}}\n"})
    done = run(checkout, *arguments)
    assert (done.returncode, head in done.stdout) == (code, True), done.stdout


def test_a_gate_that_would_be_about_nothing(checkout: Checkout) -> None:
    checkout.commit({**FILES, "rubric-ci.yaml": CONFIG + "gate: {targets: [default]}\n"})
    done = run(checkout, "--target", "b", "--target", "kept")
    message = "evals/a.yaml: case `one`: `gate.targets` is `default`, and none of them answers"
    assert (done.returncode, message in done.stderr) == (2, True), done.stderr


def test_shards_merge_to_the_same_table(checkout: Checkout, tmp_path: Path) -> None:
    checkout.commit(FILES)
    for number in ("1", "2"):
        folder = str(tmp_path / number)
        run(checkout, *ALL, "--shard", f"{number}/2", "--output-dir", folder)
    merged = str(tmp_path / "merged")
    parts = [str(tmp_path / number) for number in ("1", "2")]
    done = invoke(checkout.root, ENVIRONMENT, "report", "merge", *parts, "--output-dir", merged)
    assert done.returncode == 1, done.stderr
    assert TABLE in (tmp_path / "merged/summary.md").read_text()


def test_each_target_is_compared_with_itself(checkout: Checkout) -> None:
    checkout.commit({**FILES, "evals/a.yaml": f"targets: [default, b]\n{SUITE}"})
    checkout.write({"rubric-ci.yaml": CONFIG.replace("response: hello", "response: bye")})
    run(checkout, "--against", "HEAD")
    assert {name: kind for name, (kind, _) in changes(checkout).items()} == {
        "one [default]": "broken",
        "one [b]": "failing-before",
        "two [default]": "broken",
        "two [b]": "failing-before",
    }


def test_a_changed_target_runs_its_cases_alone(checkout: Checkout) -> None:
    checkout.commit({**FILES, "evals/a.yaml": f"targets: [default, kept]\n{SUITE}"})
    checkout.write({"answers.jsonl": ANSWERS.replace("hello <b>", "hello <i>")})
    run(checkout, "--changed-since", "HEAD")
    found = [(case["id"], case["why"]) for case in report(checkout)["cases"]]
    assert found == [("one [kept]", "its answer in `answers.jsonl` changed")]


def test_an_earlier_report_is_compared_by_target(checkout: Checkout, tmp_path: Path) -> None:
    checkout.commit(FILES)
    run(checkout, *ALL, "--output-dir", str(tmp_path / "then"))
    checkout.write({"answers.jsonl": ANSWERS.replace("hello <b>", "bye")})
    run(checkout, *ALL, "--baseline", str(tmp_path / "then/report.json"))
    worse = [name for name, (kind, _) in changes(checkout).items() if kind == "broken"]
    assert worse == ["one [kept]"]
    assert json.loads((tmp_path / "then/report.json").read_text())["totals"]["graded"] == 6


def waive(checkout: Checkout, what: str) -> None:
    until = ("--until", "2999-12-31", "--reason", "known", "--owner", "me")
    done = invoke(checkout.root, ENVIRONMENT, "waive", what, *until)
    assert done.returncode == 0, done.stderr


def waivers(checkout: Checkout) -> list[tuple[str, str]]:
    return [(each["case"], each["state"]) for each in report(checkout)["waivers"]]


def test_a_waiver_is_of_one_target(checkout: Checkout) -> None:
    checkout.commit(NAMED)
    waive(checkout, "one [b]/says")
    waive(checkout, "two/says")
    checked = invoke(checkout.root, ENVIRONMENT, "validate", "--strict")
    assert checked.returncode == 0, checked.stdout
    done = run(checkout, "--target", "default", "--target", "b")
    assert (waivers(checkout), done.returncode) == ([("one [b]", "applied"), ("two", "not-run")], 1)
    assert run(checkout, "--target", "b").returncode == 1
    assert waivers(checkout) == [("one [b]", "not-run"), ("two", "applied")]
    run(checkout, "--target", "kept")
    assert waivers(checkout) == [("one [b]", "not-run"), ("two", "applied")]


@pytest.mark.parametrize("name", ["one [c]", "three [b]", "[b]", "one[b]"])
def test_a_waiver_of_no_target(checkout: Checkout, name: str) -> None:
    checkout.commit(NAMED)
    waive(checkout, "one [b]/says")
    text = (checkout.root / "waivers.yaml").read_text()
    checkout.write({"waivers.yaml": text.replace("one [b]", f'"{name}"')})
    checked = invoke(checkout.root, ENVIRONMENT, "validate")
    assert f"waiver-unmatched: `{name}/says` is not exactly one criterion" in checked.stdout


REFERENCE = ".rubric-ci/reference"
NIGHT = ("--trials", "2", "--baseline", REFERENCE)
ALL_NAMES = ("one [default]", "one [kept]", "two [default]", "two [kept]")


def test_nights_keep_the_results_of_each_target(checkout: Checkout) -> None:
    checkout.commit({**FILES, "evals/a.yaml": f"targets: [default, kept]\n{SUITE}"})

    def night(*options: str) -> dict[str, str]:
        done = run(checkout, *options)
        assert done.returncode in {0, 1}, done.stderr
        found = {name: kind for name, (kind, _) in changes(checkout).items()}
        kept = invoke(checkout.root, ENVIRONMENT, "baseline", "keep")
        assert kept.returncode == 0, kept.stderr
        return found

    assert night("--trials", "2") == dict.fromkeys(ALL_NAMES)
    same = dict.fromkeys(ALL_NAMES, "unchanged") | {"two [kept]": "failing-before"}
    assert night(*NIGHT) == same
    alone = night(*NIGHT, "--target", "kept")
    assert alone == {name: kind for name, kind in same.items() if "kept" in name}
    assert report(checkout)["removed"] == []
    others = "The baseline also has the targets default, which this run does not ask."
    assert others in report(checkout)["comparison"]["notes"]
    checkout.write({"rubric-ci.yaml": CONFIG.replace("response: hello", "response: bye")})
    done = run(checkout, *NIGHT)
    found = {name: kind for name, (kind, _) in changes(checkout).items()}
    moved = {"one [default]", "two [default]"}
    assert {name for name in same if found[name] != same[name]} == moved
    said = "Always: passed before, fails now"
    assert (
        "Worse tonight, confirmed if it is worse tomorrow: "
        f"one [default] ({said}), two [default] ({said}) Fails as before: two [kept] "
    ) in " ".join(done.stdout.split())


def test_one_target_of_a_suite_with_several(checkout: Checkout) -> None:
    checkout.commit({**FILES, "evals/a.yaml": f"targets: [default, kept]\n{SUITE}"})
    run(checkout, "--target", "kept")
    assert results(checkout) == {"one [kept]": ("kept", "pass"), "two [kept]": ("kept", "fail")}
    run(checkout, "--target", "b", "--case", "one")
    assert results(checkout) == {"one [b]": ("b", "fail")}
