"""The part of the fake GitHub that is git: git itself answers, from a real bare repository."""

import base64
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias
from urllib.parse import unquote

from tests.checkout import ENVIRONMENT

Object: TypeAlias = dict[str, Any]
Complete: TypeAlias = Callable[[str, Object], Object]


class Unprocessable(Exception):
    """What GitHub answers with 422."""


class Missing(Exception):
    """What GitHub answers with 404."""


@dataclass(frozen=True)
class GitData:
    """A bare repository, and what the rules of its branches are."""

    root: Path
    api: str  # the address of the repository in the API
    complete: Complete
    protected: frozenset[str] = frozenset()

    def answer(self, method: str, path: str, data: Object) -> tuple[int, Object] | None:
        """Return status and value, or None for what is not about git."""
        for known, pattern, act in (
            ("GET", r"branches/(.+)", self._branch),
            ("GET", r"git/ref/heads/(.+)", self._ref),
            ("POST", r"git/refs", self._create_ref),
            ("PATCH", r"git/refs/heads/(.+)", self._move_ref),
            ("GET", r"git/commits/([0-9a-f]+)", self._commit),
            ("POST", r"git/commits", self._create_commit),
            ("GET", r"git/trees/([0-9a-f]+)", self._tree),
            ("POST", r"git/trees", self._create_tree),
            ("POST", r"git/blobs", self._create_blob),
        ):
            match = re.fullmatch(pattern, path)
            if match and known == method:
                status = 201 if method == "POST" else 200
                return status, act(data, *map(unquote, match.groups()))
        return None

    def git(self, *arguments: str, data: bytes = b"", index: str = "", missing: int = 0) -> str:
        """Run git; `missing` is its exit code for what does not exist, any other is an error."""
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.root,
            env={**ENVIRONMENT, **({"GIT_INDEX_FILE": index} if index else {})},
            input=data,
            capture_output=True,
            timeout=60,
            check=False,
        )
        if done.returncode not in {0, missing}:
            raise RuntimeError(f"git {arguments[0]}: {done.stderr.decode()}")
        if done.returncode:
            raise Missing(done.stderr.decode())
        return done.stdout.decode().strip()

    def _branch(self, data: Object, name: str) -> Object:
        sha = self._head(name)
        return self.complete(
            "branch-with-protection",
            {
                "name": name,
                "protected": name in self.protected,
                "commit": {"sha": sha, "commit": {"message": self._message(sha)}},
            },
        )

    def _ref(self, data: Object, name: str) -> Object:
        sha = self._head(name)
        return self._ref_json(name, sha)

    def _head(self, name: str) -> str:
        return self.git("rev-parse", "--verify", "--quiet", f"refs/heads/{name}", missing=1)

    def _ref_json(self, name: str, sha: str) -> Object:
        return self.complete(
            "git-ref",
            {
                "ref": f"refs/heads/{name}",
                "url": f"{self.api}/git/refs/heads/{name}",
                "object": {"sha": sha, "type": "commit"},
            },
        )

    def _create_ref(self, data: Object) -> Object:
        name = data["ref"].removeprefix("refs/heads/")
        try:
            self.git("update-ref", data["ref"], data["sha"], "0" * 40, missing=128)
        except Missing as error:
            raise Unprocessable("Reference already exists") from error
        return self._ref_json(name, data["sha"])

    def _move_ref(self, data: Object, name: str) -> Object:
        if name in self.protected:
            raise Unprocessable("Protected branch update failed for refs/heads/" + name)
        old = self._head(name)
        if not data.get("force"):
            try:
                self.git("merge-base", "--is-ancestor", old, data["sha"], missing=1)
            except Missing as error:
                raise Unprocessable("Update is not a fast forward") from error
        self.git("update-ref", f"refs/heads/{name}", data["sha"], old)
        return self._ref_json(name, data["sha"])

    def _commit(self, data: Object, sha: str) -> Object:
        parents = self.git("log", "-1", "--format=%P", sha, "--").split()
        return self.complete(
            "git-commit",
            {
                "sha": sha,
                "message": self._message(sha),
                "tree": {"sha": self.git("rev-parse", f"{sha}^{{tree}}")},
                "parents": [
                    {"sha": parent, "url": self.api, "html_url": self.api} for parent in parents
                ],
            },
        )

    def _create_commit(self, data: Object) -> Object:
        parents = [word for parent in data["parents"] for word in ("-p", parent)]
        message = data["message"].encode()
        return self._commit({}, self.git("commit-tree", data["tree"], *parents, data=message))

    def _tree(self, data: Object, sha: str) -> Object:
        entries = []
        for line in self.git("ls-tree", "-z", sha).split("\0"):
            if line:
                meta, path = line.split("\t", 1)
                mode, kind, found = meta.split(" ")
                entries.append({"path": path, "mode": mode, "type": kind, "sha": found})
        return self.complete(
            "git-tree", {"sha": sha, "url": self.api, "truncated": False, "tree": entries}
        )

    def _create_tree(self, data: Object) -> Object:
        with TemporaryDirectory() as folder:
            index = str(Path(folder, "index"))
            self.git("read-tree", data["base_tree"], index=index)
            for entry in data["tree"]:
                info = f"{entry['mode']},{entry['sha']},{entry['path']}"
                self.git("update-index", "--add", "--cacheinfo", info, index=index)
            return self._tree({}, self.git("write-tree", index=index))

    def _create_blob(self, data: Object) -> Object:
        content = base64.b64decode(data["content"])
        sha = self.git("hash-object", "-w", "--stdin", data=content)
        return self.complete("short-blob", {"sha": sha, "url": self.api})

    def _message(self, sha: str) -> str:
        return self.git("log", "-1", "--format=%B", sha, "--")
