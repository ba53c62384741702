"""Finding and reading files, in real trees."""

import os
from pathlib import Path

import pytest

from rubric_ci.errors import CannotFindEvals, CannotReadFile
from rubric_ci.files.project import working_tree
from rubric_ci.files.project.eval_search import search
from rubric_ci.values.references import Found, NotFound
from tests import platforms
from tests.checkout import Checkout


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in {
        "evals/a.yaml": "evalcases: []",
        "evals/notes.yaml": "title: none\n# evalcases: here\n",
        "evals/deep/b.eval.yaml": "",
        "evals/deep/flow.yml": '{"evalcases": []}',
        "evals/set.jsonl": '{"id": "a", "input": "q"}\n',
        "evals/set.yaml": "description: the suite of set.jsonl",
        "evals/answers.jsonl": '{"id": "a", "answer": "x"}\n',
        "evals/node_modules/c.yaml": "evalcases: []",
        "evals/.hidden/d.yaml": "evalcases: []",
        "prompts/task.md": "Do it",
        "empty/none.txt": "",
    }.items():
        path = tmp_path / "repo" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "secret").write_text("outside")
    Checkout.create(tmp_path / "repo")
    monkeypatch.chdir(tmp_path / "repo")
    return tmp_path / "repo"


FOUND = {
    "a folder": (["evals"], [], "a.yaml set.jsonl deep/b.eval.yaml deep/flow.yml"),
    "a file, whatever it holds": (["evals/notes.yaml"], [], "notes.yaml"),
    "a glob, but no sidecars": (["evals/*.yaml"], [], "a.yaml notes.yaml"),
    "the configured globs": ([], ["evals/**/*.yml", "evals/n*.yaml"], "deep/flow.yml notes.yaml"),
    "a glob of all files below": ([], ["evals/deep/**"], "deep/b.eval.yaml deep/flow.yml"),
    "a glob that takes away": ([], ["/evals/*.yaml", "!**/notes.yaml"], "a.yaml"),
    "a folder, and what the globs name in it": (
        ["evals/deep", "evals"],
        ["evals/notes.yaml"],
        "deep/b.eval.yaml deep/flow.yml a.yaml notes.yaml set.jsonl",
    ),
    "nothing is named": ([], [], "a.yaml set.jsonl deep/b.eval.yaml deep/flow.yml"),
}


LINES = {
    '{"id": "a", "input": "q"}': (True, True),
    '\n{"input_messages": [], "id": "a"}': (True, True),
    '{"id": "a", "prompt": "q"}': (False, True),
    '{"id": "a", "answer": "x"}': (False, False),
    '{"eval_id": "a", "score": 1, "trace": [{"id": "b", "input": "q"}]}': (False, False),
    '{"id": "a", "input": "q"': (True, True),
    "": (False, True),
}


@pytest.mark.parametrize(("text", "expected"), LINES.items(), ids=LINES)
def test_json_lines_as_eval_files(tree: Path, text: str, expected: tuple[bool, bool]) -> None:
    (tree / "empty/lines.jsonl").write_text(f"{text}\n")
    found = []
    for paths, globs in ((["empty"], []), ([], ["evals/a.yaml", "empty/*.jsonl"])):
        try:
            files = search(paths, globs, tree)
        except CannotFindEvals:
            files = []
        found.append(Path("empty/lines.jsonl") in files)
    assert tuple(found) == expected


@pytest.mark.parametrize(("paths", "globs", "expected"), FOUND.values(), ids=FOUND)
def test_find_evals(tree: Path, paths: list[str], globs: list[str], expected: str) -> None:
    found = [path.as_posix() for path in search(paths, globs, tree)]
    assert found == [f"evals/{name}" for name in expected.split()]


LOST = {
    "no such path": (["gone.yaml"], [], "gone.yaml does not exist"),
    "an empty folder": (["empty"], [], "empty holds no eval file"),
    "a glob without files": (["x/*.yaml"], [], "no file matches x/*.yaml"),
    "no glob": (["**.yaml"], [], "invalid glob **.yaml: `**` must be a whole path component"),
    "configured globs without files": ([], ["x/*"], "no file matches the configured evals: x/*"),
}


@pytest.mark.parametrize(("paths", "globs", "message"), LOST.values(), ids=LOST)
def test_cannot_find_evals(tree: Path, paths: list[str], globs: list[str], message: str) -> None:
    with pytest.raises(CannotFindEvals) as caught:
        search(paths, globs, tree)
    assert caught.value.message == message


def test_the_root_holds_git(tree: Path) -> None:
    assert working_tree.find_root(tree / "evals" / "deep") == tree


def test_without_git_the_root_is_configured(tmp_path: Path) -> None:
    (tmp_path / "rubric-ci.yaml").touch()
    (tmp_path / "a").mkdir()
    assert working_tree.find_root(tmp_path / "a") == tmp_path


REFERENCES = {
    "in a parent": ("prompts/task.md", Found("prompts/task.md", "Do it")),
    "in the same folder": ("b.eval.yaml", Found("evals/deep/b.eval.yaml", "")),
    "upwards": ("../../prompts/task.md", Found("prompts/task.md", "Do it")),
    "from the root": ("/prompts/task.md", Found("prompts/task.md", "Do it")),
    "nowhere": ("gone.md", NotFound("no such file")),
    "a folder": ("prompts", NotFound("is a folder")),
    "outside": ("../../../secret", NotFound("is outside the repository")),
    "absolute": ("/etc/hostname", NotFound("no such file")),
    "no text": ("latin", NotFound("is not UTF-8 text")),
}


@pytest.mark.parametrize(("name", "expected"), REFERENCES.values(), ids=REFERENCES)
def test_lookup(tree: Path, name: str, expected: Found | NotFound) -> None:
    (tree / "evals/deep/latin").write_bytes(b"\xe4")
    assert working_tree.lookup(tree, Path("evals/deep/b.eval.yaml"))(name) == expected


def test_lookup_through_a_link(tree: Path) -> None:
    platforms.symlink(tree / "evals/deep/link", tree.parent / "secret")
    found = working_tree.lookup(tree, Path("evals/deep/b.eval.yaml"))("link")
    assert found == NotFound("is outside the repository")


@platforms.PIPES
def test_a_pipe_is_not_read(tree: Path) -> None:
    os.mkfifo(tree / "empty/pipe.yaml")
    found = working_tree.lookup(tree, tree / "empty/a.yaml")("pipe.yaml")
    assert found == NotFound("is not a regular file")
    for path, message in {
        "empty": "empty holds no eval file",
        "empty/pipe.yaml": "empty/pipe.yaml is neither a regular file nor a folder",
    }.items():
        with pytest.raises(CannotFindEvals) as caught:
            search([path], [], tree)
        assert caught.value.message == message


def test_a_path_that_does_not_exist_names_the_nearest_file(tree: Path) -> None:
    (tree / "evals/refund.eval.yaml").write_text("evalcases: []\n")
    with pytest.raises(CannotFindEvals) as caught:
        search(["evals/refunds.eval.yaml"], [], tree)
    assert caught.value.message == "evals/refunds.eval.yaml does not exist"
    assert caught.value.hint == "did you mean `evals/refund.eval.yaml`?"


def test_a_submodule_that_is_not_checked_out(tmp_path: Path) -> None:
    library = Checkout.create(tmp_path / "library")
    library.commit({"p.md": "p"})
    source = Checkout.create(tmp_path / "source")
    source.git("submodule", "--quiet", "add", library.root.as_uri(), "my lib")
    source.commit({"a.eval.yaml": "evalcases: []\n"})
    root = source.clone(tmp_path / "clone").root
    advice = "the submodule `my lib` is not checked out: run `git submodule update --init`"
    find = working_tree.lookup(root, root / "a.eval.yaml")
    assert find("my lib/p.md") == NotFound(f"no such file; {advice}")
    assert find("my libs/p.md") == NotFound("no such file")
    for path in ("my lib", "my lib/s.eval.yaml"):
        with pytest.raises(CannotFindEvals) as caught:
            search([str(root / path)], [], root)
        assert caught.value.hint == advice
    source.clone(tmp_path / "whole", "--recurse-submodules")
    find = working_tree.lookup(tmp_path / "whole", tmp_path / "whole/a.eval.yaml")
    assert find("my lib/p.md") == Found("my lib/p.md", "p")
    assert find("my lib/q.md") == NotFound("no such file")


def test_a_missing_file_names_the_command_that_writes_it(tree: Path) -> None:
    with pytest.raises(CannotReadFile) as caught:
        working_tree.read_text(Path("labels.jsonl"), written_by="rubric-ci judge label")
    assert caught.value.message == "labels.jsonl does not exist"
    assert caught.value.hint == "`rubric-ci judge label` writes it"


def test_read_text(tree: Path) -> None:
    (tree / "bom.yaml").write_bytes(b"\xef\xbb\xbfa: \xc3\xa4\r\n")
    assert working_tree.read_text(tree / "bom.yaml") == "a: ä\n"


def test_cannot_read_text(tree: Path) -> None:
    (tree / "latin.yaml").write_bytes(b"a: \xe4")
    for name, message in {
        "latin.yaml": "latin.yaml is not UTF-8 text: byte 3 does not fit",
        "gone.yaml": "cannot read gone.yaml: No such file or directory",
        "evals": "cannot read evals: it is not a regular file",
    }.items():
        with pytest.raises(CannotReadFile) as caught:
            working_tree.read_text(Path(name))
        assert caught.value.message == message


def test_the_sidecar_of_json_lines(tree: Path) -> None:
    assert working_tree.sidecar_of(Path("evals/set.jsonl")) == Path("evals/set.yaml")
    assert working_tree.sidecar_of(Path("evals/answers.jsonl")) is None
    assert working_tree.sidecar_of(Path("evals/a.yaml")) is None


def test_names_from_the_root(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tree / "evals")
    assert working_tree.from_root(Path("deep/../a.yaml"), tree) == "evals/a.yaml"
    assert (
        working_tree.from_root(tree.parent / "secret", tree) == (tree.parent / "secret").as_posix()
    )


def test_a_link_has_the_name_of_its_file_and_one_to_nothing_its_own(tree: Path) -> None:
    platforms.symlink(tree / "to.yaml", "evals/a.yaml")
    platforms.symlink(tree / "evals/gone.yaml", "nothing")
    assert working_tree.from_root(tree / "to.yaml", tree) == "evals/a.yaml"
    assert working_tree.from_root(tree / "evals/gone.yaml", tree) == "evals/gone.yaml"


def test_a_dangling_link_is_not_an_eval_file(tree: Path) -> None:
    platforms.symlink(tree / "evals/lost.yaml", "nowhere.yaml")
    found = search(["evals"], [], tree)
    assert Path("evals/lost.yaml") not in found


def test_an_unreadable_file_is_found_so_that_it_is_reported(tree: Path) -> None:
    platforms.symlink(tree / "evals/memory.yaml", "/proc/self/mem")
    assert Path("evals/memory.yaml") in search(["evals"], [], tree)


@pytest.mark.parametrize("name", ["evals/support.yaml", "EVAL.yaml", "deep/my-evals.jsonl"])
def test_files_like_evals_named(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("{}\n")
    (tmp_path / "rubric-ci.yaml").write_text("{}\n")
    with pytest.raises(CannotFindEvals) as caught:
        search([], [], tmp_path)
    assert caught.value.message == "this folder holds no eval file"
    assert caught.value.hint.startswith(f"{name} has no `evalcases`; an eval file is YAML with")


def test_files_of_other_tools_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = "prompts: [a]\nproviders: [b]\ntests: [{vars: {c: d}}]\n"
    for name in ("a.yaml", "deep/b.yaml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(config)
    (tmp_path / "c.yaml").write_text("testData: [{a: b}]\n")
    (tmp_path / "d.yaml").write_text("tests: [one]\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CannotFindEvals) as error:
        search(["."], [], tmp_path)
    assert (
        "it holds 2 files of promptfoo, 1 file of GitHub Models: `rubric-ci import` "
        "writes eval files, `adopt` gates results"
    ) in error.value.hint
