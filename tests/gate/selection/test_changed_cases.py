"""Changed cases, end to end over real git repositories: what runs, and the reason given."""

from collections.abc import Callable, Sequence
from contextlib import chdir
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import pytest

from rubric_ci.files.project.loaded_project import LoadedProject
from rubric_ci.gate.grading_changes.all_changes import find_grading_changes
from rubric_ci.gate.selection.affected_cases import Selection
from rubric_ci.gate.selection.changed_cases import open_selected
from rubric_ci.values.command_settings import Models, ReportOptions, SelectOptions
from tests import platforms
from tests.checkout import Checkout

CONFIG = """\
judge: {model: openai/m}
targets:
  - {name: default, provider: mock, response: hello}
  - name: agent
    provider: cli
    command_template: python bin/agent.py {PROMPT}
    depends_on: [src/**]
  - {name: wide, provider: cli, command_template: python bin/wide.py}
  - {name: kept, provider: recorded, answers: answers.jsonl}
"""

GREETINGS = """\
description: How it greets.
evalcases:
  - id: kind
    input: Hello?
    expected_outcome: A kind greeting
    rubrics: [polite]
  - id: prompted
    input_messages:
      - role: system
        content: [{type: file, value: prompts/system.md}]
      - {role: user, content: Hello?}
    rubrics: [polite]
  - id: scripted
    input: Hello?
    evaluators:
      - {name: tone, type: code_judge, script: python ../judges/tone.py}
  - id: graded
    input: Hello?
    evaluators:
      - {name: taste, type: llm_judge, prompt: judges/taste.md}
"""

AGENTS = """\
evalcases:
  - {id: asked, input: Hello?, target: agent, rubrics: [polite]}
  - {id: recorded, input: Hello?, target: kept, rubrics: [polite]}
  - {id: schema, input: Hello?, rubrics: [polite], depends_on: [schemas/*.json]}
"""

FILES = {
    "rubric-ci.yaml": CONFIG,
    "evals/greetings.yaml": GREETINGS,
    "evals/agents.yaml": AGENTS,
    "prompts/system.md": "Be kind.\n",
    "judges/tone.py": "print(1)\n",
    "judges/taste.md": "Is {{ candidate_answer }} kind?\n",
    "src/agent/main.py": "pass\n",
    "bin/agent.py": "import agent\n",
    "schemas/out.json": "{}\n",
    "answers.jsonl": '{"id": "recorded", "answer": "Hi"}\n',
    "README.md": "Read me\n",
}
EVERY_CASE = ("kind", "prompted", "scripted", "graded", "asked", "recorded", "schema")


def settings(base: str, *paths: str) -> SelectOptions:
    return SelectOptions(paths=paths or ("evals",), changed_since=base)


def opened(options: SelectOptions) -> tuple[LoadedProject, Selection]:
    return open_selected(options, Models(), ReportOptions())


def chosen(checkout: Checkout, base: str, *paths: str) -> Selection:
    """Choose as `run` does; what need not be read must make no difference."""
    asked = settings(base, *paths)
    with chdir(checkout.root):
        _, selection = opened(asked)
        loaded, careful = opened(replace(asked, cases=("*",)))  # this reads every file
    assert selection == careful
    assert selection.scope.suite == sum(len(f.cases) for f in loaded.files)
    return selection


def reasons(selection: Selection) -> dict[str, str]:
    return {case.id: why for case, why in selection.chosen}


@dataclass(frozen=True)
class Edit:
    """What a change does to the files of the base."""

    checkout: Checkout

    def replace(self, path: str, old: str, new: str) -> None:
        text = (self.checkout.root / path).read_text(encoding="utf-8")
        assert old in text
        self.checkout.write({path: text.replace(old, new)})

    def move(self, path: str, to: str) -> None:
        (self.checkout.root / to).parent.mkdir(parents=True, exist_ok=True)
        (self.checkout.root / path).rename(self.checkout.root / to)

    def remove(self, path: str) -> None:
        (self.checkout.root / path).unlink()


def reformat(edit: Edit) -> None:
    """Spell the same cases in flow style, with comments and other names of the same fields."""
    edit.checkout.write(
        {
            "evals/agents.yaml": """\
# All in flow style.
{evalcases: [
  {"rubrics": ["polite"], "id": "asked", "input": "Hello?", "execution": {"target": agent}},
  {id: recorded, rubrics: [polite], target: kept,
   input_messages: [{role: user, content: 'Hello?'}]},

  {id: schema, rubrics: [{expected_outcome: polite}], depends_on: [schemas/*.json],
   input: "Hello?"},
]}
"""
        }
    )


def reorder(edit: Edit) -> None:
    head, *cases = GREETINGS.split("  - id: ")
    edit.checkout.write({"evals/greetings.yaml": "  - id: ".join([head, *reversed(cases)])})


def move_a_case(edit: Edit) -> None:
    head, kind, prompted, *rest = GREETINGS.split("  - id: ")
    edit.checkout.write(
        {
            "evals/greetings.yaml": "  - id: ".join([head, prompted, *rest]),
            "evals/agents.yaml": f"{AGENTS}  - id: {kind}",
        }
    )


def make_prompt_a_link(edit: Edit) -> None:
    edit.move("prompts/system.md", "prompts/v1.md")
    platforms.symlink(edit.checkout.root / "prompts/system.md", "v1.md")


Alter: TypeAlias = Callable[[Edit], None]
SUITE, CONFIGURATION = "evals/greetings.yaml", "rubric-ci.yaml"
MESSAGES = {"prompted": "the case was edited: input_messages"}
NEW_CASE = "evalcases: [{id: n, input: Hi, rubrics: [x]}]"


def replacing(path: str, old: str, new: str) -> Alter:
    return lambda edit: edit.replace(path, old, new)


def writing(path: str, text: str) -> Alter:
    return lambda edit: edit.checkout.write({path: text})


RUNS: dict[str, tuple[Alter, dict[str, str]]] = {
    "nothing": (lambda _: None, {}),
    "case edited": (
        replacing(SUITE, "A kind greeting", "A greeting"),
        {"kind": "the case was edited: expected_outcome"},
    ),
    "cases moved in the file": (reorder, {}),
    "case moved to another file": (move_a_case, {}),
    "reformatted": (reformat, {}),
    "line endings": (writing(SUITE, GREETINGS.replace("\n", "\r\n")), {}),
    "file renamed": (lambda e: e.move(SUITE, "evals/hello.yaml"), {}),
    "file moved to another folder, non-ASCII": (
        lambda e: e.move(SUITE, "evals/deep/naïve 日本.yaml"),
        {"scripted": "the case was edited: evaluators"},  # its script runs in another folder
    ),
    "file deleted": (lambda e: e.remove("evals/agents.yaml"), {}),
    "case renamed": (
        replacing("evals/agents.yaml", "id: schema", "id: scheme"),
        {"scheme": "the case is new"},
    ),
    "suite target changed": (
        replacing(SUITE, "description:", "target: wide\ndescription:"),
        dict.fromkeys(EVERY_CASE[:4], "its target is `wide`, was `default`"),
    ),
    "prompt file changed": (
        replacing("prompts/system.md", "kind", "brief"),
        {"prompted": "`prompts/system.md` changed"},
    ),
    "prompt file is a link now": (make_prompt_a_link, MESSAGES),
    "another prompt file comes first now": (
        writing("evals/prompts/system.md", "Be brief.\n"),
        MESSAGES,
    ),
    "script changed": (
        replacing("judges/tone.py", "1", "0"),
        {"scripted": "`judges/tone.py` changed"},
    ),
    "file under the case's depends_on": (
        replacing("schemas/out.json", "{}", "[]"),
        {"schema": "`schemas/out.json` changed"},
    ),
    "new file under depends_on, non-ASCII": (
        writing("src/new/naïve 日本.py", ""),
        {"asked": "`src/new/naïve 日本.py` changed"},
    ),
    "program of a target changed": (
        replacing("bin/agent.py", "agent", "other"),
        {"asked": "`bin/agent.py` changed"},
    ),
    "target changed": (
        replacing(CONFIGURATION, "response: hello", "response: hi"),
        dict.fromkeys((*EVERY_CASE[:4], "schema"), "target `default` changed"),
    ),
    "judge changed": (
        replacing(CONFIGURATION, "openai/m", "openai/n"),
        dict.fromkeys((case for case in EVERY_CASE if case != "scripted"), "judge changed"),
    ),
    "configuration reformatted, gate changed": (
        writing(CONFIGURATION, f"# A comment\n{CONFIG}gate: {{fail_on: never}}\n"),
        {},
    ),
    "recorded answer changed": (
        replacing("answers.jsonl", "Hi", "Ho"),
        {"recorded": "its answer in `answers.jsonl` changed"},
    ),
    "a file that nothing uses": (replacing("README.md", "Read", "Red"), {}),
    "our own output": (writing(".rubric-ci/report.json", "{}"), {}),
    "new file": (writing("evals/new.yaml", NEW_CASE), {"n": "the case is new"}),
}


@pytest.mark.parametrize(("alter", "expected"), RUNS.values(), ids=RUNS)
def test_what_runs(checkout: Checkout, alter: Alter, expected: dict[str, str]) -> None:
    base = checkout.commit(FILES)
    alter(Edit(checkout))
    selection = chosen(checkout, base)
    assert reasons(selection) == expected
    checkout.commit()
    with chdir(checkout.root):
        assert opened(settings(base))[1] == selection


def test_a_cli_target_without_depends_on_depends_on_every_file(checkout: Checkout) -> None:
    wide = GREETINGS.replace("description:", "target: wide\ndescription:")
    base = checkout.commit(FILES | {"evals/greetings.yaml": wide})
    edit = Edit(checkout)
    edit.replace("evals/agents.yaml", "id: schema", "id: scheme")
    assert reasons(chosen(checkout, base)) == {"scheme": "the case is new"}
    edit.replace("README.md", "Read", "Red")
    selection = chosen(checkout, base)
    why = "`README.md` changed, and target `wide` depends on every file"
    assert reasons(selection) == dict.fromkeys(EVERY_CASE[:4], why) | {"scheme": "the case is new"}
    assert selection.notes[0].startswith("Target `wide` has no `depends_on`, so it depends on")


def test_a_new_target(checkout: Checkout) -> None:
    base = checkout.commit(FILES)
    edit = Edit(checkout)
    edit.replace("rubric-ci.yaml", "targets:", "targets:\n  - {name: fresh, provider: mock}")
    assert reasons(chosen(checkout, base)) == {}
    edit.replace("evals/agents.yaml", "target: kept", "target: fresh")
    assert reasons(chosen(checkout, base)) == {"recorded": "its target is `fresh`, was `kept`"}


@pytest.mark.parametrize(
    ("path", "broken", "why"),
    [
        (
            "evals/greetings.yaml",
            GREETINGS.replace("    input: Hello?\n    expected", "    input: 7\n    expected"),
            "the base does not parse: line 4: ",
        ),
        ("evals/greetings.yaml", "evalcases: [", "the base does not parse: line 1: "),
        ("evals/greetings.yaml", "na\udcefve", "the base does not parse: line 1: "),
        ("rubric-ci.yaml", "targets: 7", "the base's `rubric-ci.yaml` does not parse: line 1: "),
    ],
    ids=["an invalid case", "broken YAML", "no UTF-8", "configuration"],
)
def test_a_base_that_does_not_parse(checkout: Checkout, path: str, broken: str, why: str) -> None:
    checkout.write(FILES)
    (checkout.root / path).write_bytes(broken.encode("utf-8", "surrogateescape"))
    base = checkout.commit()
    checkout.write(FILES)
    selection = chosen(checkout, base)
    concerned = EVERY_CASE if path == "rubric-ci.yaml" else EVERY_CASE[:4]
    assert reasons(selection).keys() == set(concerned)
    assert all(reason.startswith(why) for reason in reasons(selection).values())


@pytest.mark.parametrize(
    ("path", "cases", "why"),
    [
        (
            "prompts/system.md",
            EVERY_CASE[:4],
            "the base does not parse: line 10: `prompts/system.md`: no such file",
        ),
        (CONFIGURATION, EVERY_CASE, "`rubric-ci.yaml` is not kept in git"),
        ("answers.jsonl", ["recorded"], "its answer in `answers.jsonl` changed"),
    ],
)
def test_an_untracked_file(checkout: Checkout, path: str, cases: Sequence[str], why: str) -> None:
    base = checkout.commit(FILES | {".gitignore": f"{path}\n"})
    assert path not in checkout.git("ls-files").splitlines()
    assert reasons(chosen(checkout, base)) == dict.fromkeys(cases, why)


def test_answers_of_the_default_target(checkout: Checkout) -> None:
    config = "targets: [{name: only, provider: recorded, answers: answers.jsonl}]\n"
    answers = '{"id": "one", "answer": "a"}\n{"id": "two", "answer": "b"}\n'
    case = "  - id: {}\n    input: Hi\n    rubrics: [polite]\n"
    evals = "evalcases:\n" + case.format("one") + case.format("two")
    kept = {"rubric-ci.yaml": config, "answers.jsonl": answers, "evals/a.yaml": evals}
    base = checkout.commit(kept)
    checkout.write({"answers.jsonl": answers.replace('"b"', '"c"')})
    assert reasons(chosen(checkout, base)) == {"two": "its answer in `answers.jsonl` changed"}
    checkout.git("rm", "--quiet", "--cached", "answers.jsonl")
    base = checkout.commit({".gitignore": "answers.jsonl\n"})
    assert list(reasons(chosen(checkout, base))) == ["one", "two"]


def test_a_configuration_behind_a_link(checkout: Checkout) -> None:
    checkout.write(FILES | {"ci/config.yaml": CONFIG})
    (checkout.root / "rubric-ci.yaml").unlink()
    platforms.symlink(checkout.root / "rubric-ci.yaml", "ci/config.yaml")
    base = checkout.commit()
    assert reasons(chosen(checkout, base)) == {}
    checkout.write({"ci/config.yaml": CONFIG.replace("response: hello", "response: hi")})
    assert reasons(chosen(checkout, base))["kind"] == "target `default` changed"


def test_a_json_lines_file_and_its_sidecar(checkout: Checkout) -> None:
    line = '{"id": "%s", "input": "%s", "expected_outcome": "Greets"}\n'
    lines, suite = line % ("one", "Hi") + line % ("two", "Ho"), "rubrics: [polite]\n"
    base = checkout.commit(FILES | {"evals/d.jsonl": lines, "evals/d.yaml": suite})
    assert reasons(chosen(checkout, base)) == {}
    checkout.write({"evals/d.jsonl": lines.replace("Ho", "Hey")})
    assert reasons(chosen(checkout, base)) == {"two": "the case was edited: input_messages"}
    edited = dict.fromkeys(["one", "two"], "the case was edited: rubrics")
    checkout.write({"evals/d.jsonl": lines, "evals/d.yaml": suite.replace("polite", "brief")})
    assert reasons(chosen(checkout, base)) == edited
    (checkout.root / "evals/d.yaml").unlink()
    assert reasons(chosen(checkout, base)) == edited


def test_what_only_the_sidecar_of_a_json_lines_file_mentions(checkout: Checkout) -> None:
    suite = "execution: {evaluators: [{name: t, type: llm_judge, prompt: judges/taste.md}]}\n"
    lines = '{"id": "one", "input": "Hi"}\n'
    base = checkout.commit(FILES | {"evals/d.jsonl": lines, "evals/d.yaml": suite})
    checkout.write({"judges/taste.md": "Is {{ candidate_answer }} brief?\n"})
    why = "`judges/taste.md` changed"
    assert reasons(chosen(checkout, base)) == {"graded": why, "one": why}


def test_a_link_that_leads_elsewhere_now(checkout: Checkout) -> None:
    checkout.write(FILES | {"prompts/v2.md": "Be brief.\n"})
    (checkout.root / "prompts/system.md").rename(checkout.root / "prompts/v1.md")
    link = checkout.root / "prompts/system.md"
    platforms.symlink(link, "v1.md")
    base = checkout.commit()
    assert reasons(chosen(checkout, base)) == {}
    checkout.write({"prompts/v1.md": "Be very kind.\n"})
    assert reasons(chosen(checkout, base)) == {"prompted": "`prompts/v1.md` changed"}
    checkout.write({"prompts/v1.md": FILES["prompts/system.md"]})
    link.unlink()
    platforms.symlink(link, "v2.md")
    assert reasons(chosen(checkout, base)) == {"prompted": "the case was edited: input_messages"}


def test_what_a_link_to_a_folder_shows(checkout: Checkout) -> None:
    checkout.write(FILES | {"versions/1/tone.py": "print(1)\n"})
    (checkout.root / "judges/tone.py").unlink()
    platforms.symlink(checkout.root / "judges/tone.py", "../versions/1/tone.py")
    platforms.symlink(checkout.root / "src/current", "../versions/1")
    base = checkout.commit()
    checkout.write({"versions/1/tone.py": "print(0)\n"})
    assert reasons(chosen(checkout, base)) == {
        "scripted": "`judges/tone.py` and `versions/1/tone.py` changed",
        "asked": "`src/current/tone.py` changed",
    }


def add_submodule(checkout: Checkout, path: str, folder: Path, files: dict[str, str]) -> None:
    library = Checkout.create(folder / "library")
    library.commit(files)
    checkout.git("submodule", "--quiet", "add", library.root.as_uri(), path)


def test_a_submodule(checkout: Checkout, tmp_path: Path) -> None:
    files = {"system.md": "Be kind.\n", "tone.py": "print(1)\n"}
    add_submodule(checkout, "lib", tmp_path, files)
    using = GREETINGS.replace("prompts/system.md", "lib/system.md").replace(
        "judges/tone", "lib/tone"
    )
    base = checkout.commit(FILES | {"evals/greetings.yaml": using})
    assert reasons(chosen(checkout, base)) == {}
    Checkout(checkout.root / "lib").commit({"system.md": "Be brief.\n"})
    assert reasons(chosen(checkout, base)) == {
        "prompted": "`lib/system.md` changed",
        "scripted": "`lib` changed",
    }


def test_eval_files_in_a_submodule_that_moved(checkout: Checkout, tmp_path: Path) -> None:
    add_submodule(checkout, "evals/lib", tmp_path, {"s.eval.yaml": NEW_CASE})
    base = checkout.commit({"rubric-ci.yaml": CONFIG})
    assert reasons(chosen(checkout, base)) == {}
    Checkout(checkout.root / "evals/lib").commit({"README.md": "x"})
    selection = chosen(checkout, base)
    assert reasons(selection) == {"n": "the submodule `evals/lib` moved to another commit"}
    assert selection.notes[0] == (
        "`evals/lib/s.eval.yaml` cannot be compared with the base, so its cases run: the "
        "submodule `evals/lib` moved to another commit."
    )
    with chdir(checkout.root):
        loaded, _ = opened(settings(base))
        (change,) = find_grading_changes(loaded)
    assert (change.about, change.before, change.after) == (
        *("evals/lib/s.eval.yaml", "not known: the submodule `evals/lib` moved to another commit"),
        "edited or removed",
    )


def test_a_submodule_that_moved_and_is_not_checked_out(checkout: Checkout, tmp_path: Path) -> None:
    add_submodule(checkout, "evals/lib", tmp_path, {"s.eval.yaml": NEW_CASE})
    base = checkout.commit(FILES)
    Checkout(checkout.root / "evals/lib").commit({"README.md": "x"})
    checkout.commit()
    selection = chosen(checkout.clone(tmp_path / "clone"), base)
    assert reasons(selection) == {}
    (note,) = selection.notes
    assert note == (
        "The submodule `evals/lib` moved and is not checked out, so its eval files are not read: "
        "run `git submodule update --init`."
    )


def test_a_shallow_clone_without_a_base(checkout: Checkout, tmp_path: Path) -> None:
    base = checkout.commit(FILES)
    checkout.commit({"README.md": "later\n"})
    shallow = checkout.clone(tmp_path / "shallow", "--depth=1")
    selection = chosen(shallow, base)
    assert reasons(selection) == dict.fromkeys(EVERY_CASE, "there is nothing to compare with")
    assert selection.notes == (
        (
            f"Every case runs, as there is nothing to compare with: `{base}` is not in this "
            "shallow clone; check out with `fetch-depth: 0`."
        ),
    )


@pytest.mark.parametrize("option", ["--depth=2", "--no-local"])
def test_a_merge_commit_of_a_pull_request(checkout: Checkout, tmp_path: Path, option: str) -> None:
    """Main has moved on meanwhile: what it brought is not the pull request's change."""
    checkout.commit(FILES)
    checkout.git("switch", "--quiet", "--create", "topic")
    Edit(checkout).replace("evals/greetings.yaml", "A kind greeting", "A greeting")
    checkout.commit()
    checkout.git("switch", "--quiet", "main")
    Edit(checkout).replace("prompts/system.md", "kind", "brief")
    checkout.commit()
    checkout.git("switch", "--quiet", "--create", "merge")
    checkout.git("merge", "--quiet", "--no-edit", "topic")
    clone = checkout.clone(tmp_path / "clone", "--branch=merge", option)
    assert reasons(chosen(clone, "HEAD^1")) == {"kind": "the case was edited: expected_outcome"}


@pytest.mark.parametrize(
    ("path", "read"),
    [
        ("README.md", ["evals/wide.yaml"]),
        ("prompts/system.md", ["evals/greetings.yaml", "evals/wide.yaml"]),
        ("judges/tone.py", ["evals/greetings.yaml", "evals/wide.yaml"]),
        ("rubric-ci.yaml", ["evals/agents.yaml", "evals/greetings.yaml", "evals/plain.yaml"]),
    ],
)
def test_only_files_of_the_change_are_read(checkout: Checkout, path: str, read: list[str]) -> None:
    case = "  - id: {}\n    input: Hi\n    rubrics: [polite]\n"
    plain = "evalcases:\n" + case.format("one") + case.format("two")
    base = checkout.commit(
        FILES | {"evals/plain.yaml": plain, "evals/wide.yaml": f"target: wide\n{plain}"}
    )
    with (checkout.root / path).open("a") as file:
        file.write("# changed\n")
    with chdir(checkout.root):
        loaded, _ = opened(settings(base))
    assert {file.path for file in loaded.files} >= set(read)
    unread = {"evals/plain.yaml"} - set(read)
    assert not unread & {file.path for file in loaded.files}
    chosen(checkout, base)


def test_a_broken_file_of_no_change_is_left_to_validate(checkout: Checkout) -> None:
    broken = "evalcases:\n  - id: one\n    inputs: Hi\n"
    base = checkout.commit(FILES | {"evals/broken.yaml": broken})
    with chdir(checkout.root):
        assert opened(settings(base))[0].invalid == ()
        checkout.write({"evals/broken.yaml": f"{broken}    note: x\n"})
        assert opened(settings(base))[0].invalid == ("evals/broken.yaml",)


def one_case(name: str) -> str:
    return f"evalcases: [{{id: {name}, input: Hi, rubrics: [polite]}}]\n"


TARGETS = "targets: [{name: default, provider: mock, response: hello}]\n"


PLACES = ("", ".agentv/", "evals/", "evals/.agentv/", "evals/sub/")


@pytest.mark.parametrize("path", [f"{folder}targets.yaml" for folder in PLACES])
@pytest.mark.parametrize("new", [False, True], ids=["edited", "new"])
def test_a_targets_file_in_the_folder_or_above(checkout: Checkout, path: str, *, new: bool) -> None:
    below, apart = one_case("below"), one_case("apart")
    evals = {"evals/sub/a.yaml": below, "other/b.yaml": apart, "other/targets.yaml": TARGETS}
    base = checkout.commit(evals if new else evals | {path: TARGETS})
    checkout.write({path: TARGETS.replace("hello", "goodbye")})
    why = "its target is new" if new else "target `default` changed"
    assert reasons(chosen(checkout, base, "evals", "other")) == {"below": why}


def test_patterns_of_guidelines_select_the_cases_that_have_one(checkout: Checkout) -> None:
    base = checkout.commit(FILES)
    config = "guideline_patterns: ['prompts/*.md']\n"
    checkout.write({".agentv/config.yaml": config})
    why = {"prompted": "the case was edited: input_messages"}
    assert reasons(chosen(checkout, base)) == why
    new = checkout.commit()
    assert reasons(chosen(checkout, new)) == {}
    checkout.write({".agentv/config.yaml": config + "verbose: true\n"})
    assert reasons(chosen(checkout, new)) == {}
    checkout.write({"evals/.agentv/config.yaml": "guideline_patterns: []\n"})
    assert reasons(chosen(checkout, new)) == why


RUBRIC_FILES = {
    "evals/deep/included.yaml": (
        "evalcases: [{id: included, input: a, rubrics: [include: shop]}]\n"
    ),
    "evals/shared.yaml": f"shared_rubrics: [include: shop]\n{one_case('shared')}",
    "evals/other.yaml": one_case("other"),
    "rubrics/shop.rubric.yaml": (
        "guidelines: guides/brief.md\n"
        "criteria: [{id: form, json_schema: order.json}]\n"
        "tests: [{answer_file: tests.md, marks: {form: true}}]\n"
    ),
    "rubrics/guides/brief.md": "Be brief.\n",
    "rubrics/order.json": "{}\n",
    "rubrics/tests.md": "An answer\n",
    "rubrics/all.yaml": "criteria: [Is kind]\n",
}


@pytest.mark.parametrize(
    ("path", "after", "expected"),
    [
        ("rubrics/guides/brief.md", "Be briefer.\n", ["included", "shared"]),
        ("rubrics/order.json", '{"type": "array"}\n', ["included", "shared"]),
        ("rubrics/all.yaml", "criteria: [Is polite]\n", ["included", "other", "shared"]),
        ("rubrics/tests.md", "A new answer\n", []),
    ],
)
def test_files_of_rubric_files_select_the_cases_that_include_them(
    checkout: Checkout, path: str, after: str, expected: list[str]
) -> None:
    shared = "shared_rubrics: [include: rubrics/all.yaml]\n" if expected[2:] else ""
    base = checkout.commit({"rubric-ci.yaml": f"{CONFIG}{shared}", **RUBRIC_FILES})
    checkout.commit({path: after})
    assert sorted(reasons(chosen(checkout, base))) == expected


def test_the_nearest_targets_file_counts_on_both_sides(checkout: Checkout) -> None:
    places = [f"{folder}.agentv/targets.yaml" for folder in ("a/", "b/", "")]
    cases = {"a/one.yaml": one_case("one"), "b/two.yaml": one_case("two")}
    base = checkout.commit({**dict.fromkeys(places, TARGETS), **cases})
    edited = TARGETS.replace("hello", "goodbye")
    checkout.write({".agentv/targets.yaml": edited})
    assert reasons(chosen(checkout, base, "a", "b")) == {}
    checkout.write({"b/.agentv/targets.yaml": edited})
    assert reasons(chosen(checkout, base, "a", "b")) == {"two": "target `default` changed"}


def test_a_base_whose_targets_file_does_not_parse(checkout: Checkout) -> None:
    broken = TARGETS.replace("mock", "[mock]")
    base = checkout.commit(FILES | {"more/a.yaml": one_case("one"), "more/targets.yaml": broken})
    checkout.write({"more/targets.yaml": TARGETS})
    problem = (
        "the base's `more/targets.yaml` does not parse: line 1: `provider` must be text, not a list"
    )
    assert reasons(chosen(checkout, base, "evals", "more")) == {"one": problem}


def test_a_rule_that_is_switched_off_is_off_on_both_sides(checkout: Checkout) -> None:
    config = CONFIG + "rules: {unknown-key: off}\n"
    evals = GREETINGS.replace("description:", "colour: red\ndescription:")
    base = checkout.commit(FILES | {"rubric-ci.yaml": config, "evals/greetings.yaml": evals})
    edited = evals.replace("A kind greeting", "A greeting")
    checkout.write({"evals/greetings.yaml": edited})
    assert reasons(chosen(checkout, base)) == {"kind": "the case was edited: expected_outcome"}
