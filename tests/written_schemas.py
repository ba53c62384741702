"""The schemas of what users write, with the keys that values declare filled in.

An object of a schema with a `$comment` such as `keys: rubric_ci.values.waivers.Waiver` has the keys
of that class: their types, defaults, limits and examples from the fields, their meanings from the
docstrings below these, which a run does not load. After the class may come keys of the object that
have no field (`; by hand: a, b`), fields that it lacks (`; not: c`), and the keys that it requires,
if they are not those without a default (`; needs: d`, or `; needs:` for none). All else is written
in the schema. `rubric.schema.json` has the definitions of `eval.schema.json` that it refers to.
"""

import ast
import inspect
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from importlib import import_module
from pathlib import Path
from textwrap import dedent
from types import NoneType, UnionType
from typing import Any, Final, Literal, TypeAlias, Union, get_args, get_origin

from rubric_ci.evaluators.assertions.marking import OPTIONS, TABLE
from rubric_ci.files.validation.config_summary import KINDS as WRITTEN_KINDS
from rubric_ci.values.parts import PARTS
from rubric_ci.values.written_keys import Key, declared

Schema: TypeAlias = dict[str, Any]
SCHEMAS: Final = Path(__file__).parents[1] / "schemas"
NAMES: Final = ("config", "eval", "rubric", "waivers")
LINE: Final = 100
KINDS: Final = ("score_ranges", "levels", "choices")  # of criteria that are no assertions
_MARK: Final = "keys: "
_CLAUSE: Final = r"([a-z ]+):([^;:]*)(?:; |$)"
_TEXT: Final[Schema] = {"$ref": "#/$defs/text"}
_TYPES: Final = {bool: "boolean", int: "integer", float: "number"}
_LONG: Final = {"max": "maximum", "min": "minimum", "url": "URL", "usd": "", "seconds": ""}


def outputs() -> Iterator[tuple[Path, str]]:
    """Yield each schema with its text."""
    read = {name: json.loads(path_of(name).read_text(encoding="utf-8")) for name in NAMES}
    made = {name: filled(schema) for name, schema in read.items()}
    write_assertions(made["eval"]["$defs"])
    write_providers(made["config"]["$defs"]["target"]["properties"]["provider"])
    made["rubric"]["$defs"] = shared(made["rubric"], made["eval"]["$defs"])
    for name, schema in made.items():
        yield path_of(name), f"{text_of(schema)}\n"


def write_providers(key: Schema) -> None:
    """Write the kinds of target in the meaning of their key."""
    kinds = ", ".join(f"`{name}`" for name in WRITTEN_KINDS)
    key["description"] = key["description"].replace("{providers}", kinds)


def path_of(name: str) -> Path:
    return SCHEMAS / f"{name}.schema.json"


def filled(schema: Any) -> Any:
    """Return a schema with the keys of each object that a class declares."""
    if isinstance(schema, list):
        return [filled(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: filled(each) for key, each in schema.items()}
    mark = schema.get("$comment")
    if not isinstance(mark, str) or not mark.startswith(_MARK) or _removed(mark):
        return made
    return with_keys(made, mark)


def _removed(mark: str) -> bool:
    """Return True for keys of a part that was removed: they stay as they were written."""
    part = re.search(r"rubric_ci\.parts\.(\w+)", mark)
    return part is not None and part[1] not in PARTS


def with_keys(schema: Schema, mark: str) -> Schema:
    """Return an object with the keys of the class that its mark names."""
    said = {name: re.findall(r"[^,\s]+", names) for name, names in re.findall(_CLAUSE, mark)}
    by_hand, lacking = said.get("by hand", []), said.get("not", [])
    classes = [
        getattr(import_module(m), c) for m, _, c in (p.rpartition(".") for p in said["keys"])
    ]
    found = (pair for cls in classes for pair in properties(cls))
    own = {key: each for key, each in found if key not in (*lacking, *by_hand)}
    present = schema.get("properties", {})
    keys = {key: own.get(key, present[key]) for key in present if key in own or key in by_hand}
    needed = [key for key in schema.get("required", ()) if key in by_hand]
    needed += [key for cls in classes for key in required(cls) if key in own]
    needed = said.get("needs", needed)
    made = {**schema, "properties": {**keys, **own}, "required": needed}
    return {key: each for key, each in made.items() if each != []}


def write_assertions(definitions: Schema) -> None:
    """Write where each key of an assertion may stand; its own schema is in its row of the table."""
    criterion, condition = definitions["criterionObject"], definitions["condition"]
    no_text = dict.fromkeys(("description", *KINDS, *TABLE), False)
    definitions["assertion"]["not"] = {"properties": dict.fromkeys(TABLE, False)}
    criterion["if"] = {"properties": no_text}
    others = criterion["dependentSchemas"]
    criterion["dependentSchemas"] = {
        **{key: others[key] for key in ("description", "penalty", "levels", "choices")},
        **{
            key: {"properties": dict.fromkeys((*KINDS, *[*TABLE][number:]), False)}
            for number, key in enumerate(TABLE, start=1)
        },
        **{key: {"$ref": "#/$defs/assertion"} for key in OPTIONS},
    }
    for key in (*TABLE, *OPTIONS):
        reference = {"$ref": f"#/$defs/criterionObject/properties/{key}"}
        condition["properties"].setdefault(key, reference)


def shared(schema: Schema, others: Mapping[str, Any]) -> Schema:
    """Return the definitions of a schema: its own, and those of another one that it refers to."""
    own = {name: each for name, each in schema["$defs"].items() if name not in others}
    found, wanted = own, references({**schema, "$defs": own})
    while wanted - found.keys():
        found = {**found, **{name: others[name] for name in sorted(wanted - found.keys())}}
        wanted = references({**schema, "$defs": found})
    return found


def references(value: Any) -> set[str]:
    """Return the names of the definitions that a schema refers to."""
    if isinstance(value, dict):
        reference = value.get("$ref")
        own = {reference.split("/")[2]} if isinstance(reference, str) else set()
        return own.union(*(references(each) for each in value.values()))
    return set().union(*(references(each) for each in value)) if isinstance(value, list) else set()


def required(cls: Any) -> Iterator[str]:
    """Yield the keys of fields without a default."""
    if isinstance(cls, Mapping):
        return
    bare = {f.name for f in fields(cls) if f.default is MISSING and f.default_factory is MISSING}
    yield from (key.name or name for name, _, key in declared(cls) if name in bare)


def properties(cls: Any) -> Iterator[tuple[str, Schema]]:
    """Yield the keys of a value in the order of its fields, or of a table of assertions."""
    if isinstance(cls, Mapping):
        yield from ((key, row.schema) for key, row in cls.items())
        return
    meanings = dict(pair for each in cls.__mro__[-2::-1] for pair in docstrings(each))
    defaults = {f.name: f.default for f in fields(cls)}
    for name, kind, key in declared(cls):
        written = key.name or name
        title = key.title or words(written)
        about = {"title": title, "description": meanings[name]} if name in meanings else {}
        values = of_key(kind, key)
        shown = {"examples": list(key.examples)} if key.examples else {}
        if about or "$ref" in key.limits:
            yield written, {**about, **values, **default(defaults[name]), **key.limits, **shown}
        for alias, age in key.aliases.items():
            if age[:1] == "#":
                yield alias, {"$ref": f"#/$defs/{age[1:]}"}
            elif about and age:
                said = f"{age.capitalize()} spelling of `{written}`."
                about = {"title": f"{title} ({age} spelling)", "description": said}
                yield alias, {**about, **values, **shown}


def of_key(kind: Any, key: Key) -> Schema:
    """Return the values that a key can have."""
    if not key.limits.keys().isdisjoint(("type", "enum", "$ref")):
        return dict(key.limits)
    found = of_type(kind)
    limited = found == _TEXT and key.limits.keys() - {"default"}
    return {**({"type": "string"} if limited else found), **key.limits}


def of_type(kind: Any) -> Schema:
    """Return the values of a type; a text is not blank."""
    arguments = [each for each in get_args(kind) if each is not NoneType]
    match get_origin(kind):
        case origin if origin in (UnionType, Union) and len(arguments) == 1:
            return of_type(arguments[0])
        case origin if origin in (UnionType, Union):
            own = [typed(each) for each in arguments]
            return {"type": [each["type"] for each in own], **branches(own)}
        case origin if origin is Literal:
            return {"enum": [each for each in arguments if each != ""]}
        case origin if origin is tuple:
            return {"type": "array", "items": of_type(arguments[0])}
        case origin if origin is Mapping:
            values = of_type(arguments[1])
            return {"type": "object", **({"additionalProperties": values} if values else {})}
        case _:
            return of_class(kind)


def of_class(kind: Any) -> Schema:
    """Return the values of a class; anything else is any JSON."""
    if isinstance(kind, type) and is_dataclass(kind):
        return {"$ref": f"#/$defs/{kind.__name__[:1].lower()}{kind.__name__[1:]}"}
    return _TEXT if kind is str else {"type": _TYPES[kind]} if kind in _TYPES else {}


def branches(types: list[Schema]) -> Schema:
    """Return what a value of several types must be, by the type that it has."""
    made: Schema = {}
    for each in reversed(types):
        if rest := {key: value for key, value in each.items() if key != "type"}:
            made = {"if": {"type": each["type"]}, "then": rest} | ({"else": made} if made else {})
    return made


def typed(kind: Any) -> Schema:
    """Return the values of a type, with the type of a list of words."""
    return {"type": "string", **of_type(kind)}


def default(value: Any) -> Schema:
    """Return the default of a field, unless it stands for a key that is not written."""
    if value is MISSING or value in (None, "", ()):
        return {}
    if is_dataclass(value) and not isinstance(value, type):
        own = {k.name or name: getattr(value, name) for name, _, k in declared(type(value))}
        return (
            {"default": made} if (made := {key: each for key, each in own.items() if each}) else {}
        )
    whole = isinstance(value, float) and value.is_integer()
    listed = list(value) if isinstance(value, tuple) else value
    return {"default": int(value) if whole else listed}


def docstrings(cls: type[Any]) -> Iterator[tuple[str, str]]:
    """Yield the fields of a class that have a docstring, with it on one line."""
    (found,) = ast.parse(dedent(inspect.getsource(cls))).body
    assert isinstance(found, ast.ClassDef)
    for field, text in zip(found.body, found.body[1:], strict=False):
        match field, text:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str() as written)),
            ):
                yield name, " ".join(written.split())


def words(name: str) -> str:
    """Return a name of the code as a title: `max_cases` is "Maximum cases"."""
    text = " ".join(filter(None, (_LONG.get(word, word) for word in name.split("_"))))
    return text[:1].upper() + text[1:]


def text_of(value: Any, indent: str = "") -> str:
    """Return JSON with one entry a line, but for what fits on one line and keys that exclude."""
    line = json.dumps(value, ensure_ascii=False)
    none_may = isinstance(value, dict) and all(each is False for each in value.values())
    if not isinstance(value, dict | list) or len(indent) + len(line) < LINE or none_may:
        return line
    inner = f"{indent}  "
    entries = (
        [f"{json.dumps(key)}: {text_of(each, inner)}" for key, each in value.items()]
        if isinstance(value, dict)
        else [text_of(each, inner) for each in value]
    )
    start, end = "{}" if isinstance(value, dict) else "[]"
    return f",\n{inner}".join(entries).join((f"{start}\n{inner}", f"\n{indent}{end}"))


if __name__ == "__main__":
    for path, text in outputs():
        path.write_text(text, encoding="utf-8", newline="\n")
