"""mkdocs hook: the site as a view of the repository.

Pages of the top folder become pages of the site, and a link that leaves `docs/` leads to the file
at GitHub. So every page is written once, with links that work in a checkout.
"""

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

TOP = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "RELEASING.md": "releasing.md",
    "SECURITY.md": "security.md",
}
SOURCES = {page: source for source, page in TOP.items()}
LINK = re.compile(r"\]\((?![a-z]+:|#)([^)#]+)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of the top folder."""
    root = Path(config.config_file_path).parent
    for source, page in TOP.items():
        text = (root / source).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, **_: object) -> str:
    """Return the page with the links of the site."""
    root = Path(config.config_file_path).parent
    source = SOURCES.get(page.file.src_uri, f"docs/{page.file.src_uri}")
    folder = posixpath.dirname(page.file.src_uri) or "."

    def replaced(link: re.Match[str]) -> str:
        return f"]({_from(folder, _target(root, source, link[1], config))}"

    return LINK.sub(replaced, markdown)


def _from(folder: str, target: str) -> str:
    """Return a page of the site relative to the folder of another; other addresses as they are."""
    return target if "://" in target else posixpath.relpath(target, folder)


def _target(root: Path, source: str, link: str, config: MkDocsConfig) -> str:
    """Return the address of a link that is relative to `source`.

    Raises:
        PluginError: if the repository has no such file.
    """
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source), link))
    if path in TOP:
        return TOP[path]
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if not (root / path).exists():
        raise PluginError(f"{source}: the link {link} leads to no file")
    kind = "tree" if (root / path).is_dir() else "blob"
    return f"{config.repo_url}/{kind}/main/{path}"
