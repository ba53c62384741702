"""Coverage-guided fuzzing of everything that reads files: no exception may come out.

    pip install atheris  # Linux
    mkdir -p /tmp/corpus
    python tests/fuzz/fuzz_load.py /tmp/corpus tests/evals/valid tests/evals/invalid \
        -dict=tests/fuzz/yaml.dict -max_len=4096 -max_total_time=600 -rss_limit_mb=400 -timeout=10

The first byte of an input chooses how the rest is read; see `READERS`.
"""

import sys
from collections.abc import Sequence

import atheris

with atheris.instrument_imports(include=["rubric_ci"]):
    from rubric_ci.files.editing.fixes import fix
    from rubric_ci.files.project.loader import load, load_config, load_targets
    from rubric_ci.files.validation import problem_formats
    from rubric_ci.files.validation.config_summary import KnownTargets, WrittenTarget
    from rubric_ci.files.validation.validator import Surroundings, check_evals
    from rubric_ci.files.yaml_text.source import decode, open_config, open_source
    from rubric_ci.values.diagnostics import Diagnostic
    from rubric_ci.values.problems import LocatedProblem
    from rubric_ci.values.references import Found, NotFound


def look_up(name: str) -> Found | NotFound:
    return Found("a.md", "{{ question }} {{ x }}") if len(name) % 2 else NotFound("no such file")


def as_yaml(written: str) -> None:
    shown(load("evals/a.yaml", written, look_up).diagnostics)


def as_lines(written: str) -> None:
    lines, _, sidecar = written.partition("\x00")
    shown(load("evals/a.jsonl", lines, look_up, sidecar or None).diagnostics)


def as_config(written: str) -> None:
    shown(load_config(open_config("rubric-ci.yaml", written)).diagnostics)


def as_targets(written: str) -> None:
    shown(load_targets(open_config(".agentv/targets.yaml", written)).diagnostics)


def with_targets(written: str) -> None:
    known = KnownTargets({"default": WrittenTarget("rubric-ci.yaml", "", {})})
    shown(check_evals(open_source("a.yaml", written), Surroundings(look_up, known)))


def fixed(written: str) -> None:
    once = fix(written).text
    assert fix(once).places == 0


def shown(found: Sequence[Diagnostic]) -> None:
    problem_formats.as_text(found, 1, color=True)
    problem_formats.as_annotations(found, 1, "token")
    problem_formats.as_json(found, 1)
    problem_formats.as_sarif(found)


READERS = (as_yaml, as_yaml, as_yaml, as_lines, as_config, as_targets, with_targets, fixed)


def one_input(data: bytes) -> None:
    written = decode(data[1:])
    if not isinstance(written, LocatedProblem):
        READERS[(data[0] if data else 0) % len(READERS)](written)


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
