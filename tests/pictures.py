"""Small images and documents of every type that a case can have."""

import zlib
from base64 import b64decode
from pathlib import Path
from struct import pack

from rubric_ci.values.media import Media, media_of

RED = (200, 30, 30)


def png(width: int, height: int, colour: tuple[int, int, int] = RED) -> bytes:
    """Return a png of one colour."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return pack(">I", len(data)) + kind + data + pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + bytes(colour) * width) * height
    header = pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


def gif(width: int, height: int) -> bytes:
    """Return a gif whose pixels are cut off."""
    return b"GIF89a" + pack("<HHBBB", width, height, 0, 0, 0) + b";"


def pdf(pages: int) -> bytes:
    """Return a PDF with this number of empty pages."""
    kids = " ".join(f"{number} 0 R" for number in range(3, 3 + pages))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {pages} >>",
        *["<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 100] >>"] * pages,
    ]
    body = "".join(f"{n} 0 obj\n{text}\nendobj\n" for n, text in enumerate(objects, start=1))
    return f"%PDF-1.4\n{body}trailer << /Root 1 0 R /Size {pages + 3} >>\n%%EOF\n".encode()


def media(path: str, data: bytes) -> Media:
    """Return the image or the document of these bytes."""
    found = media_of(path, data, lambda: data)
    assert found is not None
    return found


def write(root: Path, files: dict[str, bytes]) -> None:
    """Write files below a folder."""
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _riff(*chunks: bytes) -> bytes:
    body = b"WEBP" + b"".join(chunks)
    return b"RIFF" + pack("<I", len(body)) + body


_VP8 = b64decode("VlA4ICgAAACQAQCdASoGAAgAB0CWJaACdLoAA5gA/uUK+Cepco/+N48CvJdjoAAA")
JPEG = b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAFA3PEY8MlBGQUZaVVBfeMiCeG5uePWvuZHI////////////////////"
    "////////////////////////////////2wBDAVVaWnhpeOuCguv/////////////////////////////////////"
    "////////////////////////////////////wAARCAAHAAUDASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAA"
    "AAP/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFQEBAQAAAAAAAAAAAAAAAAAAAwT/xAAUEQEAAAAAAAAAAAAAAAAA"
    "AAAA/9oADAMBAAIRAxEAPwCQA1j/2Q=="
)
"""5 x 7, as Chromium writes it."""
WEBP_LOSSY = _riff(_VP8)
WEBP_EXTENDED = _riff(b"VP8X\x0a\0\0\0" + b"\0" * 4 + b"\x05\0\0\x07\0\0", _VP8)
WEBP_LOSSLESS = _riff(b64decode("VlA4TA8AAAAvCEACAAcQ/Y/+ByKi/wEA"))
