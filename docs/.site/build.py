"""Build the site: `docs/` and the pages of the top folder, as HTML and as Markdown.

Pages of the top folder become pages of the site, and a link that leaves `docs/` leads to the file
at GitHub. So every page is written once, with links that work in a checkout. Each page is also
published as Markdown at its own name (`gate.md`), and `llms.txt` lists them for programs. The
generator, Zensical, has no hooks for that.

Usage: build.py [FOLDER]: writes FOLDER/site, by default build/site
"""

import posixpath
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
TOP = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "RELEASING.md": "releasing.md",
    "SECURITY.md": "security.md",
}
FORWARDS = Path(__file__).with_name("forwards.txt")
FORWARD = """\
<!doctype html><meta charset="utf-8"><title>Moved</title>
<meta http-equiv="refresh" content="0; url={new}/"><a href="{new}/">The page moved.</a>
"""
"""In place of a page that is now part of another one."""
LINK = re.compile(r"\]\((?![a-z]+:|#)([^)#]+)")
PICTURE = re.compile(
    r'<picture>\n<source .*?srcset="(.+)">\n'
    r'<img (?:width="\d+" )?src="(.+)" alt="(.+)">\n</picture>'
)
"""A picture in light and dark, as GitHub shows it by the reader's setting."""
HEADING = re.compile(r"^# (.+)\n+(.+)$", re.MULTILINE)
SENTENCE = re.compile(r"(?<=[.!?]) ")


def main(folder: Path) -> int:
    """Write pages, configuration and site below a folder; return the exit code of the build."""
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    data = yaml.safe_load(config)
    pages, site = folder / "pages", folder / "site"
    for old in (pages, site):
        shutil.rmtree(old, ignore_errors=True)
    hidden = shutil.ignore_patterns(".*")
    shutil.copytree(ROOT / "docs", pages, ignore=hidden)
    for source, page in sources(pages):
        text = (ROOT / source).read_text(encoding="utf-8")
        (pages / page).write_text(linked(text, source, page, data["repo_url"]), encoding="utf-8")
    (folder / "mkdocs.yml").write_text(config, encoding="utf-8")
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
    code = subprocess.run([*command, "-f", folder / "mkdocs.yml"], check=False).returncode
    for path in pages.rglob("*.md"):
        shutil.copy(path, site / path.relative_to(pages))
    (site / "llms.txt").write_text(listing(data, pages), encoding="utf-8")
    for line in FORWARDS.read_text(encoding="utf-8").splitlines():
        old, new = line.split()
        (site / old).mkdir(parents=True, exist_ok=True)
        moved = FORWARD.format(new=posixpath.relpath(new, old))
        (site / old / "index.html").write_text(moved, encoding="utf-8")
    return code


def sources(pages: Path) -> Iterator[tuple[str, str]]:
    """Yield the file of each page, and its name in the site."""
    found = sorted(path.relative_to(pages).as_posix() for path in pages.rglob("*.md"))
    yield from ((f"docs/{name}", name) for name in found)
    yield from TOP.items()


def linked(text: str, source: str, page: str, repository: str) -> str:
    """Return a page with the links of the site."""
    folder = posixpath.dirname(page) or "."

    text = PICTURE.sub(r"![\3](\2#only-light)\n![\3](\1#only-dark)", text)

    def replaced(link: re.Match[str]) -> str:
        to = target(source, link[1], repository)
        return f"]({to if '://' in to else posixpath.relpath(to, folder)}"

    return LINK.sub(replaced, text)


def target(source: str, link: str, repository: str) -> str:
    """Return the page of a link that is relative to `source`, or its address at GitHub."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source), link))
    if path in TOP:
        return TOP[path]
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if not (ROOT / path).exists():
        sys.exit(f"{source}: the link {link} leads to no file")
    kind = "tree" if (ROOT / path).is_dir() else "blob"
    return f"{repository}/{kind}/main/{path}"


def listing(data: dict[str, Any], pages: Path) -> str:
    """Return `llms.txt`: the pages under the headings of the navigation, each with a sentence."""
    lines = [f"# {data['site_name']}", "", f"> {data['site_description']}"]
    for section in data["nav"]:
        for heading, names in section.items():
            lines += ["", f"## {heading}", *(entry(name, pages) for name in names)]
    return "\n".join(lines) + "\n"


def entry(name: str, pages: Path) -> str:
    """Return a page of `llms.txt`, with its heading and its first sentence."""
    found = HEADING.search((pages / name).read_text(encoding="utf-8"))
    title, text = found.groups() if found else (name, "")
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", SENTENCE.split(text)[0])
    return (
        f"- [{title}]({name}): {text}"
        if text[:1].isalnum() or text[:1] == "`"
        else f"- [{title}]({name})"
    )


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build").absolute()))
