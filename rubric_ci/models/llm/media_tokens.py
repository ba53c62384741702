"""How many tokens images and documents count as, by the formulas that providers publish."""

from collections.abc import Iterable
from math import ceil
from typing import Final

from rubric_ci.values.media import Media

_TILES: Final = {  # tokens of an image, and of each tile of 512 pixels
    "gpt-4o-mini": (2833, 5667),
    "gpt-4o": (85, 170),
    "gpt-4.1": (85, 170),
    "gpt-4.5": (85, 170),
    "gpt-5": (70, 140),
    "o1": (75, 150),
    "o3": (75, 150),
}
_PATCHES: Final = {  # tokens of each patch of 32 pixels, and how many patches there are at most
    "gpt-4.1-mini": (1.62, 1536),
    "gpt-4.1-nano": (2.46, 1536),
    "gpt-5-mini": (1.62, 1536),
    "gpt-5-nano": (2.46, 1536),
    "o4-mini": (1.72, 1536),
}
_NEWER: Final = (1.2, 10_000)
_CLAUDE: Final = 4784  # tokens of an image at most; one of 750 pixels each
_GEMINI: Final = 1120  # tokens of an image, from Gemini 3 on
_PAGE: Final = {"gemini": 560}  # tokens of a page, as an image and its text
_OTHER_PAGE: Final = 3000
_MOST_PAGES: Final = 600  # of a request
_MARGIN: Final = 2  # of the maximum over the estimate


def estimated(media: Iterable[Media], model: str) -> int:
    """Return the tokens of images and documents; a document of unknown length counts as a page."""
    return sum(_tokens(each, model, each.pages or 1) for each in media)


def at_most(media: Iterable[Media], model: str) -> int:
    """Return a number of tokens that they do not exceed."""
    return _MARGIN * sum(_tokens(each, model, each.pages or _MOST_PAGES) for each in media)


def _tokens(media: Media, model: str, pages: int) -> int:
    provider, _, name = model.rpartition("/")
    if not media.is_image:
        return pages * _PAGE.get(provider, _OTHER_PAGE)
    if "claude" in name:
        return min(ceil(media.width * media.height / 750), _CLAUDE)
    if "gemini" in name:
        return _gemini_tokens(media, name)
    return _openai_tokens(media, name)


def _gemini_tokens(media: Media, name: str) -> int:
    """Return the tokens by https://ai.google.dev/gemini-api/docs/tokens and media-resolution."""
    if not name.startswith(("gemini-1", "gemini-2")):
        return _GEMINI
    if max(media.width, media.height) <= 384:
        return 258
    return 258 * ceil(media.width / 768) * ceil(media.height / 768)


def _openai_tokens(media: Media, name: str) -> int:
    """Return the tokens by https://developers.openai.com/api/docs/guides/images-vision."""
    patches = next((_PATCHES[each] for each in _PATCHES if name.startswith(each)), None)
    if patches is None:
        known = (each for each in _TILES if name == each or name.startswith(f"{each}-"))
        if tiles := next(known, ""):
            return _TILES[tiles][0] + _TILES[tiles][1] * _tiles(media.width, media.height)
    rate, most = patches or _NEWER
    return ceil(rate * min(ceil(media.width / 32) * ceil(media.height / 32), most))


def _tiles(width: int, height: int) -> int:
    """Return the tiles of an image that is first made to fit 2048, and 768 at its short side."""
    scale = min(1.0, 2048 / max(width, height, 1))
    scale *= min(1.0, 768 / max(min(width, height) * scale, 1))
    return ceil(width * scale / 512) * ceil(height * scale / 512)
