"""The `code_judge` evaluator: a script scores the answer; unknown keys are its configuration."""

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import assert_never
from uuid import uuid4

from rubric_ci.errors import CannotReadFile, CannotRunScript
from rubric_ci.evaluators import scripts
from rubric_ci.evaluators.kind import Written, takes_file
from rubric_ci.evaluators.scripts import payload
from rubric_ci.system import container_engine, processes
from rubric_ci.system.output_and_masking import redact
from rubric_ci.system.processes import Command, Finished, describe_exit
from rubric_ci.system.scratch import program_folder
from rubric_ci.text import answer_text
from rubric_ci.text.command_lines_and_variables import filled, placeholders, shell_quote
from rubric_ci.values.context import RunContext
from rubric_ci.values.evals import CodeJudgeSpec, Container, EvalCase
from rubric_ci.values.json_value import JSON
from rubric_ci.values.media import SUFFIXES, Media
from rubric_ci.values.results import Answer, Assessment
from rubric_ci.values.written_keys import keys_of, read_keys


def read_code_judge(written: Written) -> CodeJudgeSpec:
    data = written.data
    cwd = data.get("cwd", ".")
    written.files.note_script(data["script"], cwd)
    own = {key: item for key, item in data.items() if key not in keys_of(CodeJudgeSpec)}
    return read_keys(
        CodeJudgeSpec,
        data,
        cwd=_from_root(written.source.file, cwd),
        config={**own, **data.get("config", {})},
        span=written.span("name"),
    )


def _from_root(file: str, folder: str) -> str:
    return normpath(folder.lstrip("/") if folder.startswith("/") else join(dirname(file), folder))


async def code_judge(
    case: EvalCase, answer: Answer, spec: CodeJudgeSpec, context: RunContext
) -> Assessment:
    """Run the script on the answer; raises CannotRunScript if it gives no score."""
    if case.workspace and not answer.folder:
        raise CannotRunScript(
            "the case has a `workspace`, and the answer was not given in one: scripts look at what "
            "a command, an agent or a model leaves there, not at recorded or fixed answers"
        )
    script_input = payload(case, answer, spec.config, context.root)
    finished = await run_script(spec, script_input, answer, context)
    return read_score(finished, spec)


def read_score(finished: Finished, spec: CodeJudgeSpec) -> Assessment:
    """Return the score of a finished script, from its output or its exit status."""
    match spec.score_from:
        case "output":
            return scripts.read_assessment(finished)
        case "exit_status":
            return scripts.read_status(finished)
        case "output_or_exit_status":
            return scripts.read_either(finished)
        case None if takes_file(spec.script):
            found = scripts.read_status(finished)
            return replace(found, warnings=(*found.warnings, *scripts.unused_score(finished)))
        case None:
            return scripts.read_assessment(finished)
        case _:
            assert_never(spec.score_from)


async def run_script(
    spec: CodeJudgeSpec, script_input: JSON, answer: Answer, context: RunContext
) -> Finished:
    """Run the script with its input on stdin and the answer in the files that it names."""
    with program_folder() as folder:
        if answer.media:
            script_input = {**script_input, "answer_files": _images(answer.media, folder)}
        if spec.container:
            finished = await _contained(spec, spec.container, json.dumps(script_input), context)
            return _without_folder(f"{folder}{os.sep}", finished)
        here = {"AGENTV_WORKSPACE_PATH": answer.folder} if answer.folder else {}
        command = Command(
            script=_fill_placeholders(spec.script, answer.said, folder),
            cwd=context.root / spec.cwd,
            known=context.environment,
            env=spec.env,
            added=here,
            timeout_seconds=spec.timeout_seconds,
            stdin=json.dumps(script_input),  # ASCII only: independent of the script's locale
        )
        return _without_folder(f"{folder}{os.sep}", await processes.run(command))


async def _contained(
    spec: CodeJudgeSpec, box: Container, script_input: str, context: RunContext
) -> Finished:
    """Run the script in a separate container; raises CannotRunScript without one."""
    engine = container_engine.engine(context.environment)
    if not engine:
        raise CannotRunScript(f"`container` {container_engine.NEEDED}")
    await container_engine.fetch(box.image, context.root, context.environment)
    name = f"rubric-ci-judge-{uuid4().hex}"
    words = ("sh", "-c", spec.script) if isinstance(spec.script, str) else spec.script
    limits = (*((f"--memory={box.memory}",) if box.memory else ()),)
    limits += (f"--cpus={box.cpus}",) if box.cpus else ()
    given = tuple(f"--env={each}" for each in container_engine.passed(spec.env))
    start = ("run", "--rm", "--interactive", "--name", name, "--security-opt=no-new-privileges")
    command = Command(
        script=(*engine, *start, *limits, *given, "--entrypoint", words[0], box.image, *words[1:]),
        cwd=context.root,
        known=context.environment,
        env=spec.env,
        timeout_seconds=spec.timeout_seconds,
        stdin=script_input,
    )
    try:
        finished = await processes.run(command)
    finally:
        await container_engine.remove(name, context.root, context.environment)
    if finished.status == container_engine.FAILED:
        raise CannotRunScript(f"the container was not started: {describe_exit(finished)}")
    return finished


def _images(media: Sequence[Media], folder: Path) -> list[str]:
    """Write the images and documents of an answer, and return their paths."""
    from rubric_ci.models.llm.media import content  # few answers have one

    paths = []
    for number, each in enumerate(media, start=1):
        path = folder / f"answer-{number}{SUFFIXES[each.type][0]}"
        try:
            path.write_bytes(content(each))
        except CannotReadFile as error:
            raise CannotRunScript(error.message) from None
        paths.append(str(path))
    return paths


def _without_folder(folder: str, finished: Finished) -> Finished:
    """Remove secrets and the temporary folder from the output, so that runs are comparable."""
    stdout = redact(finished.stdout).replace(folder, "")
    stderr = finished.stderr.replace(folder, "")
    return replace(finished, stdout=stdout, stderr=stderr)


def _fill_placeholders(
    script: str | tuple[str, ...], answer: str, folder: Path
) -> str | tuple[str, ...]:
    """Write the files that the script names and replace the placeholders by their paths."""
    named = placeholders(script if isinstance(script, str) else "\0".join(script))
    paths: dict[str, str] = {}
    if "answer_file" in named:
        paths["answer_file"] = _write(folder / "answer.txt", answer)
    if "code_file" in named:
        code = answer_text.extract_code(answer)
        paths["code_file"] = _write(folder / f"candidate{code.suffix}", code.text)
    if isinstance(script, str):
        return filled(script, {name: shell_quote(path) for name, path in paths.items()})
    return tuple(filled(word, paths) for word in script)


def _write(path: Path, text: str) -> str:
    path.write_bytes(text.encode("utf-8", errors="replace"))
    return str(path)
