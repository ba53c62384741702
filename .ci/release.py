"""Recipes of a release: check its tag, write its notes, pin workflows and docs to its commit.

Usage: release.py check TAG | notes TAG | pin-workflows TAG COMMIT | pin TAG COMMIT
"""

import re
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
WORKFLOWS = (".github/workflows/*.yml",)  # others call them
PINNED = (*WORKFLOWS, "README.md", "docs/*.md", "examples/workflows/*.yml", "tests/hooks/pins.py")
ACTION = re.compile(r"(rubric-ci/rubric-ci(?:/[\w./-]+)?@)([0-9a-f]{40} # )?(v\d[\d.]*\d)")
HOOK = re.compile(r'(rev: )(?:"[0-9a-f]{40}" # )?v\d[\d.]*\d')
OURS = re.compile(r"(    OURS: ).*")


def check(tag: str, root: Path = ROOT) -> str:
    """Return the reasons against releasing a tag; empty: none."""
    source = (root / "rubric_ci/__init__.py").read_text(encoding="utf-8")
    version = re.findall(r'^__version__ = "(.*)"$', source, re.MULTILINE)
    if [tag.removeprefix("v")] != version:
        return f"the tag is {tag}, rubric_ci/__init__.py has version {', '.join(version)}"
    for path in sorted(file for glob in WORKFLOWS for file in root.glob(glob)):
        pins = ACTION.findall(path.read_text(encoding="utf-8"))
        if any(not commit or pin != tag for _, commit, pin in pins):
            return f"{path.name} calls another release; run `make pin-workflows TAG={tag}`"
    return "" if notes(tag, root) else f"CHANGELOG.md has no section `## {tag.removeprefix('v')}`"


def notes(tag: str, root: Path = ROOT) -> str:
    """Return the section of a release in the changelog, without its heading."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    section = rf"^## {re.escape(tag.removeprefix('v'))}\b.*\n((?:(?!## ).*\n)*)"
    found = re.search(section, text, re.MULTILINE)
    return found[1].strip() + "\n" if found else ""


def pin(tag: str, commit: str, root: Path = ROOT, globs: Sequence[str] = PINNED) -> list[str]:
    """Pin workflows and docs to the commit of a release; return the files that changed."""
    changed = []
    for path in sorted(file for glob in globs for file in root.glob(glob)):
        before = path.read_text(encoding="utf-8")
        after = ACTION.sub(rf"\g<1>{commit} # {tag}", before)
        after = HOOK.sub(rf'\g<1>"{commit}" # {tag}', after)
        after = OURS.sub(rf'\g<1>"{commit} # {tag}",', after)
        if after != before:
            path.write_text(after, encoding="utf-8", newline="")
            changed.append(path.relative_to(root).as_posix())
    return changed


def main(arguments: list[str]) -> int:
    """Run one recipe; return its exit code."""
    match arguments:
        case ["check", tag]:
            problem = check(tag)
            print(problem or f"{tag} can be released")
            return 1 if problem else 0
        case ["notes", tag]:
            print(notes(tag), end="")
        case ["pin", tag, commit] if re.fullmatch("[0-9a-f]{40}", commit):
            print("\n".join(pin(tag, commit)))
        case ["pin-workflows", tag, commit] if re.fullmatch("[0-9a-f]{40}", commit):
            print("\n".join(pin(tag, commit, globs=WORKFLOWS)))
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
