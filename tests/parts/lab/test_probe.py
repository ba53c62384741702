"""`rubric-ci probe` against judges with one known fault each, over HTTP."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from tests.invoke import invoke
from tests.parts.lab import faulty_judges
from tests.parts.lab.faulty_judges import Marking
from tests.sample_project import clean_environment

EVALS = """\
evalcases:
  - id: refund
    input: Can I return a jacket?
    expected_outcome: A refund within 30 days, with the receipt, to the original card.
    rubrics:
      - {id: period, expected_outcome: States "within 30 days"}
      - {id: receipt, expected_outcome: States "original receipt"}
      - {id: card, expected_outcome: States "back to your card in 5 days"}
  - id: parcel
    input: Where is my parcel?
    expected_outcome: It is in Hamburg and arrives on Friday, 14 March.
    rubrics:
      - {id: place, expected_outcome: States "in Hamburg"}
      - {id: day, expected_outcome: 'States "Friday, 14 March"'}
"""
ANSWERS = {
    "refund": "You can return the jacket within 30 days of the purchase. Please bring the original "
    "receipt to any shop. The amount of 49 euros goes back to your card in 5 days. Worn jackets "
    "are checked by our staff first.",
    "parcel": "Your parcel left the warehouse on Monday. Last night it was scanned in Hamburg. The "
    "courier expects to hand it over on Friday, 14 March.\n\n- Bring your ID\n- Somebody must be "
    "home",
}
CONFIG = """\
evals: [a.eval.yaml]
judge: {{model: openai/faulty, api_base: "{url}/v1", api_key: "${{{{ KEY }}}}"}}
env: {{allow: [KEY]}}
targets: [{{name: default, provider: recorded, answers: answers.jsonl}}]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = (json.dumps({"id": name, "answer": text}) for name, text in ANSWERS.items())
    (tmp_path / "answers.jsonl").write_text("\n".join(lines))
    (tmp_path / "a.eval.yaml").write_text(EVALS)
    return tmp_path


@contextmanager
def asking(folder: Path, judge: Marking) -> Iterator[Callable[..., CompletedProcess[str]]]:
    """Let the judge run, and return what runs a command with it."""
    environment = {**clean_environment(), "KEY": "none", "PATH": os.environ["PATH"]}
    with faulty_judges.judging(judge) as url:
        (folder / "rubric-ci.yaml").write_text(CONFIG.format(url=url))
        yield lambda *words, **more: invoke(folder, environment | more, *words)


def probe(
    folder: Path, judge: Marking, *arguments: str, **environment: str
) -> CompletedProcess[str]:
    with asking(folder, judge) as run:
        return run("probe", *arguments, **environment)


def written(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / ".rubric-ci/probe.json").read_text()))


@pytest.mark.parametrize(
    ("judge", "word", "criteria"),
    [
        (faulty_judges.sound, "sound", {"sound": 5}),
        (faulty_judges.always_yes, "never-fails", {"never-fails": 5}),
        (
            faulty_judges.first_sentence,
            "misses-some",
            {"sound": 1, "misses-some": 2, "untested": 2},
        ),
        (faulty_judges.ignores_numbers, "misses-some", {"misses-some": 2, "sound": 3}),
        (faulty_judges.prefers_length, "misses-some", {"misses-some": 5}),
        (faulty_judges.at_random, "jumpy", {"misses-some": 2, "jumpy": 2, "sound": 1}),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_fault_has_a_name(
    folder: Path, judge: Marking, word: str, criteria: dict[str, int]
) -> None:
    done = probe(folder, judge)
    assert done.returncode == 0, done.stderr
    data = written(folder)
    assert data["all"]["word"] == word
    words = [each["word"] for each in data["criteria"]]
    assert {name: words.count(name) for name in words} == criteria


def test_the_figures_of_a_criterion(folder: Path) -> None:
    done = probe(folder, faulty_judges.ignores_numbers, "--case", "refund")
    assert done.stdout == (
        "a.eval.yaml:6: refund/period: misses some\n"
        "  noticed 4 of 8, unmoved 4 of 4\n"
        "  still passes: number-changed: “30” became “40”\n"
        "  still passes: unit-changed: “days” became “weeks”\n"
        "  still passes: number-changed: “30” became “70”\n"
        "  and 1 more in probe.json\n"
        "a.eval.yaml:7: refund/receipt: sound\n"
        "  noticed 5 of 5, unmoved 4 of 4\n"
        "a.eval.yaml:8: refund/card: misses some\n"
        "  noticed 6 of 10, unmoved 4 of 4\n"
        "  still passes: number-changed: “5” became “6”\n"
        "  still passes: unit-changed: “days” became “weeks”\n"
        "  still passes: number-changed: “5” became “9”\n"
        "  and 1 more in probe.json\n"
        "\n"
        "number-changed  noticed 0 of 6\n"
        "unit-changed    noticed 0 of 2\n"
        "\n"
        "3 criteria: 1 sound, 2 misses some; all together: misses some\n"
    )
    assert written(folder)["criteria"][0]["noticed"] == [4, 8, 0.2152, 0.7848]


def test_what_a_probe_costs_is_said_before_and_a_second_one_is_free(folder: Path) -> None:
    with asking(folder, faulty_judges.sound) as run:
        first, second = run("probe"), run("probe")
    assert first.stderr.splitlines() == [
        "judging 2 answers as they are",
        "about 2 requests to openai/faulty, 1,591 + 400 tokens, price unknown",
        "2 model calls, cost unknown, 20 + 10 tokens",
        "judging 43 variants of them",
        "about 43 requests to openai/faulty, 34,319 + 8,800 tokens, price unknown",
        "43 model calls, cost unknown, 430 + 215 tokens",
        "figures: .rubric-ci/probe.json",
    ]
    assert "model calls" not in second.stderr
    assert first.stdout == second.stdout


@pytest.mark.parametrize(
    ("judge", "code"), [(faulty_judges.always_yes, 1), (faulty_judges.ignores_numbers, 0)]
)
def test_a_required_criterion_that_never_fails(folder: Path, judge: Marking, code: int) -> None:
    words = ("--case", "parcel", "--fail-on", "never-fails")
    assert probe(folder, judge, *words).returncode == code
    assert len(written(folder)["criteria"]) == 2


def test_only_the_criteria_that_a_change_touches(folder: Path) -> None:
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@example.com")
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "all"]):
        subprocess.run([*git, *words], cwd=folder, check=True)
    (folder / "a.eval.yaml").write_text(EVALS.replace("original receipt", "the original receipt"))
    done = probe(folder, faulty_judges.always_yes, "--changed-since", "HEAD")
    assert [each["id"] for each in written(folder)["criteria"]] == ["receipt"]
    (folder / "a.eval.yaml").write_text(EVALS)
    done = probe(folder, faulty_judges.always_yes, "--changed-since", "HEAD")
    assert (done.returncode, done.stdout) == (
        0,
        "no criterion with an answer has changed; nothing to probe\n",
    )


def test_a_cap_leaves_variants_without_a_mark(folder: Path) -> None:
    done = probe(folder, faulty_judges.sound, "--max-calls", "20")
    assert done.returncode == 3
    assert written(folder)["not_judged"] == 25


def test_without_an_answer_there_is_nothing_to_change(folder: Path) -> None:
    (folder / "rubric-ci.yaml").write_text(
        "evals: [a.eval.yaml]\njudge: openai/faulty\ntargets: [{name: default, model: openai/m}]\n"
    )
    done = invoke(folder, clean_environment(), "probe")
    assert (done.returncode, done.stderr) == (
        2,
        "rubric-ci: .rubric-ci/report.json does not exist\n  `rubric-ci run` writes it\n",
    )


def test_cases_without_an_answer_are_named(folder: Path) -> None:
    (folder / "answers.jsonl").write_text(json.dumps({"id": "refund", "answer": ANSWERS["refund"]}))
    done = probe(folder, faulty_judges.sound)
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[0] == "left out, without an answer: parcel"
    assert {each["case"] for each in written(folder)["criteria"]} == {"refund"}


def test_a_workflow_gets_an_annotation_per_finding(folder: Path) -> None:
    done = probe(folder, faulty_judges.always_yes, "--case", "parcel", GITHUB_ACTIONS="true")
    lines = [line for line in done.stdout.splitlines() if line.startswith("::warning")]
    text = "never-fails::`{}`: no variant failed it, not even without the text that it quotes"
    file = "::warning file=a.eval.yaml"
    assert [line.partition(" (")[0] for line in lines] == [
        f"{file},line={n},endLine={n},col=1,endColumn=1,title={text.format(name)}"
        for n, name in ((13, "place"), (14, "day"))
    ]
    example = "for example quote-deleted: without “Last night it was scanned in Hamburg.”"
    first, _, _ = lines[0].partition("%0A")
    assert first.endswith(f"(noticed 0 of 6, unmoved 5 of 5); {example}")


@pytest.mark.parametrize(
    ("judge", "words"),
    [
        (faulty_judges.sound, ["sound", "untested"]),
        (faulty_judges.always_yes, ["never-fails", "untested"]),
    ],
)
def test_a_prohibition_is_tested(folder: Path, judge: Marking, words: list[str]) -> None:
    prohibitions = (
        "evalcases:\n  - id: refund\n    input: Can I return a jacket?\n    rubrics:\n"
        '      - {id: words, expected_outcome: Does not say "we pay twice"}\n'
        "      - {id: slang, expected_outcome: Does not use slang}\n"
    )
    (folder / "a.eval.yaml").write_text(prohibitions)
    done = probe(folder, judge)
    assert [each["word"] for each in written(folder)["criteria"]] == words, done.stderr
    assert "no variant to notice: it forbids something that no rule can plant; " in done.stdout
