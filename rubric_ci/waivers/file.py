"""Read `waivers.yaml` of one state of the repository, and which of its entries are in force."""

from collections.abc import Iterable, Sequence
from datetime import date

from rubric_ci.errors import InvalidInput
from rubric_ci.model.defaults import WAIVERS
from rubric_ci.model.evals import EvalCase
from rubric_ci.model.waivers import Waiver
from rubric_ci.project.project import Project, RepositoryFiles
from rubric_ci.validation.validator import check_waivers
from rubric_ci.waivers.match import Match, match_waiver
from rubric_ci.yaml_text.document import Document
from rubric_ci.yaml_text.source import decode


def load_waivers(files: RepositoryFiles) -> tuple[Waiver, ...]:
    """Return the entries of `waivers.yaml`, none without the file; raises InvalidInput."""
    data = files.read(WAIVERS)
    if data is None:
        return ()
    text = decode(data)
    document = Document(WAIVERS, text) if isinstance(text, str) else None
    found = check_waivers(document) if document else ()
    if document is None or found:
        place = f"{WAIVERS}:{found[0].span.line}: {found[0].message}" if found else WAIVERS
        raise InvalidInput(f"{WAIVERS} has problems: {place}", "run `rubric-ci validate`")
    return read_waivers(document)


def read_waivers(document: Document) -> tuple[Waiver, ...]:
    """Return the entries in the order of the file."""
    return tuple(
        Waiver(
            case=entry["case"],
            criterion=entry["criterion"],
            file=entry.get("file", ""),
            reason=entry["reason"],
            owner=entry["owner"],
            until=entry["until"],
            fingerprint=entry["fingerprint"],
            line=document.locate(("waivers", index))[0],
        )
        for index, entry in enumerate(document.data["waivers"])
    )


def in_force(project: Project) -> tuple[Waiver, ...]:
    """Return the waivers of the policy that the checkout still has, with its lines.

    A change may remove a waiver at once; a new one counts after the merge.
    """
    own = {waiver.key: waiver for waiver in load_waivers(project.files)}
    if project.policy_files is project.files:
        return tuple(own.values())
    return tuple(own[each.key] for each in load_waivers(project.policy_files) if each.key in own)


def match_all(
    waivers: Sequence[Waiver], cases: Iterable[EvalCase], today: date
) -> tuple[tuple[Waiver, Match], ...]:
    """Return each waiver with its case, its criterion and its state on a day."""
    every = tuple(cases)
    return tuple((waiver, match_waiver(waiver, every, today)) for waiver in waivers)
