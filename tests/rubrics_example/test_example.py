"""The library of rubrics: valid files, at least four tests each, and a judge that meets them."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from rubric_ci.cli.main import main
from rubric_ci.files.project.working_tree import lookup
from rubric_ci.files.validation.validator import check_rubric
from rubric_ci.parts.start.init_providers_and_targets import RUBRICS
from tests.rubrics_example.record import FOLDER, ROOT, every_test

FILES = sorted((FOLDER / "rubrics").glob("*.rubric.yaml"))


def test_the_library_is_the_list_that_init_offers() -> None:
    assert [path.name.removesuffix(".rubric.yaml") for path in FILES] == sorted(RUBRICS)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_rubric_is_valid_and_tested(path: Path) -> None:
    name = path.relative_to(ROOT).as_posix()
    assert check_rubric(name, path.read_text(encoding="utf-8"), lookup(ROOT, path))[0] == ()
    assert len([test for test in every_test() if test.file == name]) >= 4


def test_every_criterion_is_tested_both_ways() -> None:
    marks: dict[tuple[str, str], set[object]] = {}
    for test in every_test():
        for name, expected in test.expected.items():
            marks.setdefault((test.file, name), set()).update(map(str, expected))
    assert [key for key, given in marks.items() if len(given) < 2] == []


def test_the_recorded_judge_meets_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    config, replay = FOLDER / "rubric-ci.yaml", FOLDER / "judge.replay.jsonl"
    words = ["judge", "test", str(FOLDER), "--config", str(config), "--replay", str(replay)]
    done = CliRunner().invoke(main, words, prog_name="rubric-ci")
    assert (done.stdout, done.exit_code) == (
        f"{len(every_test())} of {len(every_test())} tests got the marks that they expect\n",
        0,
    )
