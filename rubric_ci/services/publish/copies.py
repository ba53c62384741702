"""Copies of images and documents next to reports and labels: written, and shown again."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from hashlib import sha256
from pathlib import Path

from rubric_ci.errors import CannotReadFile
from rubric_ci.files.project import working_tree
from rubric_ci.models.llm.media import content
from rubric_ci.system import file_io
from rubric_ci.values.media import COPIES, Media, Picture, ReadCopy, answer_pictures, media_of


def write_copies(pictures: Mapping[str, Media], folder: Path, hint: str) -> None:
    """Write a copy of each image and document, for the page and for people who get the folder."""
    for name, media in pictures.items():
        path = folder / COPIES / name
        if path.exists():
            continue
        try:
            data = content(media)
        except CannotReadFile:  # of a replay, which has the digest only
            continue
        _write(path, data, media.path, hint)


def copies_in(*folders: Path) -> ReadCopy:
    """Return a reader of pictures, which takes the first of the folders that has a copy."""

    def read(picture: Picture) -> bytes:
        for folder in folders:
            try:
                data = file_io.read_own(folder / picture.file, shown=picture.path)
            except CannotReadFile:
                continue
            if sha256(data).hexdigest() == picture.digest:
                return data
        return no_copy(picture)

    return read


def no_copy(picture: Picture) -> bytes:
    """Raise CannotReadFile: there is no copy of a picture to show again."""
    reason = f"there is no copy `{picture.file}` next to the report or the labels"
    raise CannotReadFile(f"{picture.path} cannot be shown again: {reason}", reason=reason)


def shown_again(pictures: Iterable[Picture], read: ReadCopy) -> tuple[Media, ...]:
    """Return the pictures of an answer with their copies; one without fails when it is shown."""
    return tuple(_media(each, partial(read, each)) for each in answer_pictures(pictures))


def _media(picture: Picture, again: Callable[[], bytes]) -> Media:
    lost = Media(path=picture.path, type=picture.type, digest=picture.digest, size=0, read=again)
    try:
        return media_of(picture.path, again(), again) or lost
    except CannotReadFile:
        return lost


def keep_copies(pictures: Iterable[Picture], read: ReadCopy, folder: Path, hint: str) -> None:
    """Write the pictures that can be read into another folder of copies; raises CannotWriteFile."""
    for each in dict.fromkeys(pictures):
        try:
            data = read(each)
        except CannotReadFile:
            continue
        if not (folder / each.file).exists():
            _write(folder / each.file, data, each.path, hint)


def _write(path: Path, data: bytes, name: str, hint: str) -> None:
    with file_io.writing(path, f"a copy of {name}", hint):
        working_tree.check_place(path.parent)
        file_io.write(path, data)
