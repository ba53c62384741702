"""The services that a run starts: one process for each target and side, ended with the run.

`setup` runs once for each side, folder and command. A service that ends is started once more; what
was being asked then has no answer, as the request may have ended it.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from dataclasses import field, replace
from pathlib import Path
from time import monotonic
from typing import Final, TypeAlias

from rubric_ci.errors import CannotAnswer, CannotRunScript, NotCached, NoVerdict, ScriptTimedOut
from rubric_ci.grading.targets.command import probe
from rubric_ci.system import coroutines, file_io, processes
from rubric_ci.system.actions_runner import how_to_set
from rubric_ci.system.processes import Command, clean_environment
from rubric_ci.system.servers import LINES, Line, Server, ServerCommand, Watcher, free_ports
from rubric_ci.text.command_lines_and_variables import filled
from rubric_ci.values.agent_program import ServiceProgram
from rubric_ci.values.context import RunContext
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.hosts import host_of
from rubric_ci.values.targets import Endpoint, Target

MOST_STARTS: Final = 2
_POLL_SECONDS: Final = 0.05
_PROBE_SECONDS: Final = 5.0  # for one reply to `ready`
_SHOWN: Final = 2_000  # characters of an output in a reason

_Place: TypeAlias = tuple[str, str]
"""The name of a target, and the side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A service that got ready, and how it is asked."""

    server: Server
    endpoint: Endpoint
    name: str  # as messages name it
    log: str

    def why_ended(self) -> str:
        """Return how it ended; empty: it runs."""
        status = self.server.status
        if status is None:
            return ""
        return f"{self.name} {_ended(status)}{_said(self.server, self.log)}"


@dataclass(slots=True, kw_only=True)
class _Side:
    """The starts of a service on one side."""

    task: "asyncio.Task[Running] | None" = None
    starts: int = 0
    servers: list[Server] = field(default_factory=list)


class StartedServices:
    """Starts services when they are first asked, and ends them all with the event loop."""

    def __init__(self, folder: Path, root: Path, add_note: Callable[[str], None]) -> None:
        self._logs, self._root, self._add_note = folder / "services", root, add_note
        self._sides: dict[_Place, _Side] = {}
        self._prepared: dict[tuple[Path, Line], asyncio.Task[None]] = {}
        self._ending: AsyncGenerator[None, None] | None = None

    def logging_to(self, folder: Path) -> "StartedServices":
        """Return services whose output is kept in another folder."""
        return StartedServices(folder, self._root, self._add_note)

    async def running(self, target: Target, context: RunContext) -> Running:
        """Return the service of the context's side, started if need be; raises NoVerdict."""
        if not self._sides:
            self._ending = self._until_the_loop_ends()
            await anext(self._ending)
        side = self._sides.setdefault((target.name, _side(context)), _Side())
        if side.task is None or (_has_ended(side.task) and side.starts < MOST_STARTS):
            side.starts += 1
            side.task = coroutines.start_shared(self._start(target, context, side))
        try:
            found = await asyncio.shield(side.task)
        except NoVerdict as error:
            raise type(error)(str(error)) from None
        if why := found.why_ended():
            raise CannotAnswer(why)
        return found

    async def _until_the_loop_ends(self) -> AsyncGenerator[None, None]:
        """End all services with the event loop, which closes this generator."""
        try:
            yield
        finally:
            self.close()

    def has_failed(self, name: str) -> bool:
        """Return True if the service of this name did not get ready at the head."""
        side = self._sides.get((name, "head"))
        if side is None or side.task is None or not side.task.done() or side.task.cancelled():
            return False
        return isinstance(side.task.exception(), NoVerdict)

    async def gets_ready(self, target: Target, context: RunContext) -> bool:
        """Return True for a service that gets ready on the context's side, started if need be."""
        if target.program is None:
            return False
        with suppress(NoVerdict):
            await self.running(target, context)
            return True
        return False

    def close(self) -> None:
        """End all services; may be called again."""
        sides, self._sides, self._prepared = self._sides, {}, {}
        servers = [(server, place) for place, side in sides.items() for server in side.servers]
        try:
            for server, place in servers:
                self._stop(server, *place)
        finally:
            for server, _ in servers:  # after a second Ctrl-C as well
                server.stop()

    def _stop(self, server: Server, name: str, side: str) -> None:
        if problem := server.stop():
            self._add_note(f"The service `{name}` ({side}): {problem}")

    async def _start(self, target: Target, context: RunContext, side: _Side) -> Running:
        program, written = target.program, target.endpoint
        assert program  # noqa: S101 - only such services come here
        assert written  # noqa: S101 - as above
        name = f"the service `{target.name}` ({_side(context)})"
        _check_variables(program, context, name)
        for ended in side.servers:
            await asyncio.to_thread(self._stop, ended, target.name, _side(context))
        side.servers.clear()
        root = context.side.root() if context.side.root else context.root
        ports = dict(zip(program.ports, map(str, free_ports(len(program.ports))), strict=True))
        values = {**ports, "SIDE": _side(context)}
        environment = clean_environment(context.environment, program.env) | values
        log = self._log(target.name, _side(context), is_first=side.starts == 1)
        await self._set_up(program, root / program.cwd, values, context, name)
        server = Server(
            ServerCommand(
                start=_line(program.start, values),
                stop=_line(program.stop, values),
                cwd=root / program.cwd,
                environment=environment,
                log=log,
            )
        )
        side.servers.append(server)
        if problem := await _not_ready(server, program, values):
            said = _said(server, str(log))
            await asyncio.to_thread(self._stop, server, target.name, _side(context))
            raise CannotAnswer(f"{name} {problem}{said}")
        endpoint = _resolved(written, values)
        return Running(server=server, endpoint=endpoint, name=name, log=str(log))

    def _log(self, name: str, side: str, *, is_first: bool) -> Path:
        """Return the file of the output, empty at the first start."""
        plain = re.sub(r"[^\w.-]", "_", name)
        path = self._logs / f"{plain}-{side}.log"
        file_io.check_place(path, self._root)
        try:
            file_io.create_folder(path.parent)
            if is_first:
                file_io.empty_file(path)
        except OSError as error:
            self._add_note(f"The output of the service `{name}` is not kept: {error.strerror}")
        return path

    async def _set_up(
        self,
        program: ServiceProgram,
        cwd: Path,
        values: dict[str, str],
        context: RunContext,
        name: str,
    ) -> None:
        """Run `setup`, once for each folder; raises CannotAnswer."""
        if not program.setup:
            return
        place = cwd, program.setup
        if place not in self._prepared:
            command = Command(
                script=_line(program.setup, values),
                cwd=cwd,
                known=context.environment,
                env=program.env,
                added=values,
                timeout_seconds=program.setup_seconds,
            )
            self._prepared[place] = coroutines.start_shared(_set_up(command, name))
        await asyncio.shield(self._prepared[place])


def _check_variables(program: ServiceProgram, context: RunContext, name: str) -> None:
    """Raise NotCached for a variable that is missing, as in a pull request of a fork."""
    for each in program.env:
        if each not in context.environment:
            advice = how_to_set(each, context.environment)
            why = f"the environment variable `{each}`, named in `env`, is not set"
            raise NotCached(f"{name} was not started: {why}{advice and f'; {advice}'}")


async def _set_up(command: Command, name: str) -> None:
    watcher = Watcher("", command.cwd, command.environment)
    try:
        finished = await processes.run(replace(command, begun=watcher.watch))
    except ScriptTimedOut as stopped:
        said = _tail(stopped.complained or stopped.printed)
        limit = f"`setup` did not end within {stopped.seconds:g} s (`setup_seconds`)"
        raise CannotAnswer(f"{name}: {limit} and was killed{said}") from None
    except CannotRunScript as error:
        raise CannotAnswer(f"{name}: `setup`: {error}") from None
    finally:
        watcher.dismiss()
    if finished.status:
        said = _tail(finished.stderr.strip() or finished.stdout)
        missing = processes.missing_variables(finished)
        raise CannotAnswer(f"{name}: `setup` ended with {_status(finished.status)}{missing}{said}")


def _line(line: Line, values: dict[str, str]) -> Line:
    if isinstance(line, str):
        return filled(line, values)
    return tuple(filled(word, values) for word in line)


def _side(context: RunContext) -> str:
    return "base" if context.side.is_base else "head"


def _has_ended(task: "asyncio.Task[Running]") -> bool:
    """Return True for a service that got ready and ended since."""
    ready = task.done() and not task.cancelled() and task.exception() is None
    return ready and task.result().server.status is not None


def _resolved(endpoint: Endpoint, values: dict[str, str]) -> Endpoint:
    """Return the endpoint at the port that was chosen."""
    assert endpoint.http is not None  # noqa: S101 - a service has it
    url = filled(endpoint.options["api_base"], values)
    own = host_of(url) == f"127.0.0.1:{values['PORT']}"  # any other host needs to be allowed
    http = replace(endpoint.http, is_started=own)
    return replace(endpoint, options={**endpoint.options, "api_base": url}, http=http)


async def _not_ready(server: Server, program: ServiceProgram, values: dict[str, str]) -> str:
    deadline = monotonic() + program.ready_seconds
    while True:
        problem = await _problem(program, values)
        if server.status is not None:
            return _ended(server.status, " before it was ready")
        if not problem:
            return ""
        if monotonic() >= deadline:
            return f"was not ready within {program.ready_seconds:g} s: {problem}"
        await asyncio.sleep(_POLL_SECONDS)


async def _problem(program: ServiceProgram, values: dict[str, str]) -> str:
    port = values["PORT"]
    try:
        async with asyncio.timeout(_PROBE_SECONDS):
            _, writer = await asyncio.open_connection("127.0.0.1", int(port))
    except (OSError, TimeoutError):
        return f"nothing accepts a connection on port {port}; does it listen on {{PORT}}?"
    writer.close()
    if not program.ready:
        return ""
    path = filled(program.ready, values)
    return await probe(f"http://127.0.0.1:{port}{path}", _PROBE_SECONDS, direct=True)


def _ended(status: int, when: str = "") -> str:
    ended = f"ended with {_status(status)}{when}"
    return ended if status else f"{ended}; `start` must stay in the foreground"


def _status(status: int) -> str:
    return f"signal {-status}" if status < 0 else f"exit status {status}"


def _said(server: Server, log: str) -> str:
    """Return the last lines of the output, and where all of it is."""
    return f"{_tail(server.last_lines) or ', no output'}\n(log: {log})"


def _tail(output: str) -> str:
    lines = "\n".join(output.strip().splitlines()[-LINES:])[-_SHOWN:]
    return f"; its last lines:\n{lines}" if lines else ""
