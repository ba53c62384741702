"""Apply the fixes of `validate --fix` to files, or print them as a diff."""

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, TypeAlias

from rubric_ci.files.editing.fixes import fix, unified
from rubric_ci.files.project import working_tree
from rubric_ci.files.project.file_kinds import CONFIG_NAMES, is_targets_file
from rubric_ci.system import file_io
from rubric_ci.system.output_and_masking import print_block

MAX_COUNTED: Final = 200_000  # characters: a check must not cost as much as a fix
Rules: TypeAlias = Mapping[str, str]  # severities by rule


def fix_files(paths: Iterable[Path], rules: Rules, *, write: bool) -> int:
    """Quote values that are meant as text, or print the fixes as a diff; return how many.

    What a rule reports that `rules` switches off is kept.
    """
    off = _switched_off(rules)
    places = [_fix_file(path, off, write=write) for path in _yaml_of(paths)]
    changed = sum(map(bool, places))
    if changed:
        verb = "fixed" if write else "would fix"
        from rubric_ci.text.numbers import plural  # not for every check

        done = f"{plural(sum(places), 'place')} in {plural(changed, 'file')}"
        sys.stderr.write(f"rubric-ci: {verb} {done}\n")
    return sum(places)


def count_fixable(paths: Iterable[Path], rules: Rules) -> int:
    """Return the number of places that `--fix` changes in eval files whose fixes all hold."""
    texts = map(working_tree.text_of, _yaml_of(paths))
    counted = (text for text in texts if text and len(text) <= MAX_COUNTED)
    off = _switched_off(rules)
    return sum(fix(text, 1, off).places for text in counted)


def _yaml_of(paths: Iterable[Path]) -> Iterable[Path]:
    """Return the eval files that are YAML, and the sidecars of those that are JSON Lines."""
    evals = [
        path
        for path in paths
        if not (path.name in CONFIG_NAMES or is_targets_file(path.absolute().as_posix()))
    ]
    sidecars = (working_tree.sidecar_of(path) for path in evals)
    return dict.fromkeys(
        [*(path for path in evals if path.suffix != ".jsonl"), *filter(None, sidecars)]
    )


def _switched_off(rules: Rules) -> frozenset[str]:
    return frozenset(rule for rule, severity in rules.items() if severity == "off")


def _fix_file(path: Path, switched_off: frozenset[str], *, write: bool) -> int:
    text = working_tree.text_of(path)
    fixed = fix(text, switched_off=switched_off)
    if fixed.places and write:
        file_io.replace(path, text.encode(), fixed.text.encode())
    elif fixed.places:
        print_block(unified(path.as_posix(), text, fixed.text))
    return fixed.places
