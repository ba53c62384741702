"""Build the way to ask a model: live within its caps, recorded or replayed; and a memory."""

from pathlib import Path

from rubric_ci.errors import NotAsked
from rubric_ci.llm import batch as batch_module
from rubric_ci.llm import recording
from rubric_ci.llm.budget import Caps
from rubric_ci.llm.cache import Cache
from rubric_ci.llm.client import connect
from rubric_ci.model.context import JudgementCache
from rubric_ci.model.llm_calls import Ask, ModelCall, ModelReply
from rubric_ci.model.options import (
    CalibrateSettings,
    GenerateSettings,
    JudgeCheckSettings,
    RunSettings,
)

NO_CAPS = Caps()


def build_model_caller(
    *,
    record_to: Path | None,
    replay_from: Path | None,
    concurrency: int,
    caps: Caps = NO_CAPS,
    offline: bool = False,
    batch: batch_module.Tell | None = None,
) -> Ask:
    """Answer from a recording, or ask the model and keep what it says where that is wanted.

    `batch`: ask in batches, and hear how they are getting on.
    """
    if replay_from:
        ask = recording.replay(replay_from)
    elif offline:
        ask = _not_asked
    elif batch:
        ask = batch_module.connect(caps=caps, tell=batch)
    else:
        ask = connect(concurrency=concurrency, caps=caps)
    return recording.record(ask, record_to) if record_to else ask


async def _not_asked(call: ModelCall) -> ModelReply:
    raise NotAsked(f"{call.about or call.endpoint.model}: offline and not in the cache")


def build_cache(settings: RunSettings | GenerateSettings) -> JudgementCache | None:
    """Remember judgements, except where a recording has to hold all or give all of them."""
    if settings.record or settings.replay or not settings.cache:
        return None
    cache = Cache(settings.cache_dir)
    cache.prepare()
    return cache


def caps_of(
    settings: RunSettings | GenerateSettings | CalibrateSettings | JudgeCheckSettings,
) -> Caps:
    """Return what a command may spend."""
    return Caps(
        calls=settings.max_calls, cost_usd=settings.max_cost_usd, seconds=settings.max_seconds
    )
