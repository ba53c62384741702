"""Agents: a program works in a fresh folder or container, and reports what it did."""

import asyncio
import os
import shutil
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Final

from rubric_ci.errors import CannotAnswer, NoVerdict, ScriptTimedOut, TargetBusy
from rubric_ci.grading.targets import command, conversation
from rubric_ci.grading.targets.answer_format import answer_of, did, read_trace, timed_out
from rubric_ci.grading.targets.call_spelling import Spelling, server_spellings
from rubric_ci.models.agents import AGENTS
from rubric_ci.models.agents.logins import Login, NoLogin, environment_at, furnished, kept, login_of
from rubric_ci.models.agents.program import Files
from rubric_ci.parts.agents.work import (
    DIFF,
    INPUTS,
    check_files,
    listed,
    media_left,
    put_inputs,
    run_commands,
    without_inputs,
    work_left,
)
from rubric_ci.parts.agents.workspace import Folders, Workspaces
from rubric_ci.parts.agents.workspace_programs import run_hook
from rubric_ci.system import container_engine, processes
from rubric_ci.system.backoff import Backoff
from rubric_ci.system.processes import Command, Finished
from rubric_ci.system.scratch import VARIABLE, variables
from rubric_ci.text import numbers
from rubric_ci.text.command_lines_and_variables import filled
from rubric_ci.values.agent_program import AgentProgram
from rubric_ci.values.context import RunContext
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.results import Answer
from rubric_ci.values.targets import CliTarget
from rubric_ci.values.trace import Trace
from rubric_ci.values.usage import NOTHING_USED
from rubric_ci.values.workspace_settings import Workspace

BACKOFF = Backoff(attempts=3, first_wait=2.0)
"""Of an agent that is started again: a server counts its requests by the minute."""


async def answer(
    case: EvalCase, target: CliTarget, context: RunContext, attempt: int, workspaces: Workspaces
) -> Answer:
    """Let an agent or a command work in its workspace; raises NoVerdict without an answer.

    An agent whose server is busy is started again, in a fresh workspace; each start counts.
    """
    used = NOTHING_USED
    for number in count(1):
        try:
            given = await _once(case, target, context, attempt, workspaces)
        except TargetBusy as error:
            used += error.usage
            restarts = target.agent is not None and AGENTS[target.agent.name].restarts
            wait = BACKOFF.wait_after(number) if restarts else None
            if wait is None:
                raise error.with_usage(used) from None
            await asyncio.sleep(wait)
        except NoVerdict as error:
            raise error.with_usage(used + error.usage) from None
        else:
            return replace(given, usage=used + given.usage) if number > 1 else given
    raise AssertionError("unreachable: the last attempt returns or raises")


async def _once(
    case: EvalCase, target: CliTarget, context: RunContext, attempt: int, workspaces: Workspaces
) -> Answer:
    async with workspaces.opened(case, target, context) as folders:
        session = Session(case, target.agent)
        await asyncio.to_thread(put_inputs, case, folders.work)

        async def turn(one: EvalCase) -> Answer:
            if target.agent:
                return await _run(one, target, target.agent, context, folders, session)
            names = (*target.env, VARIABLE)
            confine = partial(
                confined_argv, target=target, folders=folders, names=names, context=context
            )
            return await command.answer(one, target, context, attempt, folders.work, confine)

        talk = conversation.answer(case, context, turn) if case.most_turns else turn(case)
        try:
            try:
                given = await talk
            finally:  # the container that gave the answer, if there is one
                if target.workspace and target.workspace.container:
                    await remove_container(folders, context.environment)
        except NoVerdict as error:
            raise error.after(await _left_behind(error.did, target, folders)) from None
        done = await _with_work(given, case, target, folders, context)
        return session.told(done)


class Session:
    """The session of an agent over the turns of a conversation, where it can resume one."""

    def __init__(self, case: EvalCase, agent: AgentProgram | None) -> None:
        self.agent = agent if case.most_turns else None
        resumes = self.agent is not None and AGENTS[self.agent.name].resumes
        self.id: str | None = "" if resumes else None  # None: it has none, "": it begins
        self._used: dict[str, float] = {}  # figures before this turn

    def asked(self, case: EvalCase) -> EvalCase:
        """Return the case of a turn, without the messages that a session already has."""
        return replace(case, input_messages=case.input_messages[-1:]) if self.id else case

    def own(self, trace: Trace) -> Trace:
        """Return the work of a turn with its own figures, and keep the session for the next one."""
        if self.agent is None or self.id is None:
            return trace
        names = AGENTS[self.agent.name].adds_up
        used = {name: getattr(trace, name) or 0 for name in names}
        before, self._used, self.id = self._used, used, trace.session
        rest: dict[str, Any] = {name: used[name] - before.get(name, 0) for name in names}
        return replace(trace, **rest)

    def told(self, given: Answer) -> Answer:
        """Return the answer of a conversation with how its turns were asked."""
        if self.agent is None or given.work is None:
            return given
        how = "the turns are one session"
        if self.id is None:
            how = f"each turn got the texts before it: {self.agent.name} resumes no session"
        return replace(given, work=replace(given.work, notes=(*given.work.notes, how)))


async def with_workspace(
    given: Answer, case: EvalCase, name: str, context: RunContext, workspaces: Workspaces
) -> Answer:
    """Return the answer of a model with the workspace of the case, in which nothing happened."""
    target = CliTarget(name=name, workspace=case.workspace)
    async with workspaces.opened(case, target, context) as folders:
        return await _with_work(given, case, target, folders, context)


async def _run(
    case: EvalCase,
    target: CliTarget,
    agent: AgentProgram,
    context: RunContext,
    folders: Folders,
    session: Session,
) -> Answer:
    known = AGENTS[agent.name]
    login = _login(target, agent, context)

    def start(dollars: float | None) -> tuple[tuple[str, ...], Mapping[str, str]]:
        settings = _settings(agent, dollars, _repositories(target, folders))
        made = furnished(known.work(settings, session.id), folders.home, login.files)
        own = environment_at(folders.home, target.env, login, context.environment)
        given = {**own, **made.environment, **variables(folders.home)}
        argv = confined_argv(
            made.argv, target=target, folders=folders, names=given, context=context
        )
        return argv, given

    servers = server_spellings(agent.mcp_servers, known.server_tools)
    spelling = Spelling(places={folders.work: ".", folders.home: "~"}, servers=servers)

    async def begin(dollars: float | None) -> Answer:
        argv, environment = start(dollars)
        line = Command(
            script=argv,
            cwd=folders.work,
            known=context.environment,
            added=environment,
            timeout_seconds=target.timeout_seconds,
            stdin=prompt(session.asked(case)),
            to_file=True,
            gives_up=lambda printed: known.gives_up(printed) or _is_over(agent, printed),
        )
        try:
            finished = await processes.run(line)
        except ScriptTimedOut as stopped:
            raise timed_out(stopped, target, agent.name, spelling) from None
        files = await asyncio.to_thread(kept, folders.home, known.keeps)
        try:
            trace = session.own(_trace(finished, files, target, agent))
            return answer_of(trace, finished, spelling, target)
        except CannotAnswer as error:
            done = did(agent.name, finished.stdout, finished.stderr, spelling)
            raise error.after(done) from None

    start(None)  # what cannot be started costs nothing
    return await command.started(target, context, begin)


def _settings(
    agent: AgentProgram, dollars: float | None, repositories: tuple[str, ...]
) -> AgentProgram:
    """Return the program with the dollars that are left, and the right to commit."""
    known = AGENTS[agent.name]
    own = capped(agent, dollars) if known.cap else agent
    return replace(own, args=(*known.writes(repositories), *own.args)) if repositories else own


def _repositories(target: CliTarget, folders: Folders) -> tuple[str, ...]:
    sources = target.workspace.sources if target.workspace else ()
    names = ((Path(source.into) / ".git").as_posix() for source in sources)
    return tuple(name for name in names if (folders.work / name).is_dir())


def _is_over(agent: AgentProgram, printed: bytes) -> bool:
    """Return True if a program that does not limit its turns goes on after the most."""
    turns, most = AGENTS[agent.name].turns, agent.max_turns
    return turns is not None and most is not None and turns(printed) >= most


def capped(agent: AgentProgram, dollars: float | None) -> AgentProgram:
    """Return the program with the lower of its limit and the dollars that are left."""
    limits = [each for each in (agent.max_cost_usd, dollars) if each is not None]
    return replace(agent, max_cost_usd=round(min(limits), 4)) if limits else agent


async def _with_work(
    given: Answer, case: EvalCase, target: CliTarget, folders: Folders, context: RunContext
) -> Answer:
    """Return the answer with the files that are left in the workspace."""
    settings = target.workspace or Workspace()
    sandbox = Path(settings.sandbox[0]).name if settings.sandbox else settings.container
    work = await asyncio.to_thread(work_left, folders.before, folders.work, settings.keep, sandbox)
    media = await asyncio.to_thread(media_left, folders.work, settings.keep)
    work = replace(without_inputs(work, case), files=(*work.files, *map(listed, media)))
    last, run = settings.hooks.after_each, folders.run
    failed = await run_hook("after_each", last, folders.work, case, context, run=run)
    checks = await asyncio.to_thread(check_files, case, folders.work, work.changes)
    checks += await run_commands(case, folders.work, folders.home, context)
    kept = work.changes if DIFF in settings.keep else ()
    return replace(
        given,
        work=replace(
            work, changes=kept, checks=checks, notes=(*work.notes, *filter(None, [failed]))
        ),
        media=(*given.media, *media),
        folder=str(folders.work) if case.looks_in_workspace else "",
    )


async def _left_behind(done: Answer | None, target: CliTarget, folders: Folders) -> Answer | None:
    """Return the work of an agent that failed, with its changes; None: it did nothing."""
    settings = target.workspace or Workspace()
    try:
        work = await asyncio.to_thread(work_left, folders.before, folders.work, settings.keep)
    except CannotAnswer:  # too much is left
        return done
    if not work.changes:
        return done
    kept = work.changes if DIFF in settings.keep else ()
    return replace(done or Answer(text=""), work=replace(work, changes=kept))


def confined_argv(
    argv: tuple[str, ...],
    target: CliTarget,
    folders: Folders,
    names: Iterable[str],
    context: RunContext,
) -> tuple[str, ...]:
    """Return the command line behind the sandbox, if there is one; raises CannotAnswer.

    `names` are the variables that a container gets.
    """
    settings = target.workspace or Workspace()
    if settings.container:
        return (*container_prefix(settings.container, folders, names, context.environment), *argv)
    prefix = settings.sandbox
    for name in (*prefix[:1], *argv[:1]):
        if shutil.which(name) is None:
            raise CannotAnswer(f"the program `{name}` is not on the PATH; install it")
    places = {"WORKSPACE": str(folders.work), "HOME": str(folders.home)}
    return (*(filled(word, places) for word in prefix), *argv)


def prompt(case: EvalCase) -> str:
    """Return an agent's prompt: guidelines and system messages, then the question."""
    where = (
        f"The images and documents in brackets are files below `{INPUTS}`." if case.media else ""
    )
    parts = (command.guidelines(case), case.question, where)
    return "\n\n".join(part for part in parts if part) + "\n"


def _login(target: CliTarget, agent: AgentProgram, context: RunContext) -> Login:
    try:
        return login_of(agent.name, target.env, context.environment, server=agent.base_url)
    except NoLogin as error:
        raise CannotAnswer(f"the target `{target.name}`: {error}") from None


def _trace(finished: Finished, files: Files, target: CliTarget, agent: AgentProgram) -> Trace:
    """Return the agent's report; raises CannotAnswer for a failure, and after the most turns."""
    if _is_over(agent, finished.stdout.encode()):
        turns = numbers.plural(agent.max_turns or 0, "turn")
        ended = f"was ended after {turns}, the limit in `max_turns`"
        raise CannotAnswer(f"the target `{target.name}` {ended}")
    return read_trace(agent.name, finished.stdout, finished.stderr, target, files)


_LIMITS: Final = ("--cap-drop=all", "--security-opt=no-new-privileges", "--pids-limit=512")


def container_prefix(
    image: str, folders: Folders, names: Iterable[str], environment: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the command line in front of the target's; raises CannotAnswer without an engine.

    It gets the variables `names` by name: their values would be in the list of processes.
    """
    engine = container_engine.engine(environment)
    if not engine:
        raise CannotAnswer(f"`sandbox: {{container: …}}` {container_engine.NEEDED}")
    places = (str(folders.work), str(folders.home))
    homes = (f"{name}={places[1]}" for name in ("HOME", "TMPDIR"))
    return (
        *(*engine, "run", "--rm", "--interactive", "--name", _container_name(folders), *_LIMITS),
        *_container_user(engine[-1]),
        *(word for place in places for word in ("--volume", f"{place}:{place}")),
        *(word for name in (*homes, *container_engine.passed(names)) for word in ("--env", name)),
        *("--workdir", places[0], image),
    )


async def remove_container(folders: Folders, environment: Mapping[str, str]) -> None:
    await container_engine.remove(_container_name(folders), folders.work, environment)


def _container_user(engine: str) -> tuple[str, ...]:
    if sys.platform == "win32":
        return ()
    user = f"--user={os.getuid()}:{os.getgid()}"
    return (user, "--userns=keep-id") if engine == "podman" and os.getuid() else (user,)


def _container_name(folders: Folders) -> str:
    """Return a name that no other trial has: the name of its folder."""
    return folders.work.parents[1].name
