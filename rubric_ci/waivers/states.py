"""Which waivers of a checkout are in force, for `validate`."""

from collections.abc import Callable, Iterable
from datetime import date
from pathlib import Path

from rubric_ci.project import discovery
from rubric_ci.project.project import Project
from rubric_ci.validation.waiver_rules import States
from rubric_ci.waivers.file import match_all, read_waivers
from rubric_ci.yaml_text.document import Document


def find_states(
    document: Document, project: Project, evals: Callable[[], Iterable[Path]], today: date
) -> States:
    """Return the state of each entry, given the cases of the eval files of the configuration."""
    loaded = (project.load(discovery.from_root(path, project.root)) for path in evals())
    files = (each.eval_file for each in loaded if each and each.eval_file)
    cases = [case for file in files for case in file.cases]
    matches = match_all(read_waivers(document), cases, today)
    config = project.own_config.config
    return States(
        states=[match.state for _, match in matches],
        max_waivers=config.gate.max_waivers if config else None,
    )
