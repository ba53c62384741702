"""Digests of the files of a commit and of the working tree; real git."""

from collections.abc import Callable

import pytest

from rubric_ci.system.git import plumbing, snapshot
from rubric_ci.system.git.snapshot import Contents
from tests import platforms
from tests.checkout import Checkout

FILES = {"src/a.py": "a", "src/deep/b.py": "b", "docs/c.md": "c", ".gitignore": "out/\nlogs/\n"}


def of_head(checkout: Checkout) -> Contents:
    return snapshot.tree_contents(plumbing.tree(checkout.repository, "HEAD"))


def now(checkout: Checkout) -> Contents:
    return snapshot.disk_contents(checkout.repository, ["reports"])


def python(path: str) -> bool:
    return path.endswith(".py")


def nothing(_: str) -> bool:
    return False


def delete(checkout: Checkout) -> None:
    (checkout.root / "src/a.py").unlink()


def execute(checkout: Checkout) -> None:
    (checkout.root / "src/a.py").chmod(0o755)


def link(checkout: Checkout) -> None:
    delete(checkout)
    platforms.symlink(checkout.root / "src/a.py", "deep/b.py")


def write(path: str, text: str) -> Callable[[Checkout], None]:
    return lambda checkout: checkout.write({path: text})


@pytest.mark.parametrize(
    ("change", "same"),
    [
        pytest.param(lambda _: None, True, id="nothing"),
        pytest.param(write("src/a.py", "a"), True, id="the same text again"),
        pytest.param(write("docs/c.md", "d"), True, id="another file"),
        pytest.param(write("out/x.py", "x"), True, id="an ignored file"),
        pytest.param(write("reports/x.py", "x"), True, id="a file of the output folder"),
        pytest.param(write("src/a.py", "b"), False, id="an edited file"),
        pytest.param(write("src/new.py", "n"), False, id="a new file"),
        pytest.param(delete, False, id="a deleted file"),
        pytest.param(execute, False, marks=platforms.MODES, id="another mode"),
        pytest.param(link, False, id="a link in its place"),
    ],
)
def test_equal_digests(checkout: Checkout, change: Callable[[Checkout], None], same: bool) -> None:
    checkout.commit(FILES)
    before = of_head(checkout).digest(python)
    change(checkout)
    assert (now(checkout).digest(python) == before) is same
    checkout.commit()
    assert now(checkout).digest(python) == of_head(checkout).digest(python)


@pytest.mark.parametrize(
    ("names", "path", "same"),
    [
        (["src"], "src/deep/b.py", False),
        (["src/a.py"], "src/a.py", False),
        (["src/a.py"], "src/deep/b.py", True),
        (["src/missing.py"], "src/a.py", True),
    ],
)
def test_named_paths(checkout: Checkout, names: list[str], path: str, same: bool) -> None:
    checkout.commit(FILES)
    before = now(checkout).digest(nothing, names)
    checkout.write({path: "edited"})
    assert (now(checkout).digest(nothing, names) == before) is same


def test_files_of_a_repository_without_a_commit_are_unknown(checkout: Checkout) -> None:
    checkout.write(FILES)
    assert now(checkout).digest(lambda _: True) is None
