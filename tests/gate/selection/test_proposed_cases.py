"""The files that a run of a stranger's commit reads: its texts, settings of the checkout."""

from pathlib import Path

import pytest

from rubric_ci.errors import CannotReadFile
from rubric_ci.gate.selection.proposed_cases import ProposedFiles, is_setting
from rubric_ci.system.git import plumbing
from rubric_ci.system.git.snapshot import open_proposal
from rubric_ci.values.references import Found, NotFound
from tests.checkout import ENVIRONMENT, Checkout
from tests.platforms import symlink

BASE = {
    "rubric-ci.yaml": "base\n",
    ".agentv/config.yaml": "base\n",
    "targets.yaml": "base\n",
    "evals/a.md": "base\n",
}
LFS = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
IN_LFS = "is in Git LFS, which is not fetched for an untrusted change"


@pytest.fixture
def files(tmp_path: Path) -> ProposedFiles:
    checkout = Checkout.create(tmp_path / "repository")
    checkout.commit(BASE)
    checkout.git("switch", "--quiet", "--create", "stranger")
    symlink(checkout.root / "evals/link.md", "../rubric-ci.yaml")
    symlink(checkout.root / "evals/out.md", "../../secret")
    head = dict.fromkeys(BASE, "head\n") | {
        "evals/.agentv/config.yaml": "head\n",
        "evals/targets.yaml": "head\n",
        "waivers.yaml": "head\n",
        "evals/lfs.md": LFS,
    }
    sha = checkout.commit(head)
    checkout.git("switch", "--quiet", "main")
    repository = plumbing.open_repository(checkout.root, ENVIRONMENT)
    return ProposedFiles(proposal=open_proposal(repository, sha))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("evals/a.md", b"head\n"),
        ("rubric-ci.yaml", b"base\n"),
        ("targets.yaml", b"base\n"),
        (".agentv/config.yaml", b"base\n"),
        ("evals/.agentv/config.yaml", None),
        ("evals/targets.yaml", None),
        ("waivers.yaml", None),
        ("evals/link.md", b"head\n"),
        ("evals/out.md", None),
    ],
)
def test_read(name: str, content: bytes | None, files: ProposedFiles) -> None:
    assert files.read(name) == content


@pytest.mark.parametrize(
    ("reference", "found"),
    [
        ("a.md", Found("evals/a.md", "head\n")),
        (".agentv/config.yaml", Found(".agentv/config.yaml", "base\n")),
        ("link.md", NotFound("no such file")),
        ("out.md", NotFound("no such file")),
        ("../../etc/passwd", NotFound("no such file")),
        ("lfs.md", NotFound(IN_LFS)),
    ],
)
def test_lookup(reference: str, found: Found | NotFound, files: ProposedFiles) -> None:
    assert files.lookup("evals/a.yaml")(reference) == found


def test_a_pointer_of_lfs_is_not_read(files: ProposedFiles) -> None:
    with pytest.raises(CannotReadFile, match=f"evals/lfs.md {IN_LFS}"):
        files.read("evals/lfs.md")


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a/rubric-ci.yml", True), ("a/.agentv/x", True), ("calibration.json", True), ("a.md", False)],
)
def test_settings_are_known_by_name(name: str, expected: bool) -> None:
    assert is_setting(name) is expected
