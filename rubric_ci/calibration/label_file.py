"""The file of a person's labels, read and written."""

from collections.abc import Iterable
from pathlib import Path

from rubric_ci.calibration import labels
from rubric_ci.calibration.labels import Label
from rubric_ci.errors import CannotWriteFile, InvalidInput
from rubric_ci.project import discovery
from rubric_ci.project.loaded_project import show_problems


def read_labels(path: Path) -> tuple[Label, ...]:
    """Return the labels of a file; show its problems and raise InvalidInput if there are any."""
    found, problems = labels.parse(
        str(path), discovery.read_text(path, written_by="rubric-ci judge label")
    )
    if problems:
        show_problems(problems)
        raise InvalidInput(f"{path} has problems", "fix or remove those lines")
    return found


def write_labels(path: Path, found: Iterable[Label]) -> None:
    """Write the labels, atomically."""
    try:
        discovery.write_text(path, labels.dump(found))
    except OSError as error:
        raise CannotWriteFile(
            f"{path}: cannot write the labels: {error.strerror}",
            "choose another file with --labels",
        ) from error
