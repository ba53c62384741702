"""Every code block of the documentation is run or validated, by its language and its keys."""

import json
import re
import shlex
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from textwrap import indent

import check_jsonschema
import click
import pytest
import yaml
from click.testing import CliRunner

from rubric_ci.cli.main import main
from rubric_ci.files.project.loader import load_targets
from rubric_ci.files.validation.rules import apply_suppressions
from rubric_ci.files.validation.validator import (
    Surroundings,
    check_config,
    check_evals,
    check_rubric,
    check_waivers,
)
from rubric_ci.files.yaml_text.document import Document
from rubric_ci.files.yaml_text.source import open_config, open_source
from rubric_ci.values.diagnostics import Diagnostic, Severity
from rubric_ci.values.references import Found, NotFound
from tests import platforms
from tests.docs.code_blocks import (
    ALL,
    FENCE,
    PAGES,
    CodeBlock,
    kind_of_yaml,
    load_yaml,
    of_language,
)
from tests.pictures import media, png

CHECKED = {"yaml", "json", "sh", "console", "text", "python", "toml"}
RULES = "docs/rules.md"  # its blocks are the examples of rules, tested with the rules
HEAD = """\
rubrics: [Names the sum]
evalcases:
- id: a
  input: q
  expected_output: {supplier: {name: Acme}, lines: [{amount: 3}], due: 2025-01-15}
"""
PART = {"case-empty": "off"}  # a block of some keys of a case need not have those that grade it


def existing(name: str) -> Found | NotFound:
    """Return a file that exists; one with a text is the prompt of a judge."""
    if name.endswith(".png"):
        return NotFound("is an image, not a text", media(name, png(4, 3)))
    if name.endswith(".rubric.yaml"):
        return Found(name, "criteria: [Is friendly]\n")
    return Found(name, "{{ answer }}" if name.endswith(".md") else "")


def blocks(*languages: str) -> list[object]:
    found = of_language(*languages)
    return [pytest.param(b, id=b.place) for b in found if not b.place.startswith(RULES)]


def test_every_block_has_a_language_that_is_checked() -> None:
    assert len(ALL) > 200
    assert [block.place for block in ALL if block.language not in CHECKED] == []


@pytest.mark.parametrize("block", blocks("python"))
def test_python(block: CodeBlock) -> None:
    assert compile(block.text, block.place, "exec")


@pytest.mark.parametrize("block", blocks("toml"))
def test_toml(block: CodeBlock) -> None:
    assert tomllib.loads(block.text)


@pytest.mark.parametrize("block", blocks("yaml"))
def test_yaml(block: CodeBlock, tmp_path: Path) -> None:
    found = list(problems(block, kind_of_yaml(load_yaml(block)), tmp_path))
    assert [each for each in found if not _is_notice(each)] == []


def _is_notice(found: object) -> bool:
    return isinstance(found, Diagnostic) and found.severity is Severity.NOTICE


def problems(block: CodeBlock, kind: str, folder: Path) -> Iterator[object]:
    """Yield what is wrong with a YAML block of a kind."""
    match kind:
        case "eval file":
            yield from of_evals(block.text)
        case "rubric file":
            yield from check_rubric("rubrics/a.rubric.yaml", block.text, existing)[0]
        case "case":
            yield from of_evals(HEAD + indent(block.text, "  "), **PART)
        case "evaluators":
            yield from of_evals(
                HEAD + "  execution:\n    evaluators:\n" + indent(block.text, "    ")
            )
        case "targets":
            yield from load_targets(
                open_config("rubric-ci.yaml", "targets:\n" + block.text)
            ).diagnostics
        case "keys of a service":
            own = load_yaml(block)
            url = {} if "url" in own else {"url": "https://shop.example/chat"}
            target = {"name": "default", "provider": "http", **url, **own}
            text = yaml.safe_dump({"targets": [target]}, sort_keys=False)
            yield from load_targets(open_config("rubric-ci.yaml", text)).diagnostics
        case "config":
            yield from check_config(Document("rubric-ci.yaml", block.text))
        case "waivers":
            yield from check_waivers(Document("waivers.yaml", block.text))
        case "pre-commit":
            yield from run_on(folder, block.text, "pre-commit", "validate-config")
        case "guidelines":
            assert all(isinstance(glob, str) for glob in load_yaml(block)["guideline_patterns"])
        case "comment":
            assert block.text.startswith("# ")
        case _:
            of_github = kind in {"workflow", "steps"}
            text = yaml.safe_dump(workflow(block)) if of_github else block.text
            yield from of_schema(folder, text, "github-workflows" if of_github else kind)


def of_evals(text: str, **off: str) -> tuple[Diagnostic, ...]:
    """Return the problems of an eval file whose references all exist.

    A block that is called bad has wording to avoid.
    """
    rules = off | ({"wording": "off"} if "# bad" in text else {})
    source = open_source("evals/a.yaml", text)
    problems = check_evals(source, Surroundings(existing))
    return apply_suppressions(problems, source.texts(), rules)


def workflow(block: CodeBlock) -> dict[str, object]:
    """Return a whole workflow that holds the block."""
    step = {"run": "true"}
    jobs: dict[str, object] = {"job": {"runs-on": "ubuntu-latest", "steps": [step]}}
    data = load_yaml(block)
    fragment = {"jobs": {"job": {"runs-on": "ubuntu-latest", "steps": data}}}
    return {"on": "push", "jobs": jobs, **(fragment if isinstance(data, list) else data)}


def of_schema(folder: Path, text: str, name: str) -> Iterator[str]:
    """Yield what a vendored schema of check-jsonschema finds, in this process."""
    file = folder / "block.yaml"
    file.write_text(text, encoding="utf-8")
    arguments = ("--builtin-schema", f"vendor.{name}", str(file))
    done = CliRunner().invoke(check_jsonschema.main, arguments, catch_exceptions=False)
    if done.exit_code:
        yield done.output


def run_on(folder: Path, text: str, program: str, *arguments: str) -> Iterator[str]:
    """Yield the output of a program that refuses the text."""
    file = folder / "block.yaml"
    file.write_text(text, encoding="utf-8")
    command = [str(platforms.SCRIPTS / program), *arguments, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        yield done.stdout + done.stderr


@pytest.mark.parametrize("block", blocks("json"))
def test_json(block: CodeBlock) -> None:
    assert [value for value in values(block.text) if not isinstance(value, dict)] == []


def values(text: str) -> list[object]:
    """Return the one value of a block, or that of each of its lines."""
    try:
        return [json.loads(text)]
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.splitlines()]


def commands(block: CodeBlock) -> Iterator[list[str]]:
    """Yield the calls of rubric-ci in a block, as arguments."""
    text = block.text.replace("\\\n", " ")
    prompt = r"\$ " if block.language == "console" else r"(?:\$ )?"
    for found in re.finditer(rf"^\s*{prompt}rubric-ci\b(.*)$", text, re.MULTILINE):
        yield shlex.split(re.split(r" \| | 2?> |; | && ", found[1])[0], comments=True)


@pytest.mark.parametrize("block", blocks("sh", "console"))
def test_commands(block: CodeBlock) -> None:
    if block.language == "sh":
        checked = subprocess.run(["sh", "-n"], input=block.text, text=True, check=False)
        assert checked.returncode == 0
    assert [problem for call in commands(block) if (problem := usage_error(call))] == []


def usage_error(arguments: list[str]) -> str:
    """Return what the command line finds wrong with options; empty: nothing."""
    context = click.Context(main, **main.context_settings)
    command: click.Command = main
    while isinstance(command, click.Group):
        if arguments[:1] in (["--help"], ["--version"]):
            return ""
        name = arguments[0] if arguments else ""
        found = command.get_command(context, name)
        if found is None:
            return f"no command `{name}`"
        command, arguments = found, arguments[1:]
        context = click.Context(command, parent=context)
    try:
        command.make_parser(context).parse_args(list(arguments))
    except click.UsageError as error:
        return error.format_message()
    return ""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_in_sentences(page: Path) -> None:
    """A removed command may stand in the list of changes, an option without its value anywhere."""
    names = "|".join(main.list_commands(click.Context(main)))
    lines = [
        each for each in FENCE.sub("", page.read_text("utf-8")).splitlines() if each[:1] != "#"
    ]
    calls = re.findall(rf"`(?:rubric-ci )?((?:{names}) [^`\n]+)`", "\n".join(lines))
    found = [problem for call in calls if (problem := usage_error(shlex.split(call)))]
    assert page.name == "CHANGELOG.md" or [each for each in found if "requires" not in each] == []


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        ("run --changed-since origin/main", ""),
        (
            "run --chnged-since x",
            "No such option '--chnged-since'. Did you mean '--changed-since'?",
        ),
        ("generate rubrics --diff", ""),
        ("generat", "no command `generat`"),
    ],
)
def test_a_wrong_call_is_found(call: str, problem: str) -> None:
    assert usage_error(call.split()) == problem
