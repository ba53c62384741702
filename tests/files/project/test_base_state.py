"""The base of a change: which of its eval files are read, and which the search of it finds."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from rubric_ci.files.project.base_state import BaseSearch, BaseState, load_base_state
from rubric_ci.files.project.change import Difference
from rubric_ci.files.project.project import Project
from rubric_ci.system.git.snapshot import Snapshot
from rubric_ci.values.changes import ABSENT, SUBMODULE, SYMLINK, Change, Entry
from rubric_ci.values.evals import EvalFile

FILE = "100644"
LINES = '{"id": "a", "input": "q"}\n'


def suite(name: str) -> str:
    return f"evalcases:\n- {{id: {name}, input: q, rubrics: [Greets]}}\n"


def snapshot(files: Mapping[str, str], *same: str) -> Snapshot:
    """Return a commit; a text that begins with `->` is a link, `submodule` is one.

    Every file differs from the working tree but `same`.
    """
    entries, blobs = {}, {}
    for path, text in files.items():
        mode = SYMLINK if text.startswith("->") else SUBMODULE if text == "submodule" else FILE
        entries[path] = Entry(mode=mode, object_id=path)
        blobs[path] = text.removeprefix("->").encode()
    return Snapshot(
        root=Path("/nowhere"),
        entries=entries,
        changed=frozenset(entries) - {*same},
        read_blob=blobs.__getitem__,
    )


def found(files: Mapping[str, str], *paths: str, graded: Sequence[str] = ()) -> list[str]:
    then = snapshot(files)
    return list(BaseSearch(Project(then), then).find(paths, lambda name: name in graded))


TREE = {
    "a.yaml": suite("a"),
    "b.yml": "note: 1\n",
    "c.txt": suite("c"),
    "d.eval.yaml": "[broken",
    "evals/e.jsonl": LINES,
    "evals/f.jsonl": '{"note": 1}\n',
    "evals/g.yaml": "- 1\n",
    ".hidden/h.yaml": suite("h"),
    "evals/node_modules/i.yaml": suite("i"),
    "evalsets/j.yaml": suite("j"),
    "evals/linked.yaml": "->../a.yaml",
    "outside.yaml": "->../../x.yaml",
    "there": "->evals",
    "module": "submodule",
}
EVERY = ["a.yaml", "d.eval.yaml", "evals/e.jsonl", "evalsets/j.yaml"]


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        ((), [*EVERY, "a.yaml", "evals/e.jsonl", "a.yaml"]),
        ((".",), [*EVERY, "a.yaml", "evals/e.jsonl", "a.yaml"]),
        (("evals",), ["evals/e.jsonl", "a.yaml"]),
        (("evals/",), ["evals/e.jsonl", "a.yaml"]),
        (("there",), ["evals/e.jsonl", "a.yaml"]),
        (("b.yml",), ["b.yml"]),
        (("evals/linked.yaml",), ["a.yaml"]),
        ((".hidden",), [".hidden/h.yaml"]),
        (("e*/*.yaml",), ["evals/g.yaml", "evalsets/j.yaml", "a.yaml"]),
        (("[e]vals/?.jsonl",), ["evals/e.jsonl"]),
        (("gone",), []),
        (("module",), []),
        (("outside.yaml",), []),
        (("b.yml", "evalsets"), ["b.yml", "evalsets/j.yaml"]),
    ],
)
def test_the_files_of_paths(paths: tuple[str, ...], expected: list[str]) -> None:
    assert found(TREE, *paths) == expected


def test_files_that_are_graded_are_left_out() -> None:
    assert found(TREE, graded=["a.yaml", "d.eval.yaml"]) == [
        *("evals/e.jsonl", "evalsets/j.yaml", "evals/e.jsonl")
    ]
    assert found(TREE, "a.yaml", graded=["a.yaml"]) == []


@pytest.mark.parametrize(
    ("globs", "expected"),
    [
        ("[sets/**]", ["sets/a.yaml", "sets/b.jsonl", "sets/d.yaml", "sets/empty.yaml"]),
        ("[/sets/**, '!/sets/a.yaml']", ["sets/b.jsonl", "sets/d.yaml", "sets/empty.yaml"]),
        ("[sets/b.*]", ["sets/b.jsonl"]),
        ("['*.yaml']", []),
    ],
)
def test_the_files_of_the_configuration(globs: str, expected: list[str]) -> None:
    files = {
        "rubric-ci.yaml": f"evals: {globs}\n",
        "sets/a.yaml": suite("a"),
        "sets/b.jsonl": LINES,
        "sets/b.yaml": "description: of the lines\n",
        "sets/c.jsonl": '{"note": 1}\n',
        "sets/d.yaml": suite("d"),
        "sets/d.jsonl": '{"note": 1}\n',
        "sets/empty.yaml": "note: 1\n",
        "sets/rubric-ci.yml": "note: 1\n",
        "sets/targets.yaml": "targets: []\n",
    }
    assert found(files) == expected
    named = {**files, "rubric-ci.yaml": "evals: [sets/g.*]\n", "sets/g.yaml": "note: 1\n"}
    assert found(named, "sets") == ["sets/a.yaml", "sets/b.jsonl", "sets/d.yaml", "sets/g.yaml"]


def difference(then: Snapshot, *changes: Change, ignored: Sequence[str] = ()) -> Difference:
    return Difference(
        root=then.root,
        entries=then.entries,
        changes=changes,
        changed_paths=frozenset(change.path for change in changes),
        ignored=tuple(ignored),
    )


def changed(path: str, old: str = FILE, new: str = FILE) -> Change:
    return Change(path=path, old_mode=old, new_mode=new)


def loaded(project: Project, *names: str) -> list[EvalFile]:
    every = [project.load(name) for name in names]
    return [each.eval_file for each in every if each and each.eval_file]


THEN = {
    "rubric-ci.yaml": "targets: [{name: default, provider: mock, response: hi}]\n",
    "a.yaml": suite("a"),
    "b.yaml": suite("b"),
    "refers.yaml": "evalcases:\n- id: r\n  input_messages:\n"
    "  - {role: user, content: [{type: file, value: docs/x.md}]}\n  rubrics: [Greets]\n",
    "docs/x.md": "x",
    "lines.jsonl": '{"id": "l", "input": "q", "rubrics": ["Greets"]}\n',
    "globbed.yaml": "evalcases: [sets/*.yaml]\n",
    "sets/s.yaml": suite("s"),
    "link.yaml": "->a.yaml",
    "note.yaml": "note: 1\n",
    "note.jsonl": '{"note": 1}\n',
    "case.txt": suite("t"),
}
NAMES = ("a.yaml", "b.yaml", "refers.yaml", "lines.jsonl", "globbed.yaml")


def state(
    *changes: Change, now: Mapping[str, str] | None = None, lost: Sequence[str] = ()
) -> BaseState:
    """Return the base of these changes; the head has every case under another id."""
    then = snapshot(THEN)
    renamed = {
        name: text.replace("id: ", "id: now-").replace('"id": "', '"id": "now-')
        for name, text in THEN.items()
    }
    head = snapshot({**renamed, **(now or {})})
    files = loaded(Project(head), *(name for name in NAMES if name not in lost))
    before = loaded(Project(then), *lost)
    return load_base_state(Project(head), files, then, difference(then, *changes), before)


def read_again(base: BaseState) -> list[str]:
    return sorted(case.id for case in base.cases if not case.id.startswith("now-"))


KEPT = ["s"]  # a glob may find other files


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([], KEPT),
        ([changed("a.yaml")], ["a", *KEPT]),
        ([changed("docs/x.md")], [*KEPT, "r"]),
        ([changed("elsewhere/x.md")], [*KEPT, "r"]),
        ([changed("lines.yaml")], ["l", *KEPT]),
        ([changed("link.yaml", SYMLINK, SYMLINK)], ["a", "b", "l", *KEPT, "r"]),
        ([changed("deep/.gitattributes", ABSENT)], ["a", "b", "l", *KEPT, "r"]),
        ([changed(".agentv/config.yaml", ABSENT)], ["a", "b", "l", *KEPT, "r"]),
    ],
    ids=[
        *("nothing", "one file", "what it refers to", "what a search could find first"),
        *("the suite's fields of lines", "a link", "attributes", "AgentV's configuration"),
    ],
)
def test_only_what_may_differ_is_read(changes: list[Change], expected: list[str]) -> None:
    assert read_again(state(*changes)) == sorted(expected)


def test_another_default_evaluator_changes_every_file() -> None:
    config = f"{THEN['rubric-ci.yaml']}default_evaluator: llm_judge\n"
    assert read_again(state(now={"rubric-ci.yaml": config})) == ["a", "b", "l", "r", "s"]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (changed("a.yaml", new=ABSENT), ["a"]),
        (changed("lines.jsonl", new=ABSENT), ["l"]),
        (changed("a.yaml", SYMLINK, ABSENT), []),
        (changed("note.yaml", new=ABSENT), []),
        (changed("case.txt", new=ABSENT), []),
        (changed("a.yaml"), []),
        (changed("gone.yaml", new=ABSENT), []),
    ],
    ids=["an eval file", "lines", "a link", "no cases", "another suffix", "changed", "unknown"],
)
def test_files_that_are_no_more(change: Change, expected: list[str]) -> None:
    then = snapshot(THEN)
    base = load_base_state(Project(snapshot({})), [], then, difference(then, change))
    assert [case.id for case in base.cases] == expected
    assert {change.path} & base.files == ({change.path} if expected else set())
    assert not base.unreadable or change.path == "note.jsonl"


def test_files_that_the_search_does_not_find_are_as_they_were_given() -> None:
    base = state(changed("a.yaml", new=ABSENT), lost=["a.yaml"])
    assert read_again(base) == ["a", *KEPT]
    assert [case.id for case in base.cases].count("a") == 1


def test_the_names_of_files_and_of_what_serves_them() -> None:
    base = state()
    assert {"a.yaml", "lines.jsonl", "lines.yaml", "globbed.yaml", "sets/s.yaml"} <= base.files
    assert "note.yaml" not in base.files


def test_files_whose_cases_are_in_others() -> None:
    """A new one, one that is not found any more, and a deleted one that does not parse."""
    head = Project(snapshot({"new.yaml": "evalcases: [new/*.yaml]\n", "new/n.yaml": suite("n")}))
    then = snapshot({**THEN, "broken.yaml": "evalcases: [\n"})
    deleted = difference(then, changed("broken.yaml", new=ABSENT))
    lost = loaded(Project(then), "globbed.yaml")
    base = load_base_state(head, loaded(head, "new.yaml"), then, deleted, lost)
    assert [case.id for case in base.cases] == ["s"]
    assert {name for name in base.files if name} == {
        *("new.yaml", "new/n.yaml", "globbed.yaml", "sets/s.yaml", "broken.yaml")
    }


def test_the_targets_that_the_command_line_names_answer_at_the_base_as_well() -> None:
    then = snapshot(THEN)
    head = Project(snapshot(THEN), targets=("default",))
    assert load_base_state(head, [], then, difference(then)).project.targets == ("default",)


def test_a_file_that_could_not_be_read() -> None:
    wrong = "evalcases:\n- {id: a, input: q, rubrics: [Is good]}\n- {id: b}\n"
    then = snapshot({**THEN, "a.yaml": wrong})
    files = loaded(Project(snapshot(THEN)), "a.yaml")
    base = load_base_state(
        Project(snapshot(THEN)), files, then, difference(then, changed("a.yaml"))
    )
    assert base.cases == ()
    assert list(base.unreadable) == ["a.yaml"]
    assert base.unreadable["a.yaml"].startswith("the base does not parse: line 3: ")
    assert "a.yaml" in base.files


def test_a_file_that_git_does_not_have_is_not_the_same() -> None:
    """It is read from the base, which has none; in a submodule it is as in the working tree."""
    then = snapshot({"module": "submodule"})
    head = Project(snapshot({"module/a.yaml": suite("m"), "new.yaml": suite("n")}))
    files = loaded(head, "module/a.yaml", "new.yaml")
    assert [case.id for case in load_base_state(head, files, then, difference(then)).cases] == ["m"]
    moved = difference(then, changed("module", SUBMODULE, SUBMODULE))
    assert load_base_state(head, files, then, moved).cases == ()


def test_why_a_configuration_is_unknown(tmp_path: Path) -> None:
    then = snapshot({**THEN, "targets.yaml": "targets: [\n"})
    base = load_base_state(Project(then), [], then, difference(then))
    assert base.config_problem("a.yaml").startswith(
        "the base's `targets.yaml` does not parse: line "
    )
    good = snapshot(THEN)
    base = load_base_state(Project(good), [], good, difference(good, changed("rubric-ci.yaml")))
    assert base.config_problem("a.yaml") == ""
    (tmp_path / "targets.yaml").write_text("targets: []\n")
    kept = Difference(
        root=tmp_path, entries=good.entries, changes=(), changed_paths=frozenset(), ignored=()
    )
    base = load_base_state(Project(good), [], good, kept)
    assert base.config_problem("a.yaml") == "`targets.yaml` is not kept in git"
    assert base.config_problem("deep/a.yaml") == "`targets.yaml` is not kept in git"
