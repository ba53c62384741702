"""Build the way to ask a model: live within its caps, recorded or replayed; and a memory."""

from collections.abc import Mapping
from pathlib import Path

from rubric_ci.errors import CannotUseGit, NotAsked
from rubric_ci.git.committed import first_tracked
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


def uses_cache(settings: RunSettings | GenerateSettings) -> bool:
    """Return False where a recording has to hold every reply, or gives all of them."""
    return settings.cache and not (settings.record or settings.replay)


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
    return f"The cache {name} was not read: {reason}, or set --cache-dir to another folder"


def build_cache(settings: RunSettings | GenerateSettings) -> JudgementCache | None:
    """Remember judgements, except where a recording has to hold all or give all of them."""
    if not uses_cache(settings):
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
