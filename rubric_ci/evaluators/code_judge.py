"""A script marks the answer."""

import json
import os
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from rubric_ci.evaluators import code_blocks, script_output
from rubric_ci.evaluators.script_input import payload
from rubric_ci.model.context import RunContext
from rubric_ci.model.evals import JSON, CodeJudgeSpec, EvalCase
from rubric_ci.model.results import Answer, Assessed, EvaluatorResult
from rubric_ci.model.scoring import verdict
from rubric_ci.system import processes
from rubric_ci.system.masking import redact
from rubric_ci.system.processes import Command, Finished, clean_environment


async def evaluate(
    case: EvalCase, answer: Answer, spec: CodeJudgeSpec, context: RunContext
) -> EvaluatorResult:
    """Run the script on the answer; raises CannotRunScript where it gives no mark."""
    asked = payload(case, answer, spec.config, context.root)
    mark = script_output.read(await run_script(spec, asked, answer.text, context))
    return Assessed(
        name=spec.name,
        type=spec.type,
        weight=spec.weight,
        line=spec.span.line,
        score=mark.score,
        verdict=verdict(mark.score, (), context.thresholds).value,
        reasoning=mark.reasoning,
        hits=mark.hits,
        misses=mark.misses,
        details=mark.details,
        warnings=mark.warnings,
    )


async def run_script(
    spec: CodeJudgeSpec, asked: JSON, answer: str, context: RunContext
) -> Finished:
    """Run the script with `asked` on its standard input and the answer in the files it names."""
    with TemporaryDirectory(prefix="rubric-ci-") as folder:
        command = Command(
            script=_with_files(spec.script, answer, Path(folder)),
            cwd=context.root / spec.cwd,
            environment=clean_environment(context.environment, spec.env),
            timeout_seconds=spec.timeout_seconds,
            stdin=json.dumps(asked),  # plain ASCII: read alike whatever the script's locale
        )
        return _without(f"{folder}{os.sep}", await processes.run(command))


def _without(folder: str, finished: Finished) -> Finished:
    """Leave out secrets and, so that two runs say the same, the folder of the files."""
    stdout, stderr = (
        redact(finished.stdout).replace(folder, ""),
        finished.stderr.replace(folder, ""),
    )
    return replace(finished, stdout=stdout, stderr=stderr)


def _with_files(script: str | tuple[str, ...], answer: str, folder: Path) -> str | tuple[str, ...]:
    """Write the files that the script names and put their paths in."""
    paths: dict[str, str] = {}
    words = script if isinstance(script, str) else "\0".join(script)
    if "{answer_file}" in words:
        paths["{answer_file}"] = _write(folder / "answer.txt", answer)
    if "{code_file}" in words:
        code = code_blocks.extract(answer)
        paths["{code_file}"] = _write(folder / f"candidate{code.suffix}", code.text)
    if isinstance(script, str):
        return _replace(script, {name: _quote(path) for name, path in paths.items()})
    return tuple(_replace(word, paths) for word in script)


def _write(path: Path, text: str) -> str:
    path.write_bytes(text.encode("utf-8", errors="replace"))
    return str(path)


def _replace(text: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        text = text.replace(name, value)
    return text


def _quote(path: str) -> str:
    return subprocess.list2cmdline([path]) if sys.platform == "win32" else shlex.quote(path)
