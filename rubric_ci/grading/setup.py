"""Build what a run needs of the outside: model requests, judgement cache, run context."""

from collections.abc import Mapping
from pathlib import Path

from rubric_ci.errors import NotAsked
from rubric_ci.llm import batch as batch_module
from rubric_ci.llm import recording
from rubric_ci.llm.budget import Caps
from rubric_ci.llm.cache import Cache
from rubric_ci.llm.client import connect
from rubric_ci.model.config import Config
from rubric_ci.model.context import JudgementCache, RunContext
from rubric_ci.model.llm_calls import Ask, ModelCall, ModelReply
from rubric_ci.model.options import CacheOptions, RequestOptions


def build_context(
    root: Path,
    config: Config,
    requests: RequestOptions,
    environment: Mapping[str, str],
    *,
    cache: CacheOptions | None = None,
    offline: bool = False,
    batch: batch_module.Tell | None = None,
) -> RunContext:
    """Build the context that targets and evaluators run with."""
    return RunContext(
        call_model=build_model_caller(requests, offline=offline, batch=batch),
        cache=build_cache(requests, cache) if cache else None,
        root=root,
        environment=environment,
        judge=config.judge,
        thresholds=config.gate.thresholds,
    )


def build_model_caller(
    requests: RequestOptions,
    *,
    offline: bool = False,
    batch: batch_module.Tell | None = None,
) -> Ask:
    """Return the function that requests a model: replayed, offline, batched or live.

    `batch` receives the progress of batches.
    """
    if requests.replay:
        ask = recording.replay(requests.replay)
    elif offline:
        ask = _not_asked
    elif batch:
        ask = batch_module.connect(caps=caps_of(requests), tell=batch)
    else:
        ask = connect(concurrency=requests.concurrency, caps=caps_of(requests))
    return recording.record(ask, requests.record) if requests.record else ask


async def _not_asked(call: ModelCall) -> ModelReply:
    raise NotAsked(f"{call.about or call.endpoint.model}: offline, and nothing is remembered")


def build_cache(requests: RequestOptions, options: CacheOptions) -> JudgementCache | None:
    """Return the judgement cache; None while recording or replaying: a recording is complete."""
    if requests.record or requests.replay or not options.enabled:
        return None
    cache = Cache(options.folder)
    cache.prepare()
    return cache


def caps_of(requests: RequestOptions) -> Caps:
    """Return the caps on model requests."""
    return Caps(
        calls=requests.max_calls, cost_usd=requests.max_cost_usd, seconds=requests.max_seconds
    )
