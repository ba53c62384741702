"""What serves an eval file, found in real trees."""

from pathlib import Path

import pytest

from rubric_ci.errors import InvalidInput
from rubric_ci.files.project.project import Project
from rubric_ci.files.project.working_tree import WorkingTree
from rubric_ci.values.diagnostics import Diagnostic
from rubric_ci.values.references import NotFound


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "repo").mkdir()
    return tmp_path / "repo"


def project(tree: Path, files: dict[str, str], config: str = "") -> Project:
    for name, text in files.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    return Project(WorkingTree(root=tree), config)


def mocks(**responses: str) -> str:
    lines = (f"  - {{name: {n}, provider: mock, response: {r}}}\n" for n, r in responses.items())
    return "targets:\n" + "".join(lines)


def test_targets_files_from_the_folder_of_the_eval_file_up_to_the_root(tree: Path) -> None:
    nearest_first = (
        "evals/deep/targets.yml",
        "evals/targets.yaml",
        "evals/.agentv/targets.yaml",
        ".agentv/targets.yaml",
    )
    apart = ("other/targets.yaml", "../targets.yaml")
    found = project(tree, dict.fromkeys((*nearest_first, *apart), mocks(a="x")))
    assert found.targets_files("evals/deep/a.yaml") == nearest_first
    assert found.targets_files("evals/b.yaml") == nearest_first[1:]
    assert found.targets_files("c.yaml") == nearest_first[3:]


def test_an_eval_file_outside_of_the_repository_has_the_targets_of_its_folder(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"../out/targets.yaml": mocks(a="x"), "../targets.yaml": "", "targets.yaml": ""}
    found = project(tree, files)
    out = tree.parent / "out"
    assert found.targets_files(f"{out.as_posix()}/a.yaml") == (f"{out.as_posix()}/targets.yaml",)
    monkeypatch.chdir(out)
    assert found.targets_files("../out/a.yaml") == ("../out/targets.yaml",)


def test_what_wins(tree: Path) -> None:
    found = project(
        tree,
        {
            "rubric-ci.yml": mocks(a="config"),
            "evals/targets.yaml": mocks(a="near", b="near"),
            "targets.yaml": mocks(b="root", c="root"),
        },
    )
    targets = found.config_for("evals/a.yaml").targets
    responses = {name: getattr(target, "response", "") for name, target in targets.items()}
    assert responses == {"a": "config", "b": "near", "c": "root"}
    assert found.config_for("evals/b.yaml") is found.config_for("evals/a.yaml")


def test_the_configuration_that_is_named_comes_instead_of_the_one_at_the_root(tree: Path) -> None:
    files = {"rubric-ci.yaml": mocks(a="root"), "ci/other.yaml": mocks(b="named")}
    found = project(tree, files, "ci/other.yaml")
    assert found.config_for("").targets.keys() == {"b"}
    assert found.candidates("x/a.yaml") == (
        "ci/other.yaml",
        *("x/targets.yaml", "x/targets.yml", "x/.agentv/targets.yaml", "x/.agentv/targets.yml"),
        *("x/.agentv/providers.yaml", "x/.agentv/providers.yml"),
        *("targets.yaml", "targets.yml", ".agentv/targets.yaml", ".agentv/targets.yml"),
        *(".agentv/providers.yaml", ".agentv/providers.yml"),
        *("x/.agentv/config.yaml", ".agentv/config.yaml"),
    )


def test_errors_concern_the_eval_files_that_a_file_serves(tree: Path) -> None:
    found = project(tree, {"a/targets.yaml": "targets: 7", "b/targets.yaml": "targets: [\xff]"})
    (tree / "b/targets.yaml").write_bytes(b"targets: [\xff]")
    assert found.first_error("c/x.yaml") is None
    for folder, rule in (("a", "wrong-type"), ("b", "encoding")):
        error = found.first_error(f"{folder}/x.yaml")
        assert error
        assert (error.file, error.rule) == (f"{folder}/targets.yaml", rule)
        with pytest.raises(InvalidInput) as caught:
            found.config_for(f"{folder}/x.yaml")
        assert caught.value.message == f"{folder}/targets.yaml has problems"
        assert caught.value.hint == "fix them and run again (no case was graded)"


def test_rules_are_switched_in_every_file(tree: Path) -> None:
    extra = "evalcases:\n  - {id: a, input: Hi, rubrics: [x], colour: red}\n"
    config = "rules: {unknown-key: off}\n"
    assert [d.rule for d in _loaded(project(tree, {"a.yaml": extra}))] == ["unknown-key"]
    assert _loaded(project(tree, {"a.yaml": extra, "rubric-ci.yaml": config})) == ()


@pytest.mark.parametrize("name", ["a/" * 9_000 + "**", "a" * 20_000 + "*"])
def test_a_glob_that_is_no_path_is_not_compiled(tree: Path, name: str) -> None:
    find = project(tree, {"a.csv": ""}).case_finder("a.eval.yaml")
    (found,) = find(name)
    assert isinstance(found, NotFound)
    assert found.reason.startswith("has more than ")


def test_a_file_that_is_not_there(tree: Path) -> None:
    assert project(tree, {}).load("a.yaml") is None


def _loaded(found: Project) -> tuple[Diagnostic, ...]:
    loaded = found.load("a.yaml")
    assert loaded
    return loaded.diagnostics
