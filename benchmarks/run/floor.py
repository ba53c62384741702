"""The floor of a run: the time of its files, its cached judgements and its requests alone.

    python floor.py FOLDER [--judgements] [--requests NUMBER --url URL --in-flight NUMBER]

PyYAML with libyaml loads every eval file of the folder; one read and one `json.loads` take each
cached judgement; asyncio sends the requests, over as many connections as may be in flight.
"""

import argparse
import asyncio
import json
from pathlib import Path
from urllib.parse import urlsplit

import yaml


def main() -> None:
    options = _options()
    for path in options.folder.glob("evals/*.yaml"):
        yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader)
    if options.judgements:
        for path in options.folder.glob(".rubric-ci/cache/??/*.json"):
            with path.open("rb") as file:
                json.loads(file.read())
    if options.requests:
        asyncio.run(_requests(options.url, options.requests, options.in_flight))


async def _requests(url: str, number: int, in_flight: int) -> None:
    address = urlsplit(url)
    body = json.dumps({"messages": [{"role": "user", "content": "c1 c2 c3 c4 " * 250}]}).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
    waiting = iter(range(number))

    async def connection() -> None:
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        for _ in waiting:
            writer.write(head.encode() + body)
            reply = await reader.readuntil(b"\r\n\r\n")
            length = next(
                line for line in reply.lower().split(b"\r\n") if line.startswith(b"content-length:")
            )
            json.loads(await reader.readexactly(int(length.partition(b":")[2])))
        writer.close()

    await asyncio.gather(*(connection() for _ in range(in_flight)))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--judgements", action="store_true")
    parser.add_argument("--requests", type=int, default=0)
    parser.add_argument("--in-flight", type=int, default=64)
    parser.add_argument("--url", default="")
    return parser.parse_args()


if __name__ == "__main__":
    main()
