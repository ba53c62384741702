"""The targets file that `rubric-ci import` writes next to an eval file."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click
import yaml

from rubric_ci.files.project import discovery
from rubric_ci.text import numbers
from rubric_ci.text.escape import log_line

TARGETS: Final = "targets.yaml"


def write_targets(targets: Sequence[Mapping[str, Any]], path: Path) -> list[str]:
    """Write a targets file; if there is one, print what to add, and return that it lacks it."""
    if path.exists():
        names = numbers.listed([f"`{each['name']}`" for each in targets])
        click.echo(log_line(f"add to {path.as_posix()}, under `targets`:"))
        for line in as_yaml(targets).splitlines():
            indent = " " * (2 + len(line) - len(line.lstrip()))
            click.echo(f"{indent}{log_line(line)}")
        return [f"{path.as_posix()} exists already; define {names} in it"]
    discovery.write_text(path, as_yaml({"targets": targets}))
    count = numbers.plural(len(targets), "target")
    click.echo(log_line(f"wrote {path.as_posix()}: {count}"))
    return []


def as_yaml(data: Any) -> str:
    """Return the text of a file in the order of its data."""
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)


class _Dumper(yaml.SafeDumper):
    """Quotes a text with `- `, because a folded line that starts with it looks like an item."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "'" if " - " in text and "\n" not in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)
