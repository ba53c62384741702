"""The tables of `docs/action.md`, made from `action.yml`; `make golden` writes them anew."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.hooks import composite

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "action.md"
OPTION = re.compile(r"RUBRIC_CI_(VALIDATE|RUN|GENERATE_RUBRICS|COMMENT)_(\w+)")


def inputs(action: dict[str, Any]) -> str:
    """One row an input: what it is, and which option of which command it sets."""
    rows = (
        f"| `{name}` | {about['description']} | {default(about)} | {sets(action, name)} |"
        for name, about in action["inputs"].items()
    )
    return "\n".join(["| input | what | default | sets |", "|---|---|---|---|", *rows])


def outputs(action: dict[str, Any]) -> str:
    """One row an output."""
    rows = (f"| `{name}` | {about['description']} |" for name, about in action["outputs"].items())
    return "\n".join(["| output | what |", "|---|---|", *rows])


def default(about: dict[str, Any]) -> str:
    """Say what an input is when nothing is given."""
    if about.get("required"):
        return "required"
    return f"`{about['default']}`" if about["default"] else ""


def sets(action: dict[str, Any], name: str) -> str:
    """Say which options an input becomes: `validate`, `run` `--config`."""
    found: dict[str, list[str]] = {}
    for command, option in options(action, name):
        found.setdefault(option, []).append(f"`{command}`")
    return ", ".join(
        f"{', '.join(commands)} `{option}`" for option, commands in sorted(found.items())
    )


def options(action: dict[str, Any], name: str) -> Iterator[tuple[str, str]]:
    """Each (command, option) that an input sets, as one types them."""
    (step,) = action["runs"]["steps"]
    for variable, value in step["env"].items():
        if value == f"${{{{ inputs.{name} }}}}" and (match := OPTION.fullmatch(variable)):
            command, option = match[1].lower().replace("_", " "), match[2].lower().replace("_", "-")
            yield command, "PATHS" if option == "paths" else f"--{option}"


def page(text: str, action: dict[str, Any]) -> str:
    """Return the page with its tables made anew."""
    for name, table in {"inputs": inputs(action), "outputs": outputs(action)}.items():
        start, end = f"<!-- {name}: made by `make golden` -->", f"<!-- end of {name} -->"
        before, _, rest = text.partition(start)
        _, _, after = rest.partition(end)
        assert after, f"docs/action.md has no place for the table of {name}"
        text = f"{before}{start}\n{table}\n{end}{after}"
    return text


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), composite.read(ROOT)), encoding="utf-8")
