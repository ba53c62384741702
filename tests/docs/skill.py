"""The skill of a coding agent: below its own lines the beginnings of the pages.

Of each page it has the title, the first paragraphs without links, and the first example.
`make golden` writes them.
"""

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
SKILL = ROOT / "skills/rubric-ci/SKILL.md"
START, END = "<!-- pages: made by `make golden` -->", "<!-- end of pages -->"
PAGES = ("evals", "good-rubrics", "changed-cases", "troubleshooting", "reports", "generate")
LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")
EXAMPLE = re.compile(r"^```(?:yaml|sh|console)\n.*?^```$", re.MULTILINE | re.DOTALL)


def skill(text: str) -> str:
    """Return the skill with the beginnings of the pages."""
    before, start, rest = text.partition(START)
    _, end, after = rest.partition(END)
    assert start, f"the skill has no line {START}"
    assert end, f"the skill has no line {END}"
    config = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    sections = "\n".join(section(name, config["repo_url"]) for name in PAGES)
    return f"{before}{START}\n{sections}{END}{after}"


def section(name: str, repository: str) -> str:
    """Return the beginning of a page, with the address of the whole."""
    text = (ROOT / f"docs/{name}.md").read_text(encoding="utf-8")
    title, _, rest = text.removeprefix("# ").partition("\n")
    opening = re.split(r"^(?:#|```|\|)", rest, maxsplit=1, flags=re.MULTILINE)[0].strip()
    example = EXAMPLE.search(rest)
    assert example, f"docs/{name}.md has no example"
    parts = (LINK.sub(r"\1", opening), example[0], f"{repository}/blob/main/docs/{name}.md")
    return f"## {title}\n" + "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    text = SKILL.read_text(encoding="utf-8")
    SKILL.write_text(skill(text), encoding="utf-8", newline="\n")
