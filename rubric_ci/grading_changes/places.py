"""The file and the line of a setting, such as `gate.fail_on` or `targets.agent.depends_on`."""

from functools import cache
from typing import Final

from rubric_ci.project.project import Project
from rubric_ci.yaml_text.document import Document
from rubric_ci.yaml_text.problems import Path

TARGETS: Final = "targets."


class ConfigPlaces:
    """The places of settings in the configuration and the targets files at the root."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._document = cache(self._read)

    def line_of(self, key: str) -> tuple[str, int]:
        """Return file and line of a setting, else of the nearest key above it."""
        if key.startswith(TARGETS):
            for file in self._project.serving(""):
                if path := _of_target(self._document(file), key.removeprefix(TARGETS)):
                    return file, self._document(file).locate(path, at_key=True)[0]
        file = self._project.config_name
        if not file:
            return self._project.named_config or "rubric-ci.yaml", 1
        document = self._document(file)
        return file, document.locate(_existing(document, tuple(key.split("."))), at_key=True)[0]

    def _read(self, file: str) -> Document:
        data = self._project.files.read(file) or b""
        return Document(file, data.decode("utf-8", "replace"))


def _of_target(document: Document, key: str) -> Path:
    data = document.data if isinstance(document.data, dict) else {}
    targets = data.get("targets")
    for index, target in enumerate(targets if isinstance(targets, list) else ()):
        name = target.get("name") if isinstance(target, dict) else None
        if key == name:
            return "targets", index, "name"
        if isinstance(name, str) and key.startswith(f"{name}."):
            setting = key.removeprefix(f"{name}.")
            return "targets", index, setting if setting in target else "name"
    return ()


def _existing(document: Document, path: tuple[str, ...]) -> Path:
    data, found = document.data, []
    for step in path:
        if not isinstance(data, dict) or step not in data:
            break
        data = data[step]
        found.append(step)
    return tuple(found)
