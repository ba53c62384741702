"""The images and documents that a judge is shown, and notes on those that it is not shown."""

from collections.abc import Sequence
from functools import partial

from rubric_ci.errors import CannotJudge
from rubric_ci.models.judge.prompt import Shown, nothing
from rubric_ci.system.model_list import model_info
from rubric_ci.values.config import JudgeConfig
from rubric_ci.values.media import Media
from rubric_ci.values.model_end_and_parameters import takes
from rubric_ci.values.targets import Endpoint


def shown_to(judge: JudgeConfig) -> Shown:
    if judge.images == "off":
        return nothing
    return partial(takes_media, judge.endpoint)


def takes_media(endpoint: Endpoint, media: Media) -> bool:
    """Return True if a model is sent a file; one that is not listed is, and may refuse it."""
    if endpoint.command or endpoint.http:  # gets a text
        return False
    info = model_info(endpoint.model)
    return takes(media.kind, endpoint.model, endpoint.options, info) is not False


def unseen(judges: Sequence[JudgeConfig], media: Sequence[Media]) -> tuple[str, ...]:
    """Return a warning per judge that is not shown all; raises CannotJudge if it must be."""
    found = []
    for judge in judges if media else ():
        shown = shown_to(judge)
        if hidden := [each for each in media if not shown(each)]:
            name = judge.endpoint.model
            kinds = " and ".join(sorted({f"{each.kind}s" for each in hidden}, reverse=True))
            if judge.images == "required":
                raise CannotJudge(
                    f"{name} takes no {kinds}, and `judge.images` is `required`; choose a model "
                    "that does"
                )
            paths = ", ".join(f"`{each.path}`" for each in hidden)
            why = "`judge.images` is `off`" if judge.images == "off" else f"it takes no {kinds}"
            found.append(f"{name} did not see {paths}: {why}")
    return tuple(found)
