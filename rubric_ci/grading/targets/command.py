"""Command targets: the answer is the standard output, or the file {OUTPUT_FILE}; health checks."""

import asyncio
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import TypeAlias
from urllib.parse import urlsplit

from rubric_ci.errors import (
    CannotAnswer,
    CannotReadFile,
    CannotRunScript,
    NoVerdict,
    ScriptTimedOut,
)
from rubric_ci.grading.targets import answer_format
from rubric_ci.grading.targets.answer_format import measured, traced, with_files
from rubric_ci.grading.targets.call_spelling import Spelling
from rubric_ci.models.agents import AGENTS, READERS
from rubric_ci.models.llm.http_guard import is_allowed, refusal_of
from rubric_ci.system import coroutines, file_io, processes
from rubric_ci.system.processes import Command, Finished, describe_exit, one_line_tail
from rubric_ci.system.scratch import program_folder, variables
from rubric_ci.text.command_lines_and_variables import filled, placeholders, shell_quote
from rubric_ci.text.suggestions import known_names
from rubric_ci.values.agent_program import HealthCheck
from rubric_ci.values.context import RunContext, Start, StartPrice
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.hosts import host_of
from rubric_ci.values.messages import FilePart, MediaPart
from rubric_ci.values.references import file_text
from rubric_ci.values.results import Answer
from rubric_ci.values.targets import CliTarget, Target
from rubric_ci.values.usage import Usage

Confine: TypeAlias = Callable[[tuple[str, ...]], tuple[str, ...]]
"""A command line behind another one."""


class HealthChecks:
    """Runs each target's health check once per folder; all its cases share the result."""

    def __init__(self) -> None:
        self._started: dict[tuple[str, str], asyncio.Task[None]] = {}

    async def check(self, target: Target, context: RunContext) -> None:
        if target.healthcheck is None:
            return
        key = target.name, target.cwd
        if key not in self._started:
            self._started[key] = coroutines.start_shared(check_health(target, context))
        await asyncio.shield(self._started[key])


async def answer(
    case: EvalCase,
    target: CliTarget,
    context: RunContext,
    attempt: int,
    place: Path | None = None,
    confine: Confine | None = None,
) -> Answer:
    """Run the command for the case; raises NoVerdict if it fails or prints nothing.

    It runs in the repository, or in a separate `place`, with the words of `confine` before it.
    """
    cwd = (place or context.root) / target.cwd
    if place and place not in (cwd.resolve(), *cwd.resolve().parents):
        raise CannotAnswer(f"`cwd: {target.cwd}` of the target `{target.name}` leads out")
    with program_folder() as folder:
        written = folder / "output"
        values = placeholder_values(case, target, context.root, written, attempt)
        script = fill(target.command_template, values)
        command = Command(
            script=script if confine is None else confine(("sh", "-c", script)),
            cwd=cwd,
            known=context.environment,
            env=target.env,
            added=variables(place) if place else {},
            timeout_seconds=target.timeout_seconds,
        )

        async def run(_: float | None) -> Answer:
            return await _run_command(command, target, written, place or context.root)

        return await started(target, context, run)


async def _run_command(command: Command, target: CliTarget, written: Path, top: Path) -> Answer:
    """Return the answer of a command that may write to a file; `top` holds what it may name."""
    cwd = command.cwd
    try:
        finished = await processes.run(command)
    except ScriptTimedOut as stopped:
        raise _late(stopped, target, cwd) from None
    try:
        text = output(finished, target, written)
        return with_files(_answer(text, finished, target, cwd), reader(cwd, top))
    except CannotAnswer as error:
        places = Spelling(places={cwd: "."})
        done = answer_format.did(target.trace, finished.stdout, finished.stderr, places)
        raise error.after(done) from None


def reader(cwd: Path, top: Path) -> Callable[[str], bytes]:
    """Return a reader of files that a command names, below the folder that it works in."""
    real = Path(os.path.realpath(top))
    return lambda name: file_io.read_named(cwd / name, real)


def _late(stopped: ScriptTimedOut, target: CliTarget, cwd: Path) -> NoVerdict:
    """Return the error of a command that was killed; of an agent's, with its last event."""
    if target.trace not in READERS:
        return stopped
    return answer_format.timed_out(stopped, target, target.trace, Spelling(places={cwd: "."}))


def output(finished: Finished, target: CliTarget, written: Path) -> str:
    """Return the text that a command printed or wrote; raises CannotAnswer if it failed."""
    if finished.status != 0:
        raise CannotAnswer(f"the target `{target.name}` failed: {describe_exit(finished)}")
    reads_file = "{OUTPUT_FILE}" in target.command_template
    return _written(written) if reads_file else finished.stdout.strip("\n")


def guidelines(case: EvalCase) -> str:
    """Return the text of the guidelines and of the system messages."""
    system = (m for m in case.input_messages if m.role == "system" and not m.is_guideline)
    return "\n\n".join([*(g.text for g in case.guidelines), *(m.text for m in system)])


def file_paths(case: EvalCase) -> list[str]:
    """Return the files of the input messages, each once, relative to the root."""
    every = [message.parts for message in case.input_messages]
    every += [turn.parts for turn in case.turns]
    found = (p.path for parts in every for p in parts if isinstance(p, FilePart | MediaPart))
    return list(dict.fromkeys(found))


def prompt_file(folder: Path, text: str) -> Path:
    """Write the prompt to a file in the folder of a command, which is removed with it."""
    path = folder / "prompt.txt"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    return path


def files_text(case: EvalCase, form: str, root: Path) -> str:
    """Return the files of the input messages, each in `files_format`."""
    paths = [root / path for path in file_paths(case)]
    quoted = ({"path": shell_quote(str(p)), "basename": shell_quote(p.name)} for p in paths)
    return " ".join(filled(form, each) for each in quoted)


def placeholder_values(
    case: EvalCase, target: CliTarget, root: Path, written: Path, attempt: int
) -> dict[str, Callable[[], str]]:
    """Return how to get the value of each placeholder, quoted for the shell."""
    return {
        "PROMPT": lambda: shell_quote(case.question),
        "PROMPT_FILE": lambda: shell_quote(str(prompt_file(written.parent, case.question))),
        "GUIDELINES": lambda: shell_quote(guidelines(case)),
        "EVAL_ID": lambda: shell_quote(case.own_id),
        "EVAL_FILE": lambda: shell_quote(str(root / case.file)),
        "ROOT": lambda: shell_quote(str(root)),
        "ATTEMPT": lambda: str(attempt),
        "FILES": lambda: files_text(case, target.files_format, root),
        "OUTPUT_FILE": lambda: shell_quote(str(written)),
    }


def fill(template: str, values: Mapping[str, Callable[[], str]]) -> str:
    """Replace the placeholders; raises CannotAnswer for an unknown name in capitals.

    Only the values of those that it holds are asked for: not each can be quoted for every shell.
    """
    used = placeholders(template)
    for name in used:
        if name not in values and name.isupper() and name.replace("_", "").isalpha():
            known = known_names(f"{{{each}}}" for each in values)
            raise CannotAnswer(f"`command_template` holds {{{name}}}; {known}")
    return filled(template, {name: values[name]() for name in used if name in values})


def _written(path: Path) -> str:
    try:
        data = file_io.read_own(path, shown=path)
    except CannotReadFile as error:
        raise _unreadable(error.reason) from None
    if path.parent.resolve() != path.parent:
        raise _unreadable("the command replaced its folder with a link")
    return file_text(data, "replace")


def _unreadable(reason: str) -> CannotAnswer:
    return CannotAnswer(f"cannot read the {{OUTPUT_FILE}} of the command: {reason}")


def _answer(text: str, finished: Finished, target: CliTarget, cwd: Path) -> Answer:
    if found := traced(text, finished, target, cwd):
        return found
    if not text.strip():
        tail = one_line_tail(finished.stderr)
        said = f"; it wrote to standard error only: {tail}" if tail else ""
        raise CannotAnswer(f"the target `{target.name}` gave an empty answer{said}")
    try:
        given = answer_format.parse(text)
    except CannotAnswer as error:
        raise CannotAnswer(f"the target `{target.name}` gave an invalid answer: {error}") from None
    return measured(given, finished)


async def check_health(target: Target, context: RunContext) -> None:
    """Run the target's health check; raises CannotAnswer if it fails."""
    check = target.healthcheck
    if check is None:
        return
    seconds = check.timeout_seconds or target.timeout_seconds
    if check.type == "http":
        problem = _refused(check.url, context) or await probe(check.url, seconds)
    else:
        problem = await _run(target, check, seconds, context)
    if problem:
        raise CannotAnswer(f"the health check of the target `{target.name}` failed: {problem}")


def _refused(url: str, context: RunContext) -> str:
    allowed, host = context.hosts, host_of(url)
    if allowed is None or is_allowed(host, allowed, context.environment):
        return ""
    return refusal_of(host)


async def _run(target: Target, check: HealthCheck, seconds: float, context: RunContext) -> str:
    try:
        finished = await processes.run(
            Command(
                script=check.command_template,
                cwd=context.root / (check.cwd or target.cwd),
                known=context.environment,
                env=target.env,
                timeout_seconds=seconds,
            )
        )
    except CannotRunScript as error:
        return str(error)
    return describe_exit(finished) if finished.status else ""


async def probe(url: str, timeout_seconds: float, *, direct: bool = False) -> str:
    """Return an error message, or "" if the URL responds with 2xx; `direct`: through no proxy."""
    if urlsplit(url).scheme not in {"http", "https"}:
        return f"{url} is not an http or https URL"
    loop = asyncio.get_running_loop()
    result: asyncio.Future[str] = loop.create_future()

    def request() -> None:
        message = _probe(url, timeout_seconds, direct=direct)
        with suppress(RuntimeError):  # the run has ended meanwhile
            loop.call_soon_threadsafe(_set_result, result, message)

    # NOTE: urllib's timeout applies to each read, so that a slow server can exceed it. The end of
    # the program waits for asyncio's own threads, but not for a daemon thread.
    Thread(target=request, daemon=True).start()
    try:
        async with asyncio.timeout(timeout_seconds):
            return await result
    except TimeoutError:
        return f"{url} does not respond: timed out"


def _set_result(result: asyncio.Future[str], message: str) -> None:
    if not result.done():
        result.set_result(message)


def _probe(url: str, timeout_seconds: float, *, direct: bool) -> str:
    from urllib.error import HTTPError, URLError  # slow to import, rarely used
    from urllib.request import HTTPRedirectHandler, ProxyHandler, build_opener

    class Unfollowed(HTTPRedirectHandler):
        def redirect_request(self, *_: object) -> None:
            """Leave the redirect as the response, which is an error."""

    try:
        handlers = [Unfollowed(), *([ProxyHandler({})] if direct else [])]
        with build_opener(*handlers).open(url, timeout=timeout_seconds):
            return ""
    except HTTPError as error:
        redirected = "; redirects are not followed" if 300 <= error.code < 400 else ""
        return f"{url} responds with {error.code} {error.reason}{redirected}"
    except (URLError, OSError, ValueError) as error:
        return f"{url} does not respond: {getattr(error, 'reason', error)}"


def price_of(target: Target) -> StartPrice | None:
    """Return the highest cost of a start; None: it is not a call that the caps count."""
    if target.agent is None and target.cost_per_run is None:
        return None
    agent = target.agent
    obeys = agent is not None and bool(AGENTS[agent.name].cap)
    limits = [target.cost_per_run, agent.max_cost_usd if agent and obeys else None]
    most = min((limit for limit in limits if limit is not None), default=None)
    return StartPrice(target=target.name, most=most, obeys=obeys)


def model_of(target: Target) -> str:
    """Return the model that answers; empty: a program, or nothing that is asked."""
    return target.endpoint.model if target.endpoint else ""


async def started(target: CliTarget, context: RunContext, start: Start) -> Answer:
    """Return the answer of one start, which counts as a call; raises OverBudget before it."""
    price = price_of(target)
    if price is None:
        return await context.allowance.spend(StartPrice(target=target.name, counts=False), start)

    async def counted(most: float | None) -> Answer:
        try:
            given = await start(most)
        except NoVerdict as error:
            raise error.with_usage(_as_call(error.usage, target)) from None
        return replace(given, usage=_as_call(given.usage, target))

    return await context.allowance.spend(price, counted)


def _as_call(used: Usage, target: CliTarget) -> Usage:
    """Return the usage of one call: its own figure, else the target's, else unknown."""
    if used.cost_usd or used.calls:
        return replace(used, calls=1)
    if target.cost_per_run is None:
        return replace(used, calls=1, unpriced_calls=1)
    return replace(used, calls=1, cost_usd=target.cost_per_run)
