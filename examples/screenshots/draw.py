"""Draw the two pictures of this example: `python3 draw.py`."""

import struct
import zlib
from pathlib import Path

WIDTH, HEIGHT = 240, 160
WHITE, GREY = (255, 255, 255), (225, 228, 232)
RED, GREEN, BLUE = (207, 34, 46), (26, 127, 55), (9, 105, 218)


def main() -> None:
    """Write a chart with three bars, and a page whose button covers its form."""
    shots = Path(__file__).with_name("shots")
    bars = [(30, 100, 50, 50, RED), (95, 70, 50, 80, GREEN), (160, 20, 50, 130, BLUE)]
    page = [(20, 20, 200, 20, GREY), (20, 60, 140, 30, BLUE), (100, 45, 110, 60, RED)]
    (shots / "bars.png").write_bytes(png(bars))
    (shots / "page.png").write_bytes(png(page))


def png(boxes):
    """Return a white picture with boxes: left, top, width, height and colour."""
    pixels = [[WHITE] * WIDTH for _ in range(HEIGHT)]
    for left, top, width, height, colour in boxes:
        for row in pixels[top : top + height]:
            row[left : left + width] = [colour] * width
    rows = b"".join(b"\0" + bytes(value for pixel in row for value in pixel) for row in pixels)
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*each) for each in chunks)


def chunk(kind, data):
    """Return a part of a png with its length and its check sum."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


if __name__ == "__main__":
    main()
