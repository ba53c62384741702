"""Images and documents in messages: their types, sizes and places."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

from rubric_ci.evaluators.kind import target_names
from rubric_ci.files.validation.config_summary import KnownTargets
from rubric_ci.values.media import MOST_BYTES, MOST_BYTES_OF_CASE, MOST_PIXELS, SUFFIXES, Media
from rubric_ci.values.model_end_and_parameters import Models, takes
from rubric_ci.values.problems import INPUTS, Path, Problem, Rule, mappings, with_cases

_TYPES: Final = "png, jpeg, gif or webp"
_SMALLER: Final = "make it smaller"
_WITHOUT: Final = ("system", "assistant")  # roles whose messages have text only


def _with_image(role: str) -> str:
    return with_cases(
        "  - id: cart\n    rubrics: [Names the wrong total]\n"
        f"    input: [{{role: {role}, content: [{{type: image, value: shots/cart.png}}]}}]\n"
    )


MEDIA_FILE: Final = Rule(
    id="media-file",
    meaning=(
        f"An image part is a {_TYPES}, and a file part a text or a PDF, by its first bytes and its "
        f"name. A file has at most {MOST_BYTES // 2**20} MiB, all of a case "
        f"{MOST_BYTES_OF_CASE // 2**20} MiB, and a side of an image {MOST_PIXELS:,} pixels: "
        "providers refuse more."
    ),
    hint=f"use a {_TYPES} for `type: image`, a PDF or a text for `type: file`",
    bad=with_cases(
        "  - id: cart\n    rubrics: [Names the wrong total]\n"
        "    input: [{type: image, value: prompts/task.md}]\n"
    ),
    good=_with_image("user"),
)
MEDIA_ROLE: Final = Rule(
    id="media-role",
    meaning=(
        "Images and documents are in messages of the user: no provider takes them in system "
        "or assistant messages."
    ),
    hint="move the part to a message with `role: user`",
    bad=_with_image("system"),
    good=_with_image("user"),
)


MEDIA_MODEL: Final = Rule(
    id="media-model",
    switchable=True,
    meaning=(
        "The model that answers the case takes no images, or no PDFs, so that the case would be "
        "errored. It is known of the models that the packaged list of models has."
    ),
    hint="choose a model that takes them; a list that is wrong is a reason to turn this rule off",
)


def model_problems(
    data: Any,
    media: Iterable[tuple[Path, Media]],
    known: KnownTargets,
    models: Callable[[], Models],
) -> Iterator[Problem]:
    """Yield images and documents that the model of a case does not take."""
    cases = dict(mappings(data, "evalcases"))
    for path, each in media:
        asked = {path[:2]: cases.get(path[:2])} if path[0] == "evalcases" else cases
        for case in asked.values():
            if refused := _refusing(case, data, each, known, models):
                name = case.get("id") if isinstance(case, dict) else ""
                message = f"the case `{name}` asks `{refused}`, which takes no {each.kind}s"
                yield Problem(MEDIA_MODEL, path, message)
                break


def _refusing(
    case: Any, data: Any, media: Media, known: KnownTargets, models: Callable[[], Models]
) -> str:
    """Return the model of a case that does not take a file; empty: none is known not to."""
    for name in target_names(case, data, known.compare):
        target = known.targets.get(name)
        model = target.model if target else ""
        settings = target.data if target else {}
        if model and takes(media.kind, model, settings, models().info(model)) is False:
            return model
    return ""


def part_problem(path: Path, kind: str, name: str, media: Media | None) -> Problem | None:
    """Return the problem of the file of a part; None: it is one that the part takes.

    `kind` is the type of the part; without `media`, the file is a text.
    """
    why, hint = _wrong_kind(kind, media)
    if media and not why:
        why, hint = _why_not(media)
    return Problem(MEDIA_FILE, path, f"`{name}` {why}", hint) if why else None


def _wrong_kind(kind: str, media: Media | None) -> tuple[str, str]:
    """Return the kind of a file that a part of this type does not take, and the type to write."""
    if media is None:
        return ("is a text", "write `type: file`") if kind == "image" else ("", "")
    if media.is_image:
        return ("is an image", "write `type: image`") if kind == "file" else ("", "")
    return ("is a PDF", "write `type: file`") if kind == "image" else ("", "")


def _why_not(media: Media) -> tuple[str, str]:
    """Return why no part can have this file, and what to do; ("", ""): a part can."""
    suffixes = SUFFIXES[media.type]
    if not media.path.lower().endswith(suffixes):
        word = media.type.rpartition("/")[2]
        return f"is a {word} by its first bytes", f"let its name end in {' or '.join(suffixes)}"
    if media.size > MOST_BYTES:
        return f"has {_mib(media.size)}; at most {MOST_BYTES // 2**20} are sent", _SMALLER
    if media.is_image and not (media.width and media.height):
        return "has a broken header", "save the image again"
    if max(media.width, media.height) > MOST_PIXELS:
        size = f"{media.width:,} x {media.height:,} pixels"
        return f"has {size}; a side has at most {MOST_PIXELS:,}", _SMALLER
    return "", ""


def _mib(size: int) -> str:
    return f"{size / 2**20:.1f} MiB"


def size_problems(found: Sequence[tuple[Path, Media]]) -> Iterator[Problem]:
    """Yield the cases whose files, with the suite messages', are too large together."""
    shared = {media.path: media.size for path, media in found if path[0] != "evalcases"}
    sizes: dict[Path, dict[str, int]] = {}
    for path, media in found:
        if path[0] == "evalcases":
            sizes.setdefault(path[:2], {**shared})[media.path] = media.size
    for case, of_case in sizes.items():
        if (total := sum(of_case.values())) > MOST_BYTES_OF_CASE:
            most = f"at most {MOST_BYTES_OF_CASE // 2**20} are sent with a case"
            message = f"{len(of_case)} images and documents have {_mib(total)}; {most}"
            yield Problem(MEDIA_FILE, case, message, _SMALLER)


def role_problem(path: Path, message: dict[str, Any], kind: str) -> Problem | None:
    role, key = message.get("role"), path[2] if path[0] == "evalcases" else path[0]
    if role not in _WITHOUT or key not in (*INPUTS, "messages"):
        return None
    what = "an image" if kind == "image" else "a PDF"
    return Problem(MEDIA_ROLE, path, f"{what} in a message with `role: {role}`")
