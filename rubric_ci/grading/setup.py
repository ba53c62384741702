"""Build what a run needs of the outside: model requests, judgement cache, run context."""

import hashlib
import json
import sys
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from secrets import token_bytes
from typing import Any, Final

from rubric_ci.errors import CannotReachModel, CannotUseGit, NotCached
from rubric_ci.files.parsing.env_vars import credential
from rubric_ci.files.project.working_tree import find_root
from rubric_ci.github.actions import read_event
from rubric_ci.grading.targets.started_services import StartedServices
from rubric_ci.models.llm import cache_and_recording
from rubric_ci.models.llm.allowed_hosts import guard, refusal
from rubric_ci.models.llm.budget import Budget, Caps
from rubric_ci.models.llm.cache_and_recording import Cache, log_requests
from rubric_ci.models.llm.client import CircuitBreaker, batches, connect
from rubric_ci.models.llm.model_info import prices_of
from rubric_ci.models.llm.responders import ModelChecks, Responders, entry_of, send_preflight
from rubric_ci.system import output_and_masking
from rubric_ci.system.actions_runner import in_workflow
from rubric_ci.system.git.plumbing import first_tracked
from rubric_ci.system.model_list import known_models
from rubric_ci.values.command_settings import CacheOptions, RequestOptions
from rubric_ci.values.config import Config
from rubric_ci.values.context import Allowance, Findings, JudgementCache, RunContext
from rubric_ci.values.formats_and_defaults import OUTPUT_DIR
from rubric_ci.values.hosts import AllowedHosts
from rubric_ci.values.llm_calls import AddNote, ModelCall, ModelCaller, ModelReply
from rubric_ci.values.targets import Endpoint

CACHE_KEY: Final = "RUBRIC_CI_CACHE_KEY"
TEMPORARY: Final = frozenset({"AWS_SESSION_TOKEN", "AZURE_AD_TOKEN"})
"""Variables of credentials that login actions create for each job."""


def build_context(
    root: Path,
    config: Config,
    requests: RequestOptions,
    environment: Mapping[str, str],
    *,
    cache: CacheOptions | None = None,
    batch: Callable[[str], None] | None = None,
    hosts: AllowedHosts | None = None,
) -> RunContext:
    """Build the context that targets and evaluators run with; hosts None: all are allowed."""
    notes, note = _notes()
    breaker, responders = CircuitBreaker(), Responders(note)
    kept = build_cache(requests, cache) if cache else None
    budget = Budget(caps_of(requests), batches().prices if batch else prices_of, add_note=note)
    replayed = cache_and_recording.replay(requests.replay, root) if requests.replay else None
    sent: ModelCaller = replayed.ask if replayed else _not_asked
    if requests.live:
        live = (
            partial(batches().connect, notify=batch, cache=kept)
            if batch
            else partial(connect, concurrency=requests.concurrency, breaker=breaker)
        )
        sent = live(budget=budget, add_note=note)
    ask = _checked(sent, note, hosts if requests.live else None)
    ask = log_requests(ask, sys.stderr) if requests.debug else ask
    # The preflight is part of a run, not of its recording.
    preflight = _preflight(ask, breaker, note, hosts) if requests.live and not batch else None
    written = cache_and_recording.record(requests.record, root) if requests.record else None
    return RunContext(
        call_model=responders.wrap(written.wrap(ask) if written else ask),
        allowance=Allowance(
            spend=budget.start,
            spent=budget.used,
            needs_prices=requests.max_cost_usd is not None and requests.live,
            max_seconds=requests.max_seconds,
            unreachable=breaker.why_closed,
            preflight=preflight,
        ),
        found=Findings(notes=notes, responders=responders.list),
        cache=kept,
        recording=replayed or written,
        services=StartedServices(Path(OUTPUT_DIR), root, note),
        root=root,
        environment=environment,
        judge=config.judge,
        hosts=hosts,
        offline=requests.offline,
        thresholds=config.gate.thresholds,
    )


def _notes() -> tuple[list[str], AddNote]:
    """Return a list of notes, and what adds a note that it lacks."""
    notes: list[str] = []

    def add(note: str) -> None:
        if note not in notes:
            notes.append(note)

    return notes, add


def _preflight(
    ask: ModelCaller, breaker: CircuitBreaker, add_note: AddNote, hosts: AllowedHosts | None
) -> Callable[[Endpoint], Coroutine[Any, Any, None]]:
    """Return a callback that closes the circuit of a model that cannot be reached."""

    async def check(endpoint: Endpoint) -> None:
        if hosts and refusal(endpoint, hosts):
            return  # nothing is sent there; the request itself has the reason
        try:
            entry = await entry_of(endpoint)
        except CannotReachModel as error:
            breaker.close(endpoint, str(error))
            return
        if entry is None:
            await send_preflight(endpoint, ask)
        else:
            ModelChecks(add_note, known_models().today).read_entry(endpoint, entry)

    return check


def _checked(ask: ModelCaller, note: AddNote, hosts: AllowedHosts | None) -> ModelCaller:
    """Return the caller, which replaces secrets before a reply is recorded, cached or used.

    `note` receives what the report must mention of the model.
    """
    ask = ModelChecks(note, known_models().today).wrap(ask)
    ask = guard(ask, hosts) if hosts else ask

    async def asked(call: ModelCall) -> ModelReply:
        reply = await ask(call)
        text = output_and_masking.redact(reply.text)
        calls = output_and_masking.redacted(reply.calls) if reply.calls else ()
        if text == reply.text and calls == reply.calls:
            return reply
        return replace(reply, text=text, calls=calls)

    return asked


async def _not_asked(call: ModelCall) -> ModelReply:
    raise NotCached(f"{call.about or call.endpoint.model}: offline and not in the cache")


def uses_cache(requests: RequestOptions, options: CacheOptions) -> bool:
    """Return False while recording or replaying: a recording is complete."""
    return options.enabled and not (requests.record or requests.replay)


def readable_cache(
    requests: RequestOptions, options: CacheOptions, config: Config, environment: Mapping[str, str]
) -> tuple[CacheOptions, str]:
    """Return the cache options to use, and why the cache folder is not read; empty: it is."""
    if not uses_cache(requests, options):
        return options, ""
    if unread := why_unread(options.folder, environment):
        return replace(options, enabled=False), unread
    if key := environment.get(CACHE_KEY):
        return _sealed(options, {CACHE_KEY: key}, environment)
    judges = config.judge.endpoints if config.judge else ()
    if any(each.identity for each in judges):
        return _sealed(options, {}, environment)
    return _sealed(options, credential(config, environment), environment)


def _sealed(
    options: CacheOptions, known: Mapping[str, str], environment: Mapping[str, str]
) -> tuple[CacheOptions, str]:
    """Return the options with the key of the entries, and why earlier entries are not read.

    A script of an earlier commit can leave entries that a workflow saves and restores, but it does
    not have the judge's credential, nor the secret that is set in its place. A credential that is
    new in each run seals nothing for the next.
    """
    if known.keys().isdisjoint(TEMPORARY) and known:
        return replace(options, seal=hashlib.sha256(json.dumps(known).encode()).digest()), ""
    if not in_workflow(environment):
        return options, ""
    left = any(options.folder.glob("??/*.json"))
    event = read_event(environment)
    fix = (event and event.without_secrets) or f"set the variable {CACHE_KEY} to a secret"
    note = (
        f"The cache {options.folder.as_posix()} was not read: a workflow trusts the entries of "
        f"earlier runs by the judge's credential, and this run has none that lasts; {fix}"
    )
    return replace(options, seal=token_bytes(32)), note if left else ""


def why_unread(folder: Path, environment: Mapping[str, str]) -> str:
    """Return why a cache folder is not read; empty: it is read.

    Files that git tracks may come with the change that is graded, and so would its judgements.
    """
    name = folder.as_posix()
    try:
        tracked = first_tracked(folder, environment)
    except CannotUseGit as error:
        reason = f"{error.message}; check that git can read the checkout"
    else:
        if tracked is None:
            return ""
        reason = f"git tracks {tracked} in it; run `git rm -r --cached {name}` and commit"
    return f"The cache {name} was not read: {reason}, or set RUBRIC_CI_CACHE_DIR to another folder"


def build_cache(requests: RequestOptions, options: CacheOptions) -> JudgementCache | None:
    """Return the judgement cache; None while recording or replaying."""
    if not uses_cache(requests, options):
        return None
    cache = Cache(options.folder, options.seal, find_root(Path.cwd()))
    cache.prepare()
    return cache


def caps_of(requests: RequestOptions) -> Caps:
    return Caps(
        calls=requests.max_calls, cost_usd=requests.max_cost_usd, seconds=requests.max_seconds
    )
