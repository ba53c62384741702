"""The reference tables of `docs/configuration.md` and `docs/eval-files.md`, from the schemas.

`make golden` writes them. A section is an object of the schema, a row is one of its keys.
"""

import json
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from rubric_ci.values.written_keys import VARIABLE
from tests.docs import command_pages

ROOT = Path(__file__).parents[2]
PAGES = {"configuration.md": "config.schema.json", "eval-files.md": "eval.schema.json"}
START, END = "<!-- keys: made by `make golden` -->", "<!-- end of keys -->"
HEAD = "| key | type | default | meaning | example |\n|---|---|---|---|---|"

Schema: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """An object of the schema and where it stands in a file."""

    path: str  # such as `targets[].healthcheck`; "" for the file itself
    when: str = ""  # such as `provider: cli`
    schema: Schema

    @property
    def heading(self) -> str:
        """The heading on the page."""
        if not self.path:
            return "The file"
        condition = f" with `{self.when}`" if self.when else ""
        return f"{self.schema['title']}: `{self.path}`{condition}"

    @property
    def link(self) -> str:
        """A link to the heading, with the anchor that GitHub makes of it."""
        anchor = re.sub(r"[^\w\- ]", "", self.heading.lower()).replace(" ", "-")
        return f"[{self.schema['title'].lower()}](#{anchor})"


def page(text: str, schema: Schema) -> str:
    """Return the page with its tables made from the schema."""
    before, start, rest = text.partition(START)
    _, end, after = rest.partition(END)
    assert start, f"the page has no line {START}"
    assert end, f"the page has no line {END}"
    return f"{before}{START}\n{tables(schema)}\n{END}{after}"


def tables(schema: Schema) -> str:
    """Return every section with its table."""
    found = sections(schema)
    return "\n\n".join(section_text(section, found, schema) for section in found)


def sections(root: Schema) -> list[Section]:
    """Return every object that has keys, each once, those nearer to the root first."""
    found: list[Section] = []
    queue = deque([Section(path="", schema=root)])
    while queue:
        section = queue.popleft()
        if any(section.schema["properties"] == known.schema["properties"] for known in found):
            continue
        found.append(section)
        queue.extendleft(variants(section, root))
        for key, value in section.schema["properties"].items():
            queue.extend(objects(f"{section.path}.{key}".removeprefix("."), value, root))
    return found


def variants(section: Section, root: Schema) -> list[Section]:
    """Return what else an object can be, last one first: a target that is a command."""
    return [
        Section(path=section.path, when=condition, schema=resolved(branch["then"], root))
        for branch in reversed(section.schema.get("allOf", ()))
        if (condition := constant(branch["if"]))
    ]


def objects(path: str, schema: Any, root: Schema) -> Iterator[Section]:
    """Yield the objects with keys that a value can be, or that a list or map of it holds."""
    schema = resolved(schema, root)
    if "properties" in schema:
        yield Section(path=path, schema=schema)
        return
    for key, suffix in {"items": "[]", "additionalProperties": ".<key>"}.items():
        yield from objects(path + suffix, schema[key], root) if key in schema else ()
    for key in ("then", "else"):
        yield from objects(path, schema[key], root) if key in schema else ()


def section_text(section: Section, found: list[Section], root: Schema) -> str:
    """Return the heading, what the object is, and a row for each key."""
    rows = (
        row(section.schema, key, resolved(value, root), found, root)
        for key, value in section.schema["properties"].items()
        if value is not True
    )
    return "\n".join([f"### {section.heading}", section.schema["description"], "", HEAD, *rows])


def row(owner: Schema, key: str, value: Schema, found: list[Section], root: Schema) -> str:
    """Return the row of one key."""
    held = [s.schema for s in objects(key, value, root)]
    links = [section.link for section in found if section.schema in held and not section.when]
    example = flow({key: value["examples"][0]})[1:-1] if "examples" in value else ""
    cells = (
        f"`{key}`",
        ", ".join([kind(value, root), *links]),
        required(owner, key) or ("default" in value and f"`{flow(value['default'])}`") or "",
        value["description"],
        f"`{example}`" if example else "",
    )
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def kind(schema: Schema, root: Schema) -> str:
    """Say which values a key can have."""
    schema = resolved(schema, root)
    if "enum" in schema:
        return ", ".join(f"`{flow(value)}`" for value in schema["enum"])
    if "type" not in schema and "else" in schema:
        return ", or ".join(dict.fromkeys(kind(schema[key], root) for key in ("else", "then")))
    about = {"title", "description", "examples"}
    types = schema.get("type", "any" if schema.keys() <= about else "object")
    return " or ".join(
        one_kind(name, schema, root) for name in ([types] if isinstance(types, str) else types)
    )


def one_kind(name: str, schema: Schema, root: Schema) -> str:
    """Say the same for one type of JSON."""
    words = [*branch_words(schema)] if name == "string" else []
    if name == "string" and schema.get("pattern") == VARIABLE:
        words = ["${{ NAME }}"]
    if words:
        return " or ".join(f"`{word}`" for word in words)
    if name == "array" and "items" in schema:
        return f"list of {kind(schema['items'], root)}"
    if name == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"map to {kind(schema['additionalProperties'], root)}"
    return name.replace("array", "list") + bounds(schema)


def branch_words(schema: Schema) -> Iterator[str]:
    """Yield the only texts that a value of several types can be."""
    for key in ("then", "else"):
        if key in schema:
            yield from schema[key].get("enum", ())
            yield from branch_words(schema[key])


def bounds(schema: Schema) -> str:
    """Return the range of a number, in words."""
    match schema:
        case {"minimum": low, "maximum": high}:
            return f" from {low} to {high}"
        case {"minimum": low} | {"then": {"minimum": low}}:
            return f" from {low}"
        case {"exclusiveMinimum": low}:
            return f" above {low}"
    return ""


def required(owner: Schema, key: str) -> str:
    """Say whether the key has to be there, and on what that depends."""
    if key in owner.get("required", ()):
        return "required"
    branch = owner
    while branch:
        if key in branch.get("then", {}).get("required", ()):
            return f"required{needed_when(branch['if'], owner)}"
        branch = branch.get("else", {})
    return ""


def needed_when(condition: Schema, owner: Schema) -> str:
    """Return the condition of a required key, in words, without spellings of the key itself."""
    if value := constant(condition):
        return f" with `{value}`"
    keys = owner["properties"]
    others = [
        key
        for key in condition["properties"]
        if key in keys and "spelling)" not in keys[key].get("title", "")
    ]
    if len(others) > 3:
        return " without a key of another kind"
    return f" without {' or '.join(f'`{key}`' for key in others)}" if others else ""


def constant(condition: Schema) -> str:
    """Return the key and the values that a condition is about: `provider: cli`."""
    for key, value in condition["properties"].items():
        if isinstance(value, dict):
            return f"{key}: {' or '.join(value.get('enum', [value.get('const')]))}"
    return ""


def resolved(schema: Any, root: Schema) -> Schema:
    """Return a schema without its reference; what is next to the reference wins."""
    if not isinstance(schema, dict) or "$ref" not in schema:
        return schema if isinstance(schema, dict) else {}
    there: Any = root
    for step in schema["$ref"].removeprefix("#/").split("/"):
        there = there[step]
    own = {key: value for key, value in schema.items() if key != "$ref"}
    return {**resolved(there, root), **own}


def flow(value: Any) -> str:
    """Return a value as YAML on one line."""
    if isinstance(value, dict | list):
        return yaml.safe_dump(
            value, default_flow_style=True, width=10_000, sort_keys=False, allow_unicode=True
        ).strip()
    return json.dumps(value) if not isinstance(value, str) or not value else value


def read_schema(name: str) -> Schema:
    """Return a schema by its file name."""
    schema: Schema = json.loads((ROOT / "schemas" / name).read_text(encoding="utf-8"))
    return schema


if __name__ == "__main__":
    for name, schema_name in PAGES.items():
        path = ROOT / "docs" / name
        text = page(path.read_text(encoding="utf-8"), read_schema(schema_name))
        path.write_text(text, encoding="utf-8", newline="\n")
    command_pages.write()
