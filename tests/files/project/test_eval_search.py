"""Eval files of PATHS and of a configuration inside and outside of the repository."""

from pathlib import Path

import pytest

from rubric_ci.errors import CannotFindEvals
from rubric_ci.files.project.eval_search import find_evals, is_eval
from rubric_ci.files.project.project import Project
from rubric_ci.files.project.working_tree import WorkingTree, from_root

CASE = "evalcases:\n- {id: a, input: q, rubrics: [Greets]}\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for folder in ("here", "there"):
        (tmp_path / folder / "evals").mkdir(parents=True)
        (tmp_path / folder / "evals/a.yaml").write_text(CASE)
        (tmp_path / folder / "rubric-ci.yaml").write_text("evals: [evals/*.yaml]\n")
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


def project(root: Path, config: str) -> Project:
    return Project(WorkingTree(root=root), from_root(Path(config), root))


@pytest.mark.parametrize("config", ["", "rubric-ci.yaml", "../here/rubric-ci.yaml"])
def test_a_configuration_inside(here: Path, config: str) -> None:
    found = project(here, config) if config else Project(WorkingTree(root=here))
    assert find_evals(found, []) == [Path("evals/a.yaml")]
    assert is_eval(found, Path("evals/a.yaml"))


@pytest.mark.parametrize("prefix", ["../there", "{parent}/there"], ids=["relative", "absolute"])
def test_a_configuration_outside(here: Path, prefix: str) -> None:
    folder = prefix.format(parent=here.parent.as_posix())
    found = project(here, f"{folder}/rubric-ci.yaml")
    with pytest.raises(CannotFindEvals) as raised:
        find_evals(found, [])
    assert (raised.value.message, raised.value.hint) == (
        (
            f"{folder}/rubric-ci.yaml is outside of the repository {here.as_posix()}, and so are "
            "the eval files that it names"
        ),
        f"run the command in {folder}, or pass the paths of eval files of this repository",
    )
    assert find_evals(found, ["evals/a.yaml"]) == [Path("evals/a.yaml")]
    assert is_eval(found, Path("evals/a.yaml"))
