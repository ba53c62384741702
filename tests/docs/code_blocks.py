"""The fenced code blocks of the documentation, and what each is checked as."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
FENCE = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^\1```[ ]*$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeBlock:
    """A fenced block; `line` is that of its first line of code, from 1."""

    page: Path
    line: int
    language: str
    text: str

    @property
    def place(self) -> str:
        """Where it stands, for the name of a test."""
        return f"{self.page.relative_to(ROOT).as_posix()}:{self.line}"


def code_blocks(page: Path) -> Iterator[CodeBlock]:
    """Yield the blocks of a page in their order."""
    text = page.read_text(encoding="utf-8")
    for found in FENCE.finditer(text):
        line = text.count("\n", 0, found.start(3)) + 1
        yield CodeBlock(page=page, line=line, language=found[2], text=dedent(found[3]))


ALL = [block for page in PAGES for block in code_blocks(page)]


def of_language(*languages: str) -> list[CodeBlock]:
    """Return the blocks of some languages."""
    return [block for block in ALL if block.language in languages]


FIRST_KEYS = {
    "judge": "config",
    "url": "keys of a service",
    "usage": "keys of a service",
    "answer": "keys of a service",
    "evalcases": "eval file",
    "criteria": "rubric file",
    "guideline_patterns": "guidelines",
    "provider": "targets",
    "type": "evaluators",
    "model": "targets",
    "rubrics": "case",
    "workspace": "case",
    "waivers": "waivers",
    "repos": "pre-commit",
    "pool": "azure-pipelines",
    "jobs": "workflow",
    "uses": "steps",
    "permissions": "workflow",
    "env": "workflow",
}


def kind_of_yaml(data: Any) -> str:
    """Return what a YAML block is, from its keys; `config` for the keys of `rubric-ci.yaml`."""
    keys = data[0] if isinstance(data, list) else data
    if keys is None:
        return "comment"
    if any(isinstance(value, dict) and "after_script" in value for value in keys.values()):
        return "gitlab-ci"
    known = next((kind for key, kind in FIRST_KEYS.items() if key in keys), "config")
    return "targets" if isinstance(data, list) and known == "keys of a service" else known


def load_yaml(block: CodeBlock) -> Any:
    """Return the data of a YAML block; `on` stays a word."""
    return yaml.load(block.text, Loader=_Workflow)


class _Workflow(yaml.SafeLoader):
    """The safe loader, without booleans that are words, as GitHub reads workflows."""


_Workflow.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in found if tag != "tag:yaml.org,2002:bool"]
    for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Workflow.add_implicit_resolver(
    "tag:yaml.org,2002:bool", re.compile("^(?:true|false)$"), list("tf")
)
