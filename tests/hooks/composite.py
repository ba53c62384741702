"""A small reader of `action.yml`: runs the steps of a composite action as a runner does."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.captured import captured

EXPRESSION = re.compile(r"\$\{\{ ([\w.-]+|toJSON\(inputs\)) \}\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What a runner would know after the action."""

    returncode: int
    stdout: str
    stderr: str
    outputs: Mapping[str, str]
    summary: str = ""

    @property
    def commands(self) -> list[str]:
        """The workflow commands that annotate."""
        return re.findall(r"^::(?:error|warning|notice)[ :].*", self.stdout, re.MULTILINE)


def read(folder: Path) -> dict[str, Any]:
    """Return the data of a folder's `action.yml`."""
    data: dict[str, Any] = yaml.safe_load((folder / "action.yml").read_text(encoding="utf-8"))
    return data


def run(
    folder: Path, given: Mapping[str, str], *, workspace: Path, environ: Mapping[str, str]
) -> Ran:
    """Run the action's one step in a workspace, with inputs as `with:` would give them.

    As on GitHub, `inputs` holds the unknown ones too.
    """
    data = read(folder)
    context = {"github.token": environ.get("GITHUB_TOKEN", "")}
    for name, about in data["inputs"].items():
        context[f"inputs.{name}"] = evaluate(given.get(name, about.get("default", "")), context)
    every = {**given, **{name: context[f"inputs.{name}"] for name in data["inputs"]}}
    context["toJSON(inputs)"] = json.dumps(every)
    (step,) = data["runs"]["steps"]
    written = workspace.parent / f"{workspace.name}.output"
    summary = workspace.parent / f"{workspace.name}.summary"
    for file in (written, summary):
        file.write_text("")
    ended = captured(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=workspace,
        env={
            **environ,
            **{name: evaluate(value, context) for name, value in step["env"].items()},
            "GITHUB_ACTION_PATH": str(folder),
            "GITHUB_OUTPUT": str(written),
            "GITHUB_STEP_SUMMARY": str(summary),
        },
        timeout=120,
    )
    said = outputs(written.read_text(encoding="utf-8"))
    context |= {f"steps.{step['id']}.outputs.{name}": value for name, value in said.items()}
    return Ran(
        returncode=ended.returncode,
        stdout=ended.stdout,
        stderr=ended.stderr,
        summary=summary.read_text(encoding="utf-8"),
        outputs={
            name: evaluate(about["value"], context) for name, about in data["outputs"].items()
        },
    )


def evaluate(text: str, context: Mapping[str, str]) -> str:
    """Put values in place of `${{ name }}`; as on GitHub, an unknown name is empty."""
    return EXPRESSION.sub(lambda match: context.get(match[1], ""), text)


def outputs(text: str) -> dict[str, str]:
    """Read the file format of GITHUB_OUTPUT: `name=value`, and `name<<DELIMITER` blocks."""
    found: dict[str, str] = {}
    lines = iter(text.splitlines())
    for line in lines:
        name, separator, rest = re.split(r"(=|<<)", line, maxsplit=1)
        if separator == "=":
            found[name] = rest
        else:
            block = []
            while (inner := next(lines)) != rest:
                block.append(inner)
            found[name] = "\n".join(block)
    return found
