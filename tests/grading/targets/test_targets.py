"""Answers of every kind of target."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from rubric_ci.errors import NoVerdict
from rubric_ci.grading import targets
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.llm_calls import ChatMessage, ModelCall, ModelReply
from rubric_ci.values.messages import FilePart, Message, TextPart
from rubric_ci.values.results import Answer
from rubric_ci.values.targets import (
    CliTarget,
    Endpoint,
    LlmTarget,
    MockTarget,
    RecordedTarget,
    Target,
)
from rubric_ci.values.usage import Usage
from tests import platforms
from tests.cases import ENVIRONMENT, build_case, build_context, text_message


def answer(target: Target, root: Path, case: EvalCase | None = None, **context: Any) -> Answer:
    return asyncio.run(targets.answer(case or build_case(), target, build_context(root, **context)))


def refusal(target: Target, root: Path, case: EvalCase | None = None, **context: Any) -> str:
    with pytest.raises(NoVerdict) as caught:
        answer(target, root, case, **context)
    return str(caught.value)


def test_mock(tmp_path: Path) -> None:
    assert answer(MockTarget(name="m", response="hi"), tmp_path) == Answer(text="hi")


# Recorded answers

DEEP = json.loads("[" * 101 + "]" * 101)
KEPT = RecordedTarget(name="kept", answers="answers.jsonl")


def record(root: Path, *lines: Any) -> None:
    text = "".join((x if isinstance(x, str) else json.dumps(x)) + "\n" for x in lines)
    (root / "answers.jsonl").write_text(text, encoding="utf-8")


def test_recorded_by_id(tmp_path: Path) -> None:
    record(tmp_path, {"id": "zero", "answer": "0"}, "", {"id": "one", "answer": "hällo"})
    assert answer(KEPT, tmp_path) == Answer(text="hällo")


def test_recorded_by_file_where_ids_repeat(tmp_path: Path) -> None:
    record(
        tmp_path,
        {"id": "one", "answer": "any"},
        {"id": "one", "file": "evals/b.eval.yaml", "answer": "b"},
        {"id": "one", "file": "./evals/a.eval.yaml", "answer": "a"},
    )
    assert answer(KEPT, tmp_path).text == "a"
    assert answer(KEPT, tmp_path, build_case(file="evals/c.eval.yaml")).text == "any"


def test_a_structured_answer_is_indented_json(tmp_path: Path) -> None:
    record(tmp_path, {"id": "one", "answer": {"b": "ü", "a": [1]}})
    assert answer(KEPT, tmp_path).text == '{\n  "b": "ü",\n  "a": [\n    1\n  ]\n}'


def test_a_recording_may_hold_measurements(tmp_path: Path) -> None:
    calls = [{"role": "assistant", "content": "ok", "tool_calls": [{"tool": "b"}, {"tool": "a"}]}]
    record(
        tmp_path,
        {
            "id": "one",
            "answer": "ok",
            "output_messages": calls,
            "duration_ms": 1500,
            "cost_usd": 0.25,
            "token_usage": {"input": 3, "output": 4},
        },
    )
    assert answer(KEPT, tmp_path) == Answer(
        text="ok",
        messages=tuple(calls),
        duration_seconds=1.5,
        trace_summary={
            "event_count": 2,
            "tool_names": ["a", "b"],
            "tool_calls_by_name": {"a": 1, "b": 1},
            "duration_ms": 1500,
            "cost_usd": 0.25,
            "token_usage": {"input": 3, "output": 4},
        },
    )


def test_a_recording_is_read_once_for_a_run_and_again_for_the_next(tmp_path: Path) -> None:
    record(tmp_path, {"id": "one", "answer": "a"})
    context = build_context(tmp_path)
    first = asyncio.run(targets.answer(build_case(), KEPT, context))
    record(tmp_path, {"id": "one", "answer": "longer"})
    assert asyncio.run(targets.answer(build_case(), KEPT, context)) is first
    assert answer(KEPT, tmp_path).text == "longer"


def test_a_missing_recording_names_the_line_to_add(tmp_path: Path) -> None:
    record(tmp_path, {"id": "two", "answer": "2"})
    assert refusal(KEPT, tmp_path) == (
        "answers.jsonl has no answer for the case `one` of evals/a.eval.yaml; "
        'add a line {"id": "one", "answer": "…"}'
    )


def test_a_missing_file_of_recordings_is_named(tmp_path: Path) -> None:
    assert refusal(KEPT, tmp_path) == (
        "the recorded answers answers.jsonl cannot be read: No such file or directory"
    )


NO_LEVELS = "the answer has JSON of more than 100 levels"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"anwser": ""}, "unknown key `anwser`; did you mean `answer`?"),
        ({"answer": None}, "`answer` is missing"),
        ({"id": "two"}, "the case `two` has an answer in line 1 already"),
        ({"output_messages": [{"role": "a", "content": DEEP}]}, NO_LEVELS),
        ({"answer": DEEP}, NO_LEVELS),
        ({"cost_usd": -1}, "`cost_usd` must not be negative, but is -1"),
        ({"cost_usd": "1"}, '`cost_usd` must be a number, not "1"'),
        ({"token_usage": 7}, "`token_usage` must be an object with `input` and `output`"),
        ({"trace_summary": {"duration_ms": True}}, "`duration_ms` must be a number, not true"),
        ({"output_messages": [1]}, "`output_messages` must be a list of objects"),
        (
            {"output_messages": [{"tool_calls": [{"name": "f"}]}]},
            "`tool_calls` must be a list of objects with `tool`",
        ),
    ],
)
def test_a_broken_line_of_a_recording(line: dict[str, Any], message: str, tmp_path: Path) -> None:
    record(tmp_path, {"id": "two", "answer": "2"}, {"id": "x", "answer": "", **line})
    assert refusal(KEPT, tmp_path) == f"answers.jsonl:2: {message}"


# Models

MODEL = LlmTarget(name="default", endpoint=Endpoint(model="openai/m"))


def replying(reply: ModelReply, heard: list[ModelCall]) -> Any:
    async def ask(call: ModelCall) -> ModelReply:
        heard.append(call)
        return reply

    return ask


def test_a_model_gets_the_whole_conversation(tmp_path: Path) -> None:
    heard: list[ModelCall] = []
    case = build_case(
        input_messages=(
            text_message("Be kind", "system"),
            Message(role="user", parts=(TextPart("Look"), FilePart("a.md", "A"))),
            Message(role="assistant", tool_calls=({"tool": "find"},)),
            Message(role="tool", name="find", parts=(TextPart("1 hit"),)),
            Message(role="tool", parts=(TextPart("2 hits"),)),
        )
    )
    usage = Usage(calls=1, input_tokens=3, output_tokens=2, cost_usd=0.5)
    ask = replying(ModelReply(text="done", usage=usage), heard)
    given = answer(MODEL, tmp_path, case, call_model=ask)
    assert heard[0].messages == (
        ChatMessage(role="system", content="Be kind"),
        ChatMessage(role="user", content="Look\n\nA"),
        ChatMessage(role="assistant", content='[call of a tool]\n{\n  "tool": "find"\n}'),
        ChatMessage(role="user", content="[result of find]\n1 hit"),
        ChatMessage(role="user", content="[result of a tool]\n2 hits"),
    )
    assert heard[0].about == "evals/a.eval.yaml: one: answer"
    assert (given.text, given.usage) == ("done", usage)
    assert given.trace_summary is not None
    assert given.trace_summary["token_usage"] == {"input": 3, "output": 2}
    assert given.trace_summary["cost_usd"] == 0.5


RULES = FilePart("rules.md", "Be brief", guideline=True)
LOOK = Message(role="user", parts=(TextPart("Look"), RULES, FilePart("a.md", "A")))
GUIDED = "[[ ## Guidelines ## ]]\n\nBe brief"


@pytest.mark.parametrize(
    ("messages", "sent"),
    [
        ((text_message("Be kind", "system"), LOOK), [f"{GUIDED}\n\nBe kind", "Look\n\nA"]),
        ((Message(role="system", parts=(RULES,)), text_message("Look")), [GUIDED, "Look"]),
    ],
    ids=["in-the-system-message", "a-message-of-guidelines"],
)
def test_a_model_gets_guidelines_first(
    messages: tuple[Message, ...], sent: list[str], tmp_path: Path
) -> None:
    heard: list[ModelCall] = []
    case = build_case(input_messages=messages)
    answer(MODEL, tmp_path, case, call_model=replying(ModelReply(text="done"), heard))
    assert [each.role for each in heard[0].messages] == ["system", "user"]
    assert [each.content for each in heard[0].messages] == sent


def test_an_unknown_price_is_not_a_price_of_0(tmp_path: Path) -> None:
    ask = replying(ModelReply(text="x", usage=Usage(calls=1, unpriced_calls=1)), [])
    assert "cost_usd" not in (answer(MODEL, tmp_path, call_model=ask).trace_summary or {})


def test_a_replayed_reply_took_no_time(tmp_path: Path) -> None:
    given = answer(MODEL, tmp_path, call_model=replying(ModelReply(text="x"), []))
    assert (given.duration_seconds, given.trace_summary) == (None, None)


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        pytest.param(
            ModelReply(text="half", finish="length"),
            "openai/m reached its token limit; increase `max_tokens` of the target `default`",
            id="cut-off",
        ),
        pytest.param(ModelReply(text=" \n"), "openai/m gave an empty answer", id="empty"),
        pytest.param(
            ModelReply(text="", finish="refusal"), "openai/m refused to answer", id="refusal"
        ),
    ],
)
def test_a_model_without_a_usable_answer(reply: ModelReply, message: str, tmp_path: Path) -> None:
    assert refusal(MODEL, tmp_path, call_model=replying(reply, [])) == message


def test_a_refusal_in_words_is_an_answer(tmp_path: Path) -> None:
    ask = replying(ModelReply(text="I will not.", finish="refusal"), [])
    assert answer(MODEL, tmp_path, call_model=ask).text == "I will not."


def test_a_model_needs_something_to_answer(tmp_path: Path) -> None:
    assert refusal(MODEL, tmp_path, build_case(input_messages=())) == (
        "the case has no input messages to send to the model"
    )


# Commands

HOSTILE = 'it\'s $(touch pwned)\n`x` "q"'


def cli(template: str, **facts: Any) -> CliTarget:
    return CliTarget(name="agent", command_template=template, **{"timeout_seconds": 20, **facts})


@platforms.SHELL
@pytest.mark.parametrize(
    ("template", "text"),
    [
        pytest.param("printf %s {PROMPT}", HOSTILE, id="prompt-is-quoted"),
        pytest.param("cat {PROMPT_FILE}", HOSTILE, id="prompt-file"),
        pytest.param("echo {EVAL_ID} {ATTEMPT}", "the one 0", id="id-and-attempt"),
        pytest.param("printf %s {PROMPT} > {OUTPUT_FILE}; echo log", HOSTILE, id="output-file"),
        pytest.param("printf '\\n a\\n\\n'", " a", id="line-ends-are-cut"),
        pytest.param("echo ${HOME} '{x}' {}", "/nowhere {x} {}", id="other-braces"),
        pytest.param("printf %s {GUIDELINES}", "", id="no-guidelines"),
    ],
)
def test_cli(template: str, text: str, tmp_path: Path) -> None:
    case = build_case(id="the one", input_messages=(text_message(HOSTILE),))
    if not text:
        assert refusal(cli(template), tmp_path, case) == "the target `agent` gave an empty answer"
    else:
        assert answer(cli(template), tmp_path, case).text == text
    assert not (tmp_path / "pwned").exists()


@platforms.SHELL
def test_a_prompt_too_long_for_a_command_line_fits_in_its_file(tmp_path: Path) -> None:
    case = build_case(input_messages=(text_message("é" * 200_000),))
    assert "Argument list too long" in refusal(cli("printf %s {PROMPT} | wc -c"), tmp_path, case)
    given = answer(cli("wc -c < {PROMPT_FILE}; echo {PROMPT_FILE}"), tmp_path, case)
    size, path = given.text.split()
    assert size == "400000"
    assert not Path(path).parent.exists()


@platforms.SHELL
def test_cli_gets_files_and_guidelines(tmp_path: Path) -> None:
    case = build_case(
        input_messages=(
            text_message("Be kind", "system"),
            Message(role="user", parts=(FilePart("my file.md", "A"), FilePart("b.md", "B"))),
        )
    )
    template = "for f in {FILES}; do echo $f; done; echo {GUIDELINES}"
    assert answer(cli(template), tmp_path, case).text == (
        f"{tmp_path}/my file.md\n{tmp_path}/b.md\nBe kind"
    )


@platforms.SHELL
def test_guidelines_are_not_part_of_the_prompt(tmp_path: Path) -> None:
    parts = (TextPart("Look"), RULES, FilePart("b.md", "B"))
    case = build_case(input_messages=(Message(role="user", parts=parts),))
    template = "printf '%s|' {PROMPT} {GUIDELINES} {FILES}"
    assert answer(cli(template), tmp_path, case).text == (
        f"Look\n\nB|Be brief|{tmp_path}/rules.md|{tmp_path}/b.md|"
    )


@platforms.SHELL
def test_cli_is_given_files_in_its_own_form(tmp_path: Path) -> None:
    asked = Message(role="user", parts=(FilePart("a/it's {basename}.md", "text"),))
    target = cli("printf '%s|' {FILES}", files_format="--file {path} --as={basename}")
    given = answer(target, tmp_path, build_case(input_messages=(asked,)))
    path = f"{tmp_path}/a/it's {{basename}}.md"
    assert given.text == f"--file|{path}|--as=it's {{basename}}.md|"


@platforms.SHELL
def test_cli_sees_what_is_named_for_it(tmp_path: Path) -> None:
    seen = answer(cli("env", env=("DEMO",)), tmp_path).text
    assert "DEMO=on" in seen
    assert "sk-secret" not in seen


@platforms.SHELL
def test_cli_runs_in_its_folder_and_is_timed(tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    given = answer(cli("sleep 0.2; basename $PWD", cwd="app"), tmp_path)
    assert given.text == "app"
    assert given.duration_seconds is not None
    assert 0.2 <= given.duration_seconds < 10


@platforms.SHELL
def test_cli_may_report_its_usage(tmp_path: Path) -> None:
    told = {
        "output_messages": [
            {"role": "assistant", "content": "", "tool_calls": [{"tool": "find"}]},
            {"role": "assistant", "content": "found"},
        ],
        "duration_ms": 40,
        "cost_usd": 0.5,
        "token_usage": {"input": 7, "output": 2},
    }
    (tmp_path / "told.json").write_text(json.dumps(told))
    given = answer(cli("cat told.json"), tmp_path)
    assert given.text == "found"
    assert given.duration_seconds == 0.04
    assert given.usage == Usage(input_tokens=7, output_tokens=2, cost_usd=0.5)
    assert given.trace_summary is not None
    assert given.trace_summary["tool_calls_by_name"] == {"find": 1}


@platforms.SHELL
@pytest.mark.parametrize(
    "told",
    [
        {"output": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "found"}]},
        {
            "output": [{"role": "assistant", "content": "found"}],
            "output_messages": [{"role": "assistant", "content": "older key"}],
            "cost_usd": 0.5,
        },
    ],
)
def test_messages_may_be_called_output_as_in_agentv(told: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "told.json").write_text(json.dumps(told))
    given = answer(cli("cat told.json"), tmp_path)
    assert given.text == "found"
    assert given.messages == tuple(told["output"])


@platforms.SHELL
@pytest.mark.parametrize(
    "text",
    [
        *('{"name": "Ann"}', '{"text": "hi", "mood": "good"}', "[1]", "7", "{", '{"cost_usd": 1}'),
        *('{"output": [1]}', '{"output": []}', '{"output": [{"name": "Ann"}]}', '{"output": "x"}'),
        '{"output": [{"role": "assistant", "content": "hi"}], "mood": "good"}',
    ],
)
def test_an_answer_may_happen_to_be_json(text: str, tmp_path: Path) -> None:
    (tmp_path / "told").write_text(text)
    assert answer(cli("cat told"), tmp_path).text == text


TWO = "SHOP_KEY, SHOP_URL and SHOP_KEY"


@platforms.SHELL
@pytest.mark.parametrize(
    ("said", "env", "named"),
    [
        ("SHOP_KEY is missing", (), " (`SHOP_KEY` is set here, but not listed in `env`)"),
        (TWO, (), " (`SHOP_KEY`, `SHOP_URL` are set here, but not listed in `env`)"),
        ("SHOP_KEY is wrong", ("SHOP_KEY",), ""),
        ("OTHER_KEY, MY_SHOP_KEY, TERM", (), ""),
    ],
    ids=["set here", "two", "listed", "others"],
)
def test_a_variable_that_env_does_not_list_is_named(
    said: str, env: tuple[str, ...], named: str, tmp_path: Path
) -> None:
    known = {**ENVIRONMENT, "SHOP_KEY": "k", "SHOP_URL": "u", "TERM": "dumb"}
    text = refusal(cli(f"echo {said}; exit 1", env=env), tmp_path, environment=known)
    assert text == f"the target `agent` failed: exit status 1{named}: {said}"


TYPO = (
    "`command_template` holds {PROMT}; known: `{PROMPT}`, `{PROMPT_FILE}`, `{GUIDELINES}`, "
    "`{EVAL_ID}`, `{EVAL_FILE}`, `{ROOT}`, `{ATTEMPT}`, `{FILES}`, `{OUTPUT_FILE}`"
)
AGENT = "the target `agent`"


@platforms.SHELL
@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("echo oops >&2; exit 3", f"{AGENT} failed: exit status 3: oops"),
        ("exit 3", f"{AGENT} failed: exit status 3, no output"),
        ("sleep 30", "`sleep 30` did not end within 0.4 s and was killed"),
        (
            "true {OUTPUT_FILE}",
            "cannot read the {OUTPUT_FILE} of the command: No such file or directory",
        ),
        ("echo {PROMT}", TYPO),
        (
            """echo '{"text": "a", "cost_usd": "much"}'""",
            f'{AGENT} gave an invalid answer: `cost_usd` must be a number, not "much"',
        ),
        (
            "echo no model >&2",
            f"{AGENT} gave an empty answer; it wrote to standard error only: no model",
        ),
        (
            "printf 'Traceback:\\n  line 1\\n\\nKeyError: 1\\n' >&2; exit 1",
            f"{AGENT} failed: exit status 1: KeyError: 1 (after: Traceback: line 1)",
        ),
    ],
    ids=["status", "mute", "timeout", "no-output-file", "typo", "measure", "stderr", "last-line"],
)
def test_cli_without_a_usable_answer(template: str, message: str, tmp_path: Path) -> None:
    seconds = 0.4 if "sleep" in template else 20.0
    assert refusal(cli(template, timeout_seconds=seconds), tmp_path) == message
