"""A command answers; what it prints, or writes to {OUTPUT_FILE}, is the answer."""

import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from rubric_ci.errors import CannotAnswer, CannotReadFile
from rubric_ci.model.config import CliTarget
from rubric_ci.model.context import RunContext
from rubric_ci.model.evals import EvalCase, FilePart
from rubric_ci.model.llm_calls import Usage
from rubric_ci.model.results import Answer
from rubric_ci.system import confined, processes
from rubric_ci.system.masking import redact
from rubric_ci.system.processes import Command, Finished, clean_environment
from rubric_ci.targets import answer_format

_PLACEHOLDER = re.compile(r"(?<!\$)\{([A-Z_]+)\}")
_SHOWN = 500


async def answer(case: EvalCase, target: CliTarget, context: RunContext, attempt: int) -> Answer:
    """Run the command for the case; raises NoVerdict where it fails or says nothing."""
    with TemporaryDirectory(prefix="rubric-ci-") as folder:
        written = Path(folder) / "output"
        files = _files(case, target.files_format, context.root)
        command = Command(
            script=_fill(target.command_template, _values(case, files, written, attempt)),
            cwd=context.root / target.cwd,
            environment=clean_environment(context.environment, target.env),
            timeout_seconds=target.timeout_seconds,
        )
        finished = await processes.run(command)
        _check(finished, target)
        reads_file = "{OUTPUT_FILE}" in target.command_template
        text = _written(written) if reads_file else finished.stdout.strip("\n")
    return _answer(text, finished, target)


def _values(case: EvalCase, files: str, written: Path, attempt: int) -> dict[str, str]:
    """Return what each placeholder stands for, quoted for the shell."""
    system = "\n\n".join(m.text for m in case.input_messages if m.role == "system")
    return {
        "PROMPT": _quote(case.question),
        "GUIDELINES": _quote(system),
        "EVAL_ID": _quote(case.id),
        "ATTEMPT": str(attempt),
        "FILES": files,
        "OUTPUT_FILE": _quote(str(written)),
    }


def _files(case: EvalCase, form: str, root: Path) -> str:
    """Return the files of the input messages, each once and in the form that is asked for."""
    found = (p.path for m in case.input_messages for p in m.parts if isinstance(p, FilePart))
    return " ".join(_file(form, root / path) for path in dict.fromkeys(found))


def _file(form: str, path: Path) -> str:
    values = {"{path}": _quote(str(path)), "{basename}": _quote(path.name)}
    return re.sub(r"\{(?:path|basename)\}", lambda found: values[found[0]], form)


def _fill(template: str, values: Mapping[str, str]) -> str:
    """Put the values in; `${NAME}` is the shell's and stays."""

    def value(match: re.Match[str]) -> str:
        if match[1] not in values:
            known = ", ".join(f"{{{name}}}" for name in values)
            raise CannotAnswer(f"`command_template` holds {match[0]}; known are {known}")
        return values[match[1]]

    return _PLACEHOLDER.sub(value, template)


def _quote(text: str) -> str:
    return subprocess.list2cmdline([text]) if sys.platform == "win32" else shlex.quote(text)


def _check(finished: Finished, target: CliTarget) -> None:
    if finished.status == 0:
        return
    said = " ".join((finished.stderr.strip() or redact(finished.stdout).strip())[-_SHOWN:].split())
    told = f": {said}" if said else " and said nothing"
    raise CannotAnswer(f"the target `{target.name}` exited with status {finished.status}{told}")


def _written(path: Path) -> str:
    try:
        data = confined.read_own(path, shown=path)
    except CannotReadFile as error:
        reason = error.message.removeprefix(f"cannot read {path}: ")
        message = f"the command wrote no {{OUTPUT_FILE}} that can be read: {reason}"
        raise CannotAnswer(message) from None
    return data.decode("utf-8", "replace").replace("\r\n", "\n")


def _answer(text: str, finished: Finished, target: CliTarget) -> Answer:
    if not text.strip():
        raise CannotAnswer(f"the target `{target.name}` gave an empty answer")
    try:
        given = answer_format.parse(text)
    except CannotAnswer as error:
        raise CannotAnswer(f"the target `{target.name}` gave a broken answer: {error}") from None
    summary = given.trace_summary or {}
    tokens = summary.get("token_usage") or {}
    return replace(
        given,
        duration_seconds=given.duration_seconds
        if given.duration_seconds is not None
        else finished.duration_seconds,
        usage=Usage(
            input_tokens=int(tokens.get("input") or 0),
            output_tokens=int(tokens.get("output") or 0),
            cost_usd=float(summary.get("cost_usd") or 0),
        ),
    )
