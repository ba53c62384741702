"""GitHub's own description of its API, cut down to the used part; the package is not copied."""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

DESCRIPTIONS = Path(__file__).parents[1] / "npm/node_modules/@octokit/openapi/generated"
PATHS = (
    "/user",
    "/repos/{owner}/{repo}/branches/{branch}",
    "/repos/{owner}/{repo}/git/blobs",
    "/repos/{owner}/{repo}/git/commits",
    "/repos/{owner}/{repo}/git/commits/{commit_sha}",
    "/repos/{owner}/{repo}/git/ref/{ref}",
    "/repos/{owner}/{repo}/git/refs",
    "/repos/{owner}/{repo}/git/refs/{ref}",
    "/repos/{owner}/{repo}/git/trees",
    "/repos/{owner}/{repo}/git/trees/{tree_sha}",
    "/repos/{owner}/{repo}/pulls",
    "/repos/{owner}/{repo}/pulls/{pull_number}",
    "/repos/{owner}/{repo}/issues",
    "/repos/{owner}/{repo}/issues/{issue_number}",
    "/repos/{owner}/{repo}/issues/{issue_number}/comments",
    "/repos/{owner}/{repo}/issues/comments/{comment_id}",
    "/repos/{owner}/{repo}/check-runs",
    "/repos/{owner}/{repo}/check-runs/{check_run_id}",
)
OPTIONAL = ("author_association", "body", "url")  # which the fake sends nevertheless
PROSE = frozenset(("description", "summary", "title", "example", "examples", "externalDocs"))
JSON_TYPE, GITHUB_JSON = "application/json", "application/vnd.github+json"


def read(name: str) -> dict[str, Any]:
    """Return the description of one server, such as `api.github.com` or `ghes-3.19`."""
    text = (DESCRIPTIONS / f"{name}.json").read_text(encoding="utf-8")
    description: dict[str, Any] = json.loads(text)
    return description


def cut(description: dict[str, Any], prefix: str) -> dict[str, Any]:
    """Keep the paths in use, and what they refer to; answers may say they are GitHub's JSON.

    NOTE: Prism looks for whole paths and not below a server's own, so the prefix goes into them;
    and for a slash in a reference's name, `heads/topic`, it finds no place.
    """
    paths = {
        prefix + path.replace("/{ref}", "/heads/{ref}"): _checked(description["paths"][path])
        for path in PATHS
    }
    kept: dict[str, Any] = {}
    _keep(paths, description, kept)
    subset = {
        "openapi": description["openapi"],
        "info": {"title": "subset", "version": "1"},
        "paths": paths,
        "components": kept,
    }
    for content in _contents(subset):
        if JSON_TYPE in content:
            content[GITHUB_JSON] = content[JSON_TYPE]
    return subset


def together(subsets: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return one description of several servers, for one process: each component has a number."""
    paths: dict[str, Any] = {}
    components: dict[str, Any] = {}
    for number, subset in enumerate(subsets):
        text = re.sub(r'"#/components/(\w+)/', rf'"#/components/\1/{number}-', json.dumps(subset))
        renamed = json.loads(text)
        paths |= renamed["paths"]
        for section, named in renamed["components"].items():
            known = components.setdefault(section, {})
            known |= {f"{number}-{name}": value for name, value in named.items()}
    return {**subsets[0], "paths": paths, "components": components}


def complete(description: dict[str, Any], name: str, value: dict[str, Any]) -> dict[str, Any]:
    """Add what a reply must have and the fake does not know, with values of the right type."""
    made = _sample(description, description["components"]["schemas"][name])
    merged: dict[str, Any] = _merge(made, value)
    return merged


def _keep(node: Any, description: dict[str, Any], kept: dict[str, Any]) -> None:
    for reference in _references(node):
        section, name = reference.removeprefix("#/components/").split("/", 1)
        if name not in kept.setdefault(section, {}):
            kept[section][name] = _required(_checked(description["components"][section][name]))
            _keep(kept[section][name], description, kept)


def _checked(node: Any) -> Any:
    """Leave out what nothing is checked against."""
    if isinstance(node, list):
        return [_checked(entry) for entry in node]
    if not isinstance(node, dict):
        return node
    return {
        name: {key: _checked(value) for key, value in entry.items()}
        if name == "properties"
        else _checked(entry)
        for name, entry in node.items()
        if name not in PROSE
    }


def _required(schema: dict[str, Any]) -> dict[str, Any]:
    """Leave out what the fake's answers lack: Prism compiles all that is there."""
    if "required" not in schema or "properties" not in schema:
        return schema
    sent = {*schema["required"], *OPTIONAL}
    properties = schema["properties"].items()
    return {**schema, "properties": {name: value for name, value in properties if name in sent}}


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for entry in node.values():
            yield from _references(entry)
    elif isinstance(node, list):
        for entry in node:
            yield from _references(entry)


def _contents(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        if isinstance(node.get("content"), dict):
            yield node["content"]
        for entry in node.values():
            yield from _contents(entry)
    elif isinstance(node, list):
        for entry in node:
            yield from _contents(entry)


def _sample(description: dict[str, Any], schema: dict[str, Any]) -> Any:  # noqa: PLR0911 - one a kind
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return _sample(description, description["components"]["schemas"][name])
    if schema.get("nullable"):
        return None
    if "enum" in schema:
        return schema["enum"][0]
    for union in ("oneOf", "anyOf"):
        if union in schema and "properties" not in schema:
            return _sample(description, schema[union][0])
    if "allOf" in schema:
        parts = [_sample(description, part) for part in schema["allOf"]]
        return {
            key: value for part in parts if isinstance(part, dict) for key, value in part.items()
        }
    match schema.get("type"):
        case "string":
            return _text(schema)
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "boolean":
            return False
        case "array":
            return []
    properties = schema.get("properties", {})
    return {
        name: _sample(description, properties[name])
        for name in schema.get("required", [])
        if name in properties
    }


def _text(schema: dict[str, Any]) -> str:
    formats = {
        "uri": "https://github.example/x",
        "date-time": "2026-01-01T00:00:00Z",
        "email": "a@github.example",
    }
    return formats.get(schema.get("format", ""), "text")


def _merge(made: Any, value: Any) -> Any:
    if isinstance(made, dict) and isinstance(value, dict):
        return {**made, **{key: _merge(made.get(key), entry) for key, entry in value.items()}}
    return value
