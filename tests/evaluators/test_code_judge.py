"""Real scripts score answers."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rubric_ci.errors import CannotRunScript
from rubric_ci.evaluators.code_judge import code_judge, run_script
from rubric_ci.evaluators.kind import UsedFiles, takes_file
from rubric_ci.files.parsing.eval_file import Contents, read_messages
from rubric_ci.values.evals import Container, EvalCase
from rubric_ci.values.messages import DataPart, FilePart, Message, TextPart
from rubric_ci.values.references import Found, NotFound
from rubric_ci.values.results import Answer, Assessment
from tests import platforms, podman
from tests.cases import (
    ENVIRONMENT,
    build_case,
    build_context,
    build_script,
    text_answer,
    text_message,
)

pytestmark = platforms.SHELL

HELLO = text_answer("hello")
GOOD = "Here you are:\n```python\ndef f():\n    return 1\n```\n"
BAD = "```python\ndef f(:\n```\n"
SCORED = """echo '{"score": 1}'"""


def judge(
    root: Path,
    script: str | tuple[str, ...],
    answer: Answer = HELLO,
    case: EvalCase | None = None,
    **spec: Any,
) -> Assessment:
    return asyncio.run(
        code_judge(case or build_case(), answer, build_script(script, **spec), build_context(root))
    )


def test_a_mark_becomes_an_assessment(tmp_path: Path) -> None:
    printed = {
        "score": 0.7,
        "hits": ["h"],
        "misses": ["m"],
        "reasoning": "so so",
        "details": {"a": 1},
    }
    (tmp_path / "judge.py").write_text(f"print({json.dumps(json.dumps(printed))})")
    assert judge(tmp_path, (sys.executable, "judge.py")) == Assessment(
        score=0.7, reasoning="so so", hits=("h",), misses=("m",), details={"a": 1}
    )


@pytest.mark.parametrize(
    ("answer", "score"), [(GOOD, 1.0), (BAD, 0.0)], ids=["compiles", "does-not"]
)
@pytest.mark.parametrize(
    "script",
    [
        f"{sys.executable} -m py_compile {{code_file}}",
        (sys.executable, "-m", "py_compile", "{code_file}"),
    ],
    ids=["shell", "argv"],
)
def test_a_compiler_is_a_judge(
    script: str | tuple[str, ...], answer: str, score: float, tmp_path: Path
) -> None:
    result = judge(tmp_path, script, text_answer(answer))
    assert result.score == score
    assert ("SyntaxError" in result.reasoning) == (score == 0)
    assert ('File "candidate.py", line 1' in result.reasoning) == (score == 0)


def test_the_answer_file_holds_the_answer(tmp_path: Path) -> None:
    answer = "öäü $(touch pwned) {code_file}\n"
    kept = tmp_path / "kept"
    assert judge(tmp_path, f"cp {{answer_file}} {kept}", text_answer(answer)).score == 1.0
    assert kept.read_text(encoding="utf-8") == answer
    assert not (tmp_path / "pwned").exists()


def test_files_are_gone_afterwards(tmp_path: Path) -> None:
    named = tmp_path / "named"
    judge(tmp_path, f"echo {{code_file}} > {named}")
    assert named.read_text().strip().endswith("candidate.txt")
    assert not Path(named.read_text().strip()).exists()


def test_other_braces_are_the_script_s(tmp_path: Path) -> None:
    script = """echo a | awk '{exit ($1 == "a" ? 0 : 1)}'"""
    assert judge(tmp_path, script, score_from="exit_status").score == 1.0


@pytest.mark.parametrize(
    ("script", "score_from", "score"),
    [
        pytest.param("test -s {answer_file}", None, 1.0, id="takes-the-answer"),
        pytest.param(("test", "-d", "{code_file}"), None, 0.0, id="takes-the-code"),
        pytest.param("exit 1", "exit_status", 0.0, id="said-explicitly"),
        pytest.param("echo '{\"score\": 0.3}'", "exit_status", 1.0, id="output-is-ignored"),
        pytest.param(
            "cat {answer_file} > /dev/null; echo '{\"score\": 0.3}'", "output", 0.3, id="output"
        ),
        pytest.param("echo '{\"score\": 0.3}'", None, 0.3, id="printed"),
    ],
)
def test_where_the_score_comes_from(
    script: str | tuple[str, ...], score_from: Any, score: float, tmp_path: Path
) -> None:
    assert judge(tmp_path, script, score_from=score_from).score == score


def seen(
    root: Path, case: EvalCase | None = None, answer: Answer = HELLO, **spec: Any
) -> dict[str, Any]:
    """Return what a script reads from standard input."""
    judge(root, f"cat > seen.json; {SCORED}", answer, case, **spec)
    raw = (root / "seen.json").read_bytes()
    assert raw.isascii()
    read: dict[str, Any] = json.loads(raw)
    return read


def test_stdin_has_the_contract_s_keys(tmp_path: Path) -> None:
    case = build_case(
        expected_outcome="A greeting",
        input_messages=(
            text_message("Be kind", "system"),
            Message(role="user", parts=(TextPart("Greet"), FilePart("docs/who.md", "Ann"))),
        ),
        expected_messages=(Message(role="assistant", parts=(DataPart({"Say": "hi"}),)),),
    )
    summary = {"duration_ms": 7, "tool_calls_by_name": {"search": 2, "read": 1}}
    said = {"role": "assistant", "content": "héllo"}
    answer = Answer(text="héllo", messages=(said,), trace_summary=summary)
    config = {"maxLength": 3, "nested_key": [1]}
    greet = [
        {"type": "text", "value": "Greet"},
        {"type": "file", "value": "docs/who.md", "text": "Ann"},
    ]
    asked = [{"role": "system", "content": "Be kind"}, {"role": "user", "content": greet}]
    expected = [{"role": "assistant", "content": {"Say": "hi"}}]
    counted = {"event_count": 3, "tool_names": ["read", "search"], "error_count": 0}
    assert seen(tmp_path, case, answer, config=config) == {
        "id": "one",
        "question": "[system]\nBe kind\n\n[user]\nGreet\n\nAnn",
        "expected_outcome": "A greeting",
        "expected_messages": expected,
        "reference_answer": '{\n  "Say": "hi"\n}',
        "candidate_answer": "héllo",
        "output_messages": [said],
        "guideline_files": [],
        "input_files": [str(tmp_path / "docs/who.md")],
        "input_messages": asked,
        "trace_summary": {**counted, **summary},
        "config": config,
        "criteria": "A greeting",
        "input": asked,
        "expected_output": expected,
        "output": "héllo",
        "messages": [said],
        "metadata": {},
        "workspace_path": None,
        "file_changes": None,
    }


@pytest.mark.parametrize(
    "content", ["Greet", [{"type": "text", "value": "Greet"}], {"say": "hi"}], ids=repr
)
def test_content_arrives_as_it_is_written(content: Any, tmp_path: Path) -> None:
    written = [{"role": "user", "content": content}]
    files = UsedFiles(lambda _: NotFound("no such file"))
    messages = read_messages(written, "user", Contents(files))
    assert seen(tmp_path, build_case(input_messages=messages))["input_messages"] == written


def test_guidelines_are_listed_apart_from_other_files(tmp_path: Path) -> None:
    guideline = FilePart("docs/how.md", "Be brief", guideline=True)
    parts = (TextPart("Greet"), guideline, FilePart("docs/who.md", "Ann"), guideline)
    found = seen(tmp_path, build_case(input_messages=(Message(role="user", parts=parts),)))
    assert found["guideline_files"] == [str(tmp_path / "docs/how.md")]
    assert found["input_files"] == [str(tmp_path / "docs/who.md")]
    assert found["question"] == "Greet\n\nAnn"
    assert [part["value"] for part in found["input_messages"][0]["content"]] == [
        *("Greet", "docs/how.md", "docs/who.md", "docs/how.md")
    ]


def test_a_target_without_measurements_has_no_summary(tmp_path: Path) -> None:
    assert seen(tmp_path)["trace_summary"] is None


def test_tool_turns_keep_their_shape(tmp_path: Path) -> None:
    call = {"tool": "search", "input": {"q": 1}}
    messages = (
        Message(role="assistant", tool_calls=(call,)),
        Message(role="tool", name="search", parts=(TextPart("found"),)),
    )
    assert seen(tmp_path, build_case(input_messages=messages))["input_messages"] == [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": "found", "name": "search"},
    ]


def test_runs_in_its_folder(tmp_path: Path) -> None:
    (tmp_path / "evals").mkdir()
    judge(tmp_path, "touch here", cwd="evals", score_from="exit_status")
    assert (tmp_path / "evals" / "here").exists()


def test_keys_stay_out_of_scripts(tmp_path: Path) -> None:
    judge(tmp_path, f"env > seen; {SCORED}", env=("DEMO",))
    seen = (tmp_path / "seen").read_text()
    assert "DEMO=on" in seen
    assert "HOME=/nowhere" in seen
    assert "sk-secret" not in seen


@pytest.mark.parametrize(
    ("script", "keys", "score", "warns"),
    [
        pytest.param(f"cat {{answer_file}} >&2; {SCORED}", {}, 1.0, True, id="status-0"),
        pytest.param(f"cat {{code_file}} >&2; {SCORED}; exit 1", {}, 0.0, True, id="status-1"),
        pytest.param(
            "cat {answer_file} >&2; echo '{\"score\": 0.3}'",
            {"score_from": "output"},
            0.3,
            False,
            id="from-the-output",
        ),
        pytest.param(
            f"cat {{answer_file}} >&2; {SCORED}; exit 1",
            {"score_from": "exit_status"},
            0.0,
            False,
            id="from-the-status",
        ),
    ],
)
def test_a_script_that_takes_a_file_and_prints_a_score(
    script: str, keys: dict[str, Any], score: float, warns: bool, tmp_path: Path
) -> None:
    found = judge(tmp_path, script, **keys)
    assert (found.score, bool(found.warnings)) == (score, warns)


@pytest.mark.parametrize(
    ("script", "message"),
    [
        pytest.param("sleep 30", "`sleep 30` did not end within 0.4 s and was killed", id="late"),
        pytest.param("no-such-tool", "the script was not found", id="not-found"),
        pytest.param("no-such-tool {code_file}", "the script was not found", id="127-with-a-file"),
    ],
)
def test_no_mark_is_an_error(script: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(CannotRunScript) as caught:
        judge(tmp_path, script, timeout_seconds=0.4 if "sleep" in script else 60.0)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("script", "score", "reasoning"),
    [
        (SCORED, 1.0, ""),
        ("echo all good", 1.0, "exit status 0"),
        ("echo 2 of 3; exit 4", 0.0, "2 of 3"),
        ("exit 4", 0.0, "exit status 4"),
        ("echo '[1]'", 1.0, "exit status 0"),
        ("echo '3 of {4}'", 1.0, "exit status 0"),
    ],
)
def test_a_score_from_the_output_or_the_status(
    script: str, score: float, reasoning: str, tmp_path: Path
) -> None:
    found = judge(tmp_path, script, score_from="output_or_exit_status")
    assert (found.score, found.reasoning) == (score, reasoning)


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo no disk >&2; exit 2", "the script failed: exit status 2: no disk"),
        ("echo '{\"score\": 1}'; exit 1", "the script failed: exit status 1: {"),
        ("no-such-tool", "the script was not found"),
        ("echo '{}'", "the script printed no `score`"),
        (
            f'echo \'{{"score": 1, "details": {"[" * 101}{"]" * 101}}}\'',
            "the script printed JSON of more than 100 levels",
        ),
    ],
)
def test_neither_output_nor_status_is_a_score(script: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(CannotRunScript) as caught:
        judge(tmp_path, script, score_from="output_or_exit_status")
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("script", "printed"),
    [
        ("echo \"{'score': 0}\"", "{'score': 0}"),
        ("echo '{\"score\": 0}'; echo ok", '{"score": 0} ok'),
        ("echo go; echo '{\"score\": 0}'", 'go {"score": 0}'),
        ("echo go; printf '{\n\"score\": 0}'", 'go { "score": 0}'),
        ("echo go; echo '{\"score\": 0}'; echo ok", 'go {"score": 0} ok'),
        ("echo 'Result: {\"score\": 0}'", 'Result: {"score": 0}'),
        ("echo go; echo \"{'score' : 0}\"", "go {'score' : 0}"),
    ],
)
def test_more_than_one_json_object_is_no_score(script: str, printed: str, tmp_path: Path) -> None:
    with pytest.raises(CannotRunScript) as caught:
        judge(tmp_path, script, score_from="output_or_exit_status")
    assert str(caught.value).startswith(
        f"the script printed `{printed}`, which is not one JSON object; print the object alone, "
        "or a text without one"
    )


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with (
        pytest.MonkeyPatch.context() as patch,
        podman.image(tmp_path_factory.mktemp("image"), patch) as name,
    ):
        yield name


def test_a_script_in_a_container(
    image: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "of-the-host").touch()
    script = ("sh", "-c", 'cat > in; ls; echo "$0 $DEMO $DAYS $API_KEY"; test -s in', "one two")
    spec = build_script(
        script,
        container=Container(image=image, memory="64m"),
        score_from="output_or_exit_status",
        env=("DEMO", "API_KEY"),
        timeout_seconds=60,
    )
    monkeypatch.setenv("API_KEY", "s3cr3t-of-the-job")
    given = {"DEMO": "given", "DAYS": "hidden", "API_KEY": "s3cr3t-of-the-job"}
    environment = {**ENVIRONMENT, **podman.environment(), **given}
    context = build_context(tmp_path, environment=environment)
    finished = asyncio.run(run_script(spec, {"question": "Hi"}, HELLO, context))
    assert (finished.status, finished.stderr) == (0, "")
    assert finished.stdout.split()[-4:] == ["one", "two", "given", "***"]
    assert "of-the-host" not in finished.stdout
    listed = ["podman", "ps", "--all", "--quiet", "--filter", f"ancestor={image}"]
    assert subprocess.run(listed, capture_output=True, text=True, check=True).stdout == ""


@pytest.mark.usefixtures("image")
@pytest.mark.parametrize("name", ["localhost:1/none", "--privileged"])
def test_an_image_that_is_nowhere_is_no_score(name: str, tmp_path: Path) -> None:
    spec = build_script("true", container=Container(image=name), timeout_seconds=60)
    context = build_context(tmp_path, environment={**ENVIRONMENT, **podman.environment()})
    with pytest.raises(CannotRunScript, match=rf"^the image `{name}` cannot be pulled: exit sta"):
        asyncio.run(run_script(spec, {}, HELLO, context))


def test_a_container_that_does_not_start_is_no_score(image: str, tmp_path: Path) -> None:
    spec = build_script("true", container=Container(image=image, memory="64z"), timeout_seconds=60)
    spec = replace(spec, score_from="exit_status")
    context = build_context(tmp_path, environment={**ENVIRONMENT, **podman.environment()})
    with pytest.raises(CannotRunScript, match=r"^the container was not started: exit status 125"):
        asyncio.run(code_judge(build_case(), HELLO, spec, context))


def test_no_engine_is_no_score(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CannotRunScript, match=r"^`container` needs podman or docker on the PATH$"):
        judge(tmp_path, "true", container=Container(image="x"))


@pytest.mark.parametrize(
    ("script", "expected"),
    [("sh a {answer_file}", True), (("sh", "--x={code_file}"), True), ("sh a.sh", False)],
)
def test_takes_file(script: str | tuple[str, ...], expected: bool) -> None:
    assert takes_file(script) is expected


@pytest.mark.parametrize(
    "script",
    [
        r"python checks\a.py",
        "python checks/a.py",
        r'python "checks\a.py" x',
        ["python", r"checks\a.py"],
    ],
)
def test_a_script_with_the_backslashes_of_windows(script: str | list[str]) -> None:
    """Its file is found, so that a change to it selects the case."""

    def lookup(name: str) -> Found | NotFound:
        return Found(name, "") if name == "evals/checks/a.py" else NotFound("no such file")

    files = UsedFiles(lookup)
    files.note_script(script, "evals")
    assert files.paths() == ("evals/checks/a.py",)
