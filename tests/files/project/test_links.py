"""The names that links give to paths."""

from itertools import islice

import pytest

from rubric_ci.files.project.links import ancestors, named_paths, seen_through


def test_a_path_has_a_name_through_each_link_above_it() -> None:
    links = {"prompts": "shared/prompts", "all": "shared"}
    assert seen_through(links, ["shared/prompts/a.md"]) == (
        "all/prompts/a.md",
        "prompts/a.md",
        "shared/prompts/a.md",
    )


def test_a_file_has_the_names_of_links_to_it() -> None:
    assert seen_through({"also.md": "a.md"}, ["a.md"]) == ("a.md", "also.md")


def test_a_link_to_a_folder_above_it_gives_names_up_to_a_depth() -> None:
    names = seen_through({"a/loop": "a"}, ["a/f"])
    assert len(names) == 50
    assert max(names, key=len) == "a/" + "loop/" * 49 + "f"


@pytest.mark.parametrize(
    ("path", "above"),
    [
        ("a/b/c.md", ["a/b", "a"]),
        ("a", []),
        ("", []),
        ("../a/b", ["../a", ".."]),
        ("/usr/bin/env", ["/usr/bin", "/usr"]),
        ("/", []),
        ("//host/x", ["//host"]),
    ],
)
def test_the_folders_above_a_path(path: str, above: list[str]) -> None:
    assert list(islice(ancestors(path), 10)) == above


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(f"cat 'a b/c.md' {'x' * 200_000}", id="longer than shlex can read in time"),
        pytest.param("cat it's 'a b/c.md'", id="a quote is not closed"),
    ],
)
def test_a_line_that_is_not_read_word_by_word_names_paths(command: str) -> None:
    assert "a b/c.md" in set(named_paths(command, "."))
