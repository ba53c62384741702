"""A command as judge: the prompt on its standard input, the reply on its standard output.

It runs in an empty folder with an empty home and only the variables that are named, so that no
file of a repository reaches it. Its processes are killed when it ends, and at the timeout.
"""

import asyncio
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext
from functools import cache
from pathlib import Path
from weakref import WeakKeyDictionary

from rubric_ci.errors import CannotRunScript
from rubric_ci.models.agents import AGENTS
from rubric_ci.models.agents.logins import Login, NoLogin, environment_at, furnished, kept, login_of
from rubric_ci.models.agents.program import (
    AgentFailed,
    Files,
    Start,
    failure,
    is_refusal,
    last_object,
    never,
)
from rubric_ci.models.llm.failures import RequestError
from rubric_ci.models.llm.openai_http import text_of, usage
from rubric_ci.system import processes
from rubric_ci.system.scratch import outside, program_folder
from rubric_ci.values.agent_program import JudgeCommand
from rubric_ci.values.json_value import JSON
from rubric_ci.values.llm_calls import AddNote, ModelCall, ModelCaller, ModelReply
from rubric_ci.values.targets import Endpoint
from rubric_ci.values.trace import Trace

_GRACE_SECONDS = 5.0  # the timeout of the request ends a command first
_VERSION_SECONDS = 20.0


def supports(*_: object) -> bool:
    return True


has_entry = supports


async def ask(call: ModelCall) -> ModelReply:
    """Start the command with the prompt and return its reply; raises RequestError."""
    command, login = _startable(call.endpoint)
    known = AGENTS.get(command.cli)
    with _folders(command, login) as (work, home):
        try:
            finished = await processes.run(
                processes.Command(
                    script=_argv(command, home),
                    cwd=work,
                    known=os.environ,
                    added=_environment(command, home, login, os.environ),
                    timeout_seconds=call.endpoint.timeout_seconds + _GRACE_SECONDS,
                    stdin=prompt(call),
                    to_file=known is not None,
                    gives_up=known.gives_up if known else never,
                )
            )
            files = kept(home, known.keeps if known else ())
        except CannotRunScript as error:
            raise RequestError(str(error), retryable=False) from error
    try:
        reply = _read_reply(command, finished, files)
        text = reply.answer if call.output_schema is None else marks(reply.answer)
    except AgentFailed as error:
        raise RequestError(str(error), status=error.status, retryable=error.retryable) from error
    return ModelReply(
        text=text,
        finish=reply.finish,
        usage=usage(reply.input_tokens, reply.output_tokens, reply.cost_usd),
        model=text_of(reply.model),
    )


async def look_up(endpoint: Endpoint) -> Mapping[str, JSON]:
    """Return {} if the command can be started with a credential; raises RequestError."""
    _startable(endpoint)
    return {}


def server_of(endpoint: Endpoint) -> tuple[str, str]:
    """Return the server that a command-line tool asks; of another command it is not known."""
    agent = AGENTS.get(_command_of(endpoint).cli)
    return (agent.host if agent else ""), ""


def version_of(endpoint: Endpoint) -> str:
    """Return the version that a command-line tool prints; "" for a server or another command."""
    command = endpoint.command
    return version_of_cli(command.cli) if command and command.cli else ""


def turn(endpoint: Endpoint) -> AbstractAsyncContextManager[None]:
    """Return a context that holds one of the places for processes of a command."""
    if endpoint.command is None:
        return nullcontext()
    of_loop = _places.setdefault(asyncio.get_running_loop(), {})
    most = endpoint.command.concurrency
    return of_loop.setdefault(endpoint.model, asyncio.Semaphore(most))


def prompt(call: ModelCall) -> str:
    titles = {"assistant": "Your reply was:\n\n"}
    parts = [titles.get(message.role, "") + message.content for message in call.messages]
    return "\n\n".join(parts) + "\n"


def marks(text: str) -> str:
    """Return the last JSON object of a text, or the text; raise AgentFailed for a refusal.

    Text without an object that speaks of a login or a quota is the tool's, not the model's.
    """
    found = last_object(text)
    if not found and is_refusal(text):
        raise failure(text)
    return found or text


def _read_reply(command: JudgeCommand, finished: processes.Finished, files: Files) -> Trace:
    """Return the reply; a status other than 0 is an error, with any text."""
    if agent := AGENTS.get(command.cli):
        reply = agent.read(finished.stdout, finished.stderr, files)
    else:
        reply = Trace(answer=finished.stdout)
    if finished.status:
        raise failure(processes.describe_exit(finished))
    return reply


def noting_login(ask: ModelCaller, add_note: AddNote) -> ModelCaller:
    """Return the caller, which notes the login of a person that a command-line tool uses."""

    async def asked(call: ModelCall) -> ModelReply:
        command = call.endpoint.command
        if command and (place := _startable(call.endpoint)[1].place):
            add_note(f"{command.cli} judges with the login in {place}")
        return await ask(call)

    return asked


def _startable(endpoint: Endpoint) -> tuple[JudgeCommand, Login]:
    """Return the command and its credential; raises RequestError without program or variables."""
    command = _command_of(endpoint)
    _argv(command)
    _environment(command, Path(), Login(), os.environ)
    try:
        return command, login_of(command.cli, command.env, os.environ)
    except NoLogin as error:
        raise _not_started(str(error)) from None


def _argv(command: JudgeCommand, home: Path = Path()) -> tuple[str, ...]:
    """Return the arguments with the path of the program; raises RequestError."""
    argv = _start(command).at(str(home)).argv
    program = shutil.which(argv[0])
    if program is None:
        raise _not_started(f"the program `{argv[0]}` is not on the PATH; install it")
    return (str(Path(program).absolute()), *argv[1:])


def _start(command: JudgeCommand) -> Start:
    agent = AGENTS.get(command.cli)
    return agent.judge(command.model) if agent else Start(argv=command.argv)


def _environment(
    command: JudgeCommand, home: Path, login: Login, environment: Mapping[str, str]
) -> dict[str, str]:
    try:
        given = environment_at(home, command.env, login, environment)
    except CannotRunScript as error:
        raise _not_started(str(error)) from error
    return {**given, **_start(command).at(str(home)).environment}


@contextmanager
def _folders(command: JudgeCommand, login: Login) -> Iterator[tuple[Path, Path]]:
    """Yield an empty working folder and a home folder, outside of every repository."""
    try:
        outside()
    except CannotRunScript as error:
        raise _not_started(str(error)) from None
    with program_folder() as folder:
        work, home = folder / "work", folder / "home"
        work.mkdir()
        home.mkdir()
        furnished(_start(command), home, login.files)
        yield work, home


@cache
def version_of_cli(cli: str) -> str:
    """Return the version that an agent program prints; each is asked once per process."""
    command = JudgeCommand(cli=cli)
    try:
        program = _argv(command)[0]
        with _folders(command, Login()) as (work, home):
            # Not `processes.run`: the key of the cache is made outside of coroutines.
            done = subprocess.run(
                [program, "--version"],
                cwd=work,
                env=_environment(command, home, Login(), {"PATH": os.environ.get("PATH", "")}),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=_VERSION_SECONDS,
                check=False,
            )
    except (RequestError, OSError, subprocess.TimeoutExpired):
        return "unknown"  # nothing is cached under it: the request fails as well
    return f"{cli} {done.stdout.strip()}"


def _command_of(endpoint: Endpoint) -> JudgeCommand:
    assert endpoint.command is not None  # noqa: S101 - models/llm/direct.py asks only for those
    return endpoint.command


def _not_started(message: str) -> RequestError:
    return RequestError(message, retryable=False, billed=False, reached=False)


_places: "WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, asyncio.Semaphore]]" = (
    WeakKeyDictionary()
)
