"""A cache that loses nothing whole, believes nothing broken, and shrinks on request."""

import asyncio
import json
import multiprocessing
import os
from io import StringIO
from pathlib import Path

import pytest

from rubric_ci.errors import CannotReachModel, CannotReadFile, CannotWriteFile
from rubric_ci.models.llm.cache_and_recording import (
    ANSWER,
    DAY,
    Cache,
    CacheStats,
    log_requests,
    record,
    replay,
)
from rubric_ci.system import output_and_masking
from rubric_ci.values.llm_calls import ChatMessage, ModelCall, ModelCaller, ModelReply
from rubric_ci.values.targets import Endpoint
from rubric_ci.values.usage import Usage
from tests import platforms
from tests.cases import build_call

A, B, C = "aa" * 32, "ab" * 32, "cc" * 32


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


def entry(cache: Cache, key: str) -> Path:
    return cache.folder / key[:2] / f"{key}.json"


def test_what_is_kept_is_recalled(cache: Cache) -> None:
    cache.put(A, "ja\n\u2028\udc80")
    assert cache.get(A) == "ja\n\u2028\udc80"
    assert cache.get(B) is None


def test_the_last_writer_wins(cache: Cache) -> None:
    cache.put(A, "one")
    cache.put(A, "two")
    assert cache.get(A) == "two"
    assert cache.stats().entries == 1


def test_a_folder_is_created_once(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "deep" / "cache")
    cache.prepare()
    cache.prepare()
    assert list(cache.folder.iterdir()) == []


def test_answers_are_counted_apart(cache: Cache) -> None:
    for key in (A, B, A + ANSWER):
        cache.put(key, "x")
    found = cache.stats()
    assert (found.entries, found.kinds) == (3, {"": 2, ANSWER: 1})


def test_the_seal_is_not_shown(tmp_path: Path) -> None:
    assert "hidden" not in repr(Cache(tmp_path, seal=b"hidden"))


def test_a_folder_that_leads_out_of_the_repository_gets_no_entry(tmp_path: Path) -> None:
    (root := tmp_path / "repository").mkdir()
    (outside := tmp_path / "outside").mkdir()
    platforms.symlink(root / "cache", outside)
    with pytest.raises(CannotWriteFile):
        Cache(root / "cache", root=root).put(A, "x")
    assert list(outside.iterdir()) == []
    inside = Cache(root / "kept", root=root)
    inside.put(A, "x")
    assert inside.get(A) == "x"


def test_clear_deletes_every_entry(cache: Cache) -> None:
    for key in (A, B, C + ANSWER):
        cache.put(key, "")
    assert not cache.is_empty()
    cache.clear()
    assert cache.is_empty()
    assert cache.stats() == CacheStats()


def test_the_entry_of_another_key_does_not_exist(cache: Cache) -> None:
    cache.put(A, "of A")
    cache.put(B, "of B")
    entry(cache, A).write_bytes(entry(cache, B).read_bytes())
    assert cache.get(A) is None


BROKEN = {
    "empty": "",
    "cut": '{"key": "',
    "no object": "[]",
    "another key": json.dumps({"key": B, "hmac": "", "text": "x"}),
    "another text": json.dumps({"key": A, "hmac": "0" * 64, "text": "x"}),
    "not UTF-8": b"\xff\xfe",
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
def test_a_broken_entry_is_none_and_can_be_replaced(cache: Cache, content: str | bytes) -> None:
    path = entry(cache, A)
    path.parent.mkdir(parents=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    assert cache.get(A) is None
    cache.put(A, "fresh")
    assert cache.get(A) == "fresh"


def test_an_unfinished_file_is_no_entry(cache: Cache) -> None:
    cache.put(A, "one")
    draft = entry(cache, A).with_suffix(".json.1.1.tmp")
    draft.write_text("{")
    assert cache.stats().entries == 1
    then = draft.stat().st_mtime
    os.utime(draft, (then - 3500, then - 3500))
    cache.prune(unused_for=DAY)
    assert draft.exists()  # its writer may be at work
    os.utime(draft, (then - 3600.01, then - 3600.01))
    assert cache.prune(unused_for=DAY) == CacheStats()
    assert not draft.exists()


def aged(cache: Cache, **days: float) -> None:
    for key, age in days.items():
        name = {"a": A, "b": B, "c": C}[key]
        cache.put(name, "x" * 100)
        path = entry(cache, name)
        then = path.stat().st_mtime - age * 24 * 60 * 60
        os.utime(path, (then, then))


def test_prune_by_age(cache: Cache) -> None:
    aged(cache, a=30.0001, b=29, c=0)
    assert cache.prune(unused_for=30 * DAY).entries == 1
    assert [cache.get(key) is None for key in (A, B, C)] == [True, False, False]


def test_what_is_recalled_counts_as_used(cache: Cache) -> None:
    aged(cache, a=40)
    assert cache.get(A)
    assert cache.prune(unused_for=30 * DAY).entries == 0


def test_nothing_there_is_nothing_to_prune(cache: Cache) -> None:
    assert cache.prune(unused_for=0) == cache.stats() == CacheStats()


def test_a_folder_that_cannot_be_written_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(CannotWriteFile, match="cannot write the cache") as ended:
        Cache(tmp_path / "cache").put(A, "x")
    assert "RUBRIC_CI_CACHE=false" in ended.value.hint
    assert Cache(tmp_path / "cache").get(A) is None


def _hammer(folder: Path, name: str) -> None:
    cache = Cache(folder)
    for turn in range(200):
        cache.put(A, f"{name} {turn} " + "x" * 5000)
        text = cache.get(A)
        assert text is not None
        assert text.endswith("x" * 5000)


def test_writers_at_once_leave_whole_files(cache: Cache) -> None:
    writers = [
        multiprocessing.get_context("spawn").Process(target=_hammer, args=(cache.folder, name))
        for name in "ab"
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(timeout=60)
    assert [writer.exitcode for writer in writers] == [0, 0]
    assert [path.name for path in cache.folder.rglob("*.*")] == [f"{A}.json"]


def test_files_that_are_not_ours_are_neither_counted_nor_forgotten(cache: Cache) -> None:
    cache.put(A, "one")
    others = [cache.folder / name for name in ("aa/notes.json", f"ab/{A}.json", "aa/notes.tmp")]
    for path in others:
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
        os.utime(path, (0, 0))
    assert cache.prune(unused_for=-1).entries == 1
    assert [path for path in others if not path.exists()] == []


def test_a_place_that_can_be_no_folder_is_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotWriteFile, match=r"file: cannot write the cache: File exists$"):
        Cache(tmp_path / "file").prepare()


def call(key: str, about: str = "") -> ModelCall:
    return build_call(key=key, about=about)


def reply(ask: ModelCaller, one: ModelCall) -> ModelReply:
    async def asked() -> ModelReply:
        return await ask(one)

    return asyncio.run(asked())


def asked(ask: ModelCaller, *keys: str) -> list[str]:
    return [reply(ask, call(key)).text for key in keys]


async def echo(one: ModelCall) -> ModelReply:
    return ModelReply(text=one.key)


def test_what_is_recorded_is_replayed_at_no_cost(tmp_path: Path) -> None:
    file = tmp_path / "new" / "judge.jsonl"
    said = ModelReply(text="ja\u2028\n\udc80", finish="length", usage=Usage(calls=2, cost_usd=1))

    async def model(_: ModelCall) -> ModelReply:
        return said

    assert asked(record(file, tmp_path).wrap(model), "a") == [said.text]
    assert reply(replay(file, file.parent).ask, call("a")) == ModelReply(
        text=said.text, finish="length", usage=Usage()
    )


def test_a_recording_names_what_was_asked(tmp_path: Path) -> None:
    file = tmp_path / "judge.jsonl"
    reply(record(file, file.parent).wrap(echo), call("a", "evals/a.yaml: case: rubric"))
    line = json.loads(file.read_text())
    assert (line["key"], line["about"], line["model"]) == ("a", "evals/a.yaml: case: rubric", "m")


def test_a_fresh_recording_forgets_the_old_one(tmp_path: Path) -> None:
    file = tmp_path / "judge.jsonl"
    file.write_text("old")
    asked(record(file, file.parent).wrap(echo), "a", "b")
    assert asked(replay(file, file.parent).ask, "b", "a") == ["b", "a"]


def test_replies_to_one_key_come_in_order_the_last_for_ever(tmp_path: Path) -> None:
    file = tmp_path / "judge.jsonl"
    lines = [{"key": "a", "text": text, "finish": "stop"} for text in ("one", "two")]
    file.write_text("\n\n".join(json.dumps(line) for line in lines))
    assert asked(replay(file, file.parent).ask, "a", "a", "a") == ["one", "two", "two"]


def test_a_missing_reply_says_whose_and_what_to_do(tmp_path: Path) -> None:
    file = tmp_path / "judge.jsonl"
    file.write_text("")
    with pytest.raises(CannotReachModel) as ended:
        reply(replay(file, file.parent).ask, call("a", "evals/a.yaml: case: rubric"))
    assert str(ended.value) == (
        f"{file}: no recorded reply to this request (evals/a.yaml: case: rubric); record again "
        "with --record: the case, the answer, the judge or the prompt changed"
    )


BROKEN_LINES = {
    "no JSON": "{",
    "no object": "[]",
    "no key": '{"text": "a", "finish": "stop"}',
    "text is none": '{"key": "a", "text": null, "finish": "stop"}',
    "unknown end": '{"key": "a", "text": "a", "finish": "maybe"}',
}


@pytest.mark.parametrize("line", BROKEN_LINES.values(), ids=BROKEN_LINES)
def test_a_broken_line_is_named(tmp_path: Path, line: str) -> None:
    file = tmp_path / "judge.jsonl"
    file.write_text(f'{{"key": "a", "text": "a", "finish": "stop"}}\n{line}\n')
    with pytest.raises(CannotReadFile) as ended:
        replay(file, file.parent)
    assert ended.value.message == f"{file}:2: not a recorded reply"


UNREADABLE: dict[str, tuple[bytes | None, str]] = {
    "not there": (None, "No such file or directory"),
    "not UTF-8": (b"\xff", "it is not UTF-8"),
}


@pytest.mark.parametrize(("data", "reason"), UNREADABLE.values(), ids=UNREADABLE)
def test_a_recording_that_cannot_be_read(tmp_path: Path, data: bytes | None, reason: str) -> None:
    file = tmp_path / "judge.jsonl"
    if data is not None:
        file.write_bytes(data)
    with pytest.raises(CannotReadFile) as ended:
        replay(file, tmp_path)
    assert ended.value.message == f"{file}: cannot read the recording: {reason}"
    assert ended.value.hint == "create one with --record FILE, or run without --replay"


def test_a_recording_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    with pytest.raises(CannotWriteFile, match="cannot write the recording"):
        record(tmp_path / "folder", tmp_path)
    with pytest.raises(CannotWriteFile, match="a file stands in the place of a folder"):
        record(tmp_path / "file" / "judge.jsonl", tmp_path)


CALL = ModelCall(
    endpoint=Endpoint(model="openai/gpt-6-luna"),
    messages=(
        ChatMessage(role="system", content="Mark the answer."),
        ChatMessage(role="user", content="one\n::error::two s3cr3t-key"),
    ),
    key="0",
    about="evals/a.yaml: case-1: rubric",
    output_schema={"type": "object"},
)


async def replies(_: ModelCall) -> ModelReply:
    return ModelReply(text='{"c1": 1}\n::stop::')


async def fails(_: ModelCall) -> ModelReply:
    raise CannotReachModel("HTTP 401: wrong key s3cr3t-key")


def test_requests_and_replies() -> None:
    output_and_masking.hide(["s3cr3t-key"])
    stream = StringIO()
    logged = log_requests(replies, stream)
    reply(logged, CALL)
    assert stream.getvalue().splitlines() == [
        "[debug 1] request to openai/gpt-6-luna (evals/a.yaml: case-1: rubric)",
        '[debug 1] schema: {"type": "object"}',
        "[debug 1] system: Mark the answer.",
        "[debug 1] user: one",
        "[debug 1] : :error::two ***",
        "[debug 1] reply: 0 + 0 tokens, finish stop",
        '[debug 1] {"c1": 1}',
        "[debug 1] : :stop::",
    ]


def test_an_error_is_logged_and_raised() -> None:
    output_and_masking.hide(["s3cr3t-key"])
    stream = StringIO()
    with pytest.raises(CannotReachModel):
        reply(log_requests(fails, stream), CALL)
    assert stream.getvalue().splitlines()[-1] == "[debug 1] error: HTTP 401: wrong key ***"
