"""A checkout with the line endings of Windows is the same project.

The same cases changed, every request has the same key, the reports are equal, and an edit keeps
the line endings of the file.
"""

import json
import re
import shutil
from contextlib import chdir
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from rubric_ci.gate.selection.changed_cases import open_selected
from rubric_ci.values.command_settings import Models, ReportOptions, SelectOptions
from tests.checkout import ENVIRONMENT, Checkout
from tests.invoke import invoke

QUICKSTART: Final = Path(__file__).parents[3] / "examples" / "quickstart"
CLEAN: Final = {
    name: value
    for name, value in ENVIRONMENT.items()
    if not name.startswith(("GITHUB_", "RUBRIC_CI_", "OPENAI_"))
}
FILES: Final = {
    "rubric-ci.yaml": "judge: {model: openai/m}\ntargets:\n"
    "  - {name: default, provider: mock, response: hello}\n",
    "evals/a.yaml": """\
evalcases:
  - id: prompted
    input_messages:
      - role: system
        content: [{type: file, value: prompts/system.md}]
      - {role: user, content: Hello?}
    expected_outcome: |
      A kind
      greeting
    rubrics: [polite]
  - id: graded
    input: Hi
    expected_outcome: A greeting
    evaluators:
      - {name: j, type: llm_judge, prompt: prompts/judge.md}
""",
    "prompts/system.md": "Be kind.\nAlways.\n",
    "prompts/judge.md": "Is it kind?\n{{ answer }}\n",
}


def on_windows(origin: Checkout, root: Path) -> Checkout:
    """Return a clone as git for Windows makes it: LF in the objects, CRLF on disk."""
    return origin.clone(root, "--config", "core.autocrlf=true")


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    origin = Checkout.create(tmp_path / "origin")
    origin.commit(dict(FILES))
    clone = on_windows(origin, tmp_path / "clone")
    assert b"\r\n" in (clone.root / "prompts/system.md").read_bytes()
    return clone


def reasons(checkout: Checkout) -> dict[str, str]:
    with chdir(checkout.root):
        settings = SelectOptions(paths=("evals",), changed_since="HEAD")
        _, selection = open_selected(settings, Models(), ReportOptions())
    return {case.id: why for case, why in selection.chosen}


def test_no_case_changed(checkout: Checkout) -> None:
    assert reasons(checkout) == {}


def test_only_what_was_edited_changed(checkout: Checkout) -> None:
    checkout.write({"prompts/system.md": "Be kind.\r\nNever.\r\n"})
    assert reasons(checkout) == {"prompted": "`prompts/system.md` changed"}


def test_an_edited_eval_file_changes_no_other_case(checkout: Checkout) -> None:
    text = FILES["evals/a.yaml"].replace("input: Hi", "input: Ho").replace("\n", "\r\n")
    checkout.write({"evals/a.yaml": text})
    assert reasons(checkout) == {"graded": "the case was edited: input_messages"}


def test_an_editor_that_saves_lf_changes_nothing(checkout: Checkout) -> None:
    checkout.write(FILES)
    assert reasons(checkout) == {}


def test_line_endings_that_were_committed_change_nothing(tmp_path: Path) -> None:
    checkout = Checkout.create(tmp_path)
    checkout.commit({path: text.replace("\n", "\r\n") for path, text in FILES.items()})
    checkout.write(FILES)
    assert reasons(checkout) == {}


class Clones(NamedTuple):
    """Two clones of one commit: LF on disk, and CRLF."""

    lf: Checkout
    crlf: Checkout


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """The quickstart example, whose newest commit edits a prompt and an answer."""
    origin = Checkout.create(tmp_path_factory.mktemp("crlf") / "origin")
    shutil.copytree(QUICKSTART, origin.root, dirs_exist_ok=True)
    now = {
        path: (origin.root / path).read_text() for path in ("prompts/support.md", "answers.jsonl")
    }
    lines = now["answers.jsonl"].splitlines(keepends=True)
    answers = [lines[0].replace('"answer": "', '"answer": "Hm. '), *lines[1:]]
    before = {"prompts/support.md": "Be kind.\n", "answers.jsonl": "".join(answers)}
    ignored = {".gitignore": ".rubric-ci/\n"}
    origin.commit(before | ignored)
    origin.commit(now)
    return origin


@pytest.fixture
def clones(origin: Checkout, tmp_path: Path) -> Clones:
    lf = origin.clone(tmp_path / "lf", "--config", "core.autocrlf=false")
    return Clones(lf, on_windows(origin, tmp_path / "crlf"))


def run(checkout: Checkout, words: str) -> tuple[int, str, str, Any]:
    """Run a command and return all that a reader sees, without durations and times."""
    wide = {**CLEAN, "COLUMNS": "200"}  # where a line ends does not depend on a duration
    done = invoke(checkout.root, wide, *words.split())
    path = checkout.root / ".rubric-ci/report.json"
    report = json.loads(path.read_text("utf-8")) if path.exists() else None
    texts = [re.sub(r"\d+\.\d s\b", "N s", text) for text in (done.stdout, done.stderr)]
    return (done.returncode, *texts, _without_times(report))


def _without_times(value: Any) -> Any:
    match value:
        case dict():
            kept = (name for name in value if not name.endswith(("_seconds", "_at")))
            return {name: _without_times(value[name]) for name in kept}
        case list():
            return [_without_times(each) for each in value]
    return value


COMMANDS: Final = {
    "validate": ("validate", 0),
    "generate": ("generate rubrics --diff --replay drafts.replay.jsonl", 1),
    "run": ("run --replay judge.replay.jsonl", 1),
    "plan": ("plan --cases-per-shard 2", 0),
    "changed": ("run --changed-since HEAD~1 --replay judge.replay.jsonl", 1),
    "against": ("run --against HEAD~1 --case gear-ratio --replay judge.replay.jsonl", 0),
}


@pytest.mark.parametrize(("words", "code"), COMMANDS.values(), ids=COMMANDS)
def test_a_command_says_the_same(clones: Clones, words: str, code: int) -> None:
    lf, crlf = (run(checkout, words) for checkout in clones)
    assert lf[0] == code, lf[2]
    assert crlf == lf


FIXABLE: Final = "evalcases:\n  - id: 5\n    input: Hi\n    rubrics: [Greets]\n"
EDITS: Final = {
    "generate": ("generate rubrics --replay drafts.replay.jsonl", "evals/support.eval.yaml", ""),
    "fix": ("validate --fix evals/fixable.eval.yaml", "evals/fixable.eval.yaml", FIXABLE),
    "waive": (
        "waive worn-tyre/no-promise --reason known --owner me --until 2099-01-01",
        "waivers.yaml",
        "# Ours.\nwaivers: []\n",
    ),
    "init": ("init", ".gitignore", "build/\n"),
}


@pytest.mark.parametrize(("words", "path", "text"), EDITS.values(), ids=EDITS)
def test_an_edit_keeps_the_line_endings(clones: Clones, words: str, path: str, text: str) -> None:
    if text:
        clones.lf.write({path: text})
        clones.crlf.write({path: text.replace("\n", "\r\n")})
    before = (clones.lf.root / path).read_bytes()
    lf, crlf = (run(checkout, words) for checkout in clones)
    assert crlf == lf
    after = (clones.lf.root / path).read_bytes()
    assert before != after, lf
    assert (clones.crlf.root / path).read_bytes() == after.replace(b"\n", b"\r\n")
