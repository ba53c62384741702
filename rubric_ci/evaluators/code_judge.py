"""The `code_judge` evaluator: a script scores the answer; unknown keys are its configuration."""

from collections.abc import Iterator, Mapping
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING, Final

from rubric_ci.evaluators.kind import Evaluator, Script, Written, common
from rubric_ci.model.problems import Path, Problem, Rule, with_evaluator
from rubric_ci.text.suggestions import did_you_mean, nearest

if TYPE_CHECKING:
    from rubric_ci.model.evals import CodeJudgeSpec

KEYS: Final = (
    *("name", "type", "weight", "script", "cwd", "timeout_seconds", "env", "config", "score_from"),
)
FOREIGN_OPTIONS: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        ("required", "min_score"),
        "a script has no gate of its own: its score counts by `weight`, and `gate` decides",
    ),
    "negate": "let the script give 1 - score",
    "command": "the command is `script`",
    "value": "list it under `config`, which the script reads",
}
"""Options of graders of other tools, which a script here would get as configuration."""

_LIMITS: Final = "it decides nothing here: `gate.thresholds` has the limits of all scores"

SIMILAR_KEY: Final = Rule(
    id="similar-key",
    severity="warning",
    switchable=True,
    meaning=(
        "Unknown keys of a code judge are passed to its script, unknown keys of a model to its "
        "call. This key looks like a misspelt setting."
    ),
    bad=with_evaluator("- name: check\n  type: code_judge\n  script: ./check\n  timeout_second: 5"),
    good=with_evaluator(
        "- name: check\n  type: code_judge\n  script: ./check\n  timeout_seconds: 5"
    ),
)
FOREIGN_OPTION: Final = Rule(
    id="foreign-option",
    meaning=(
        "Graders of other tools have this option. A `code_judge` has not, and would only pass it "
        "to the script as configuration: a gate or a limit would be lost. Below `config` every "
        "key is yours."
    ),
    bad=with_evaluator("- {name: check, type: code_judge, script: ./check, required: true}"),
    good=with_evaluator(
        "- {name: check, type: code_judge, script: ./check, config: {required: true}}"
    ),
)
TARGET_PROXY: Final = Rule(
    id="target-proxy",
    meaning=(
        "AgentV lets a script call a model through a local server, the target proxy. rubric-ci "
        "has none, so the script could not give a mark."
    ),
    hint="use an `llm_judge`, or list in `env` what the script needs to call a model",
    bad=with_evaluator(
        "- {name: check, type: code_judge, script: ./check, target: {max_calls: 10}}"
    ),
    good=with_evaluator("- {name: check, type: code_judge, script: ./check, env: [API_KEY]}"),
)


def read(written: Written) -> "CodeJudgeSpec":
    """Return the spec of a script."""
    from rubric_ci.model.evals import CodeJudgeSpec

    data = written.data
    script, cwd = data["script"], data.get("cwd", ".")
    written.files.note_script(script, cwd)
    own = {key: item for key, item in data.items() if key not in KEYS}
    return CodeJudgeSpec(
        **common(written),
        script=script if isinstance(script, str) else tuple(script),
        cwd=_from_root(written.source.file, cwd),
        timeout_seconds=float(data.get("timeout_seconds", 60.0)),
        env=tuple(data.get("env", ())),
        config={**own, **data.get("config", {})},
        score_from=data.get("score_from"),
    )


def _from_root(file: str, folder: str) -> str:
    return normpath(folder.lstrip("/") if folder.startswith("/") else join(dirname(file), folder))


def scripts(evaluator: Evaluator, path: Path) -> Iterator[Script]:
    """Yield the script."""
    yield Script(evaluator, path, "script")


def problems(evaluator: Evaluator, path: Path) -> Iterator[Problem]:
    """Yield keys that would reach the script as configuration and mean something else."""
    yield from _misspelt(evaluator, path)
    yield from _foreign_options(evaluator, path)
    if isinstance(evaluator.get("target"), dict):
        message = "`target` does not let a script call a model: there is no target proxy"
        yield Problem(TARGET_PROXY, (*path, "target"), message, at_key=True)


def _misspelt(evaluator: Evaluator, path: Path) -> Iterator[Problem]:
    for key in evaluator:
        if key not in (*KEYS, *FOREIGN_OPTIONS) and not key.startswith("x-"):
            meant = nearest(key, [k for k in KEYS if k not in evaluator])
            where, message = (*path, key), f"`{key}` is passed to the script as config"
            if key == "threshold":
                yield Problem(SIMILAR_KEY, where, message, _LIMITS, at_key=True)
            elif meant and meant != "script":  # the missing `script` has its own problem
                hint = did_you_mean(meant)
                yield Problem(SIMILAR_KEY, where, message, hint, at_key=True, meant=meant)


def _foreign_options(evaluator: Evaluator, path: Path) -> Iterator[Problem]:
    for key, hint in FOREIGN_OPTIONS.items():
        if key in evaluator and "script" in evaluator:  # without it, that is the problem
            message = f"`{key}` is no option of a `code_judge`"
            yield Problem(FOREIGN_OPTION, (*path, key), message, hint, at_key=True)
