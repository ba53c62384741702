"""Build the way to ask a model: live, recorded or replayed."""

from pathlib import Path

from rubric_ci import recordings
from rubric_ci.model.exchange import Ask, ModelCall, ModelReply


def build_ask(*, record_to: Path | None, replay_from: Path | None) -> Ask:
    """Answer from a recording, or ask the model and keep what it says where that is wanted."""
    ask = recordings.replay(replay_from) if replay_from else _live
    return recordings.record(ask, record_to) if record_to else ask


async def _live(call: ModelCall) -> ModelReply:
    from rubric_ci import llm

    return await llm.complete(call)
