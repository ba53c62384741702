"""Globs over repository paths."""

from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.text.globs import Comparisons, PathIndex, TooManyComparisons, matcher

PATHS = ("a.py", "src/a.py", "src/deep/a.py", "src/deep/b.md", "srcs/a.py", "src")


@pytest.mark.parametrize(
    ("globs", "expected"),
    [
        ([], []),
        (["*.py"], ["a.py"]),
        (["**/*.py"], ["a.py", "src/a.py", "src/deep/a.py", "srcs/a.py"]),
        (["src/*"], ["src/a.py"]),
        (["src/**"], ["src/a.py", "src/deep/a.py", "src/deep/b.md", "src"]),
        (["src/**/a.py"], ["src/a.py", "src/deep/a.py"]),
        (["src"], ["src/a.py", "src/deep/a.py", "src/deep/b.md", "src"]),
        (["./src/"], ["src/a.py", "src/deep/a.py", "src/deep/b.md", "src"]),
        (["src/a.py"], ["src/a.py"]),
        (["src?/a.py"], ["srcs/a.py"]),
        (["src/deep/[ab].*"], ["src/deep/a.py", "src/deep/b.md"]),
        (["src/deep/[!a].*"], ["src/deep/b.md"]),
        (["src/**", "!src/deep/**"], ["src/a.py", "src"]),
        (["src/**", "!src/deep/**", "src/deep/b.md"], ["src/a.py", "src/deep/b.md", "src"]),
        (["**"], list(PATHS)),
        (["*"], ["a.py", "src"]),
    ],
    ids=" ".join,
)
def test_matcher(globs: list[str], expected: list[str]) -> None:
    assert [path for path in PATHS if matcher(globs)(path)] == expected


@pytest.mark.parametrize("path", ["[", "a[b", "a+b(c).md", "日本/naïve.md", "a\nb", "a]b", "a{1}"])
def test_a_path_matches_itself(path: str) -> None:
    assert matcher([path])(path)


@given(st.text(min_size=1), st.text())
def test_every_text_is_a_glob(glob: str, path: str) -> None:
    assert matcher([glob, "**"])(path)


GLOBS = st.lists(st.text(alphabet="ab/*?!.[]", max_size=8), max_size=4)


@given(GLOBS, st.sets(st.text(alphabet="ab/.", min_size=1, max_size=6)))
def test_an_index_finds_what_the_matcher_finds(globs: list[str], paths: set[str]) -> None:
    found = PathIndex(paths, Comparisons()).matching(globs)
    assert found == tuple(sorted(filter(matcher(globs), paths)))


@pytest.mark.parametrize("glob", ["src/*1", "src/**", "!src/*1"])
def test_too_many_globs_and_paths(glob: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Comparisons, "MOST", 10)
    index = PathIndex([f"src/{n}" for n in range(20)], Comparisons())
    with pytest.raises(TooManyComparisons, match="too many globs and files"):
        deque((index.matching(["src/?", glob, f"a{n}"]) for n in range(100)), maxlen=0)
