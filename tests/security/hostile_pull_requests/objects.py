"""Objects of git, written without git: of a commit that a clone lacks, only the name is needed."""

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha1
from pathlib import Path

AUTHOR = "A <a@example.org> 1767225600 +0000"
LINK = "-> "  # a text that begins so is a symbolic link to what follows


@dataclass(frozen=True, slots=True)
class Objects:
    """Writes commits to a folder of objects; None: only their names are wanted."""

    folder: Path | None

    def commit(self, files: Mapping[str, str], *parents: str) -> str:
        """Return the name of the commit of these files, by path."""
        tree = self._tree({name.encode(): text for name, text in files.items()})
        above = "".join(f"parent {parent}\n" for parent in parents)
        text = f"tree {tree}\n{above}author {AUTHOR}\ncommitter {AUTHOR}\n\nchange"
        return self._put("commit", text.encode())

    def _tree(self, files: Mapping[bytes, str]) -> str:
        entries = dict(sorted(self._entries(files)))
        return self._put("tree", b"".join(entries.values()))

    def _entries(self, files: Mapping[bytes, str]) -> Iterator[tuple[bytes, bytes]]:
        """Yield the entries by what git sorts them by: a folder ends with a slash."""
        folders: dict[bytes, dict[bytes, str]] = {}
        for path, text in files.items():
            name, slash, inner = path.partition(b"/")
            if slash:
                folders.setdefault(name, {})[inner] = text
                continue
            mode = b"120000" if text.startswith(LINK) else b"100644"
            content = text.removeprefix(LINK).encode("utf-8", "surrogateescape")
            yield name, _entry(mode, name, self._put("blob", content))
        for name, inside in folders.items():
            yield name + b"/", _entry(b"40000", name, self._tree(inside))

    def _put(self, kind: str, content: bytes) -> str:
        whole = b"%s %d\0%s" % (kind.encode(), len(content), content)
        name = sha1(whole, usedforsecurity=False).hexdigest()
        if self.folder:
            path = self.folder / name[:2] / name[2:]
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(zlib.compress(whole, 1))
        return name


def _entry(mode: bytes, name: bytes, content: str) -> bytes:
    return b"%s %s\0%s" % (mode, name, bytes.fromhex(content))
