"""Files outside of the repository, devices, pipes and links: nothing of them is read or written."""

import asyncio
import json
import os
import re
from contextlib import chdir
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rubric_ci.cli.main import main
from rubric_ci.errors import CannotFindEvals, CannotReadFile, NoVerdict
from rubric_ci.files.project.eval_search import holds_cases, search
from rubric_ci.grading import targets
from rubric_ci.models.llm.cache_and_recording import Cache
from rubric_ci.system import file_io
from rubric_ci.system.git import plumbing
from rubric_ci.system.git.snapshot import Snapshot
from rubric_ci.values.references import NotFound
from rubric_ci.values.targets import CliTarget, RecordedTarget, Target
from tests import platforms
from tests.cases import build_case, build_context
from tests.checkout import Checkout

EVALS = "evalcases: [{id: a, input: Hi, rubrics: [Greets]}]\n"
SECRET = '{"id": "a", "answer": "the secret"}\n'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    Checkout.create(root)
    (root / ".git" / "config").write_text(SECRET)
    (root / "folder").mkdir()
    (root / "vendored" / ".Git").mkdir(parents=True)  # what some systems open as `.git`
    (root / "vendored" / ".Git" / "config").write_text(SECRET)
    (tmp_path / "secret").write_text(SECRET)
    platforms.symlink(root / "link", "../secret")
    platforms.symlink(root / "inner", ".git/config")
    platforms.symlink(root / "up", "..")
    platforms.symlink(root / "zero", "/dev/zero")
    os.mkfifo(root / "pipe")
    return root


OUTSIDE = "it is outside the repository"
NAMES = {
    "../secret": OUTSIDE,
    "link": OUTSIDE,
    "up/secret": OUTSIDE,
    "zero": OUTSIDE,
    "/etc/passwd": OUTSIDE,
    ".git/config": "it is in `.git`",
    "inner": "it is in `.git`",
    "vendored/.Git/config": "it is in `.git`",
    "pipe": "it is not a regular file",
    "folder": "it is not a regular file",
}


@pytest.mark.parametrize("name", NAMES)
def test_recorded_answers(root: Path, name: str) -> None:
    said = refused(RecordedTarget(name="kept", answers=name), root)
    assert said == f"the recorded answers {name} cannot be read: {NAMES[name]}"


ON_WINDOWS = {
    ".GIT/config": "it is in `.git`",
    ".git::$INDEX_ALLOCATION/config": "it is a stream of a file or folder",
    "a.md:hidden": "it is a stream of a file or folder",
    "folder": "it is not a regular file",
}


@platforms.ONLY_WINDOWS
@pytest.mark.parametrize("name", ON_WINDOWS)
def test_names_of_windows(tmp_path: Path, name: str) -> None:
    for folder in (".git", "folder"):
        (tmp_path / folder).mkdir()
    (tmp_path / ".git" / "config").write_text(SECRET)
    with pytest.raises(CannotReadFile, match=re.escape(ON_WINDOWS[name])):
        file_io.read_named(tmp_path / name, tmp_path.resolve())


@pytest.mark.parametrize("name", ["link", "up/secret", "inner", "pipe"])
def test_a_file_that_was_found(root: Path, name: str) -> None:
    with pytest.raises(CannotReadFile, match=NAMES[name]):
        file_io.read_given(root / name, root)


def test_a_user_may_name_a_file_outside(root: Path) -> None:
    assert file_io.read_given(root.parent / "secret", root).decode() == SECRET


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("ln -s /etc/passwd {OUTPUT_FILE}", "Too many levels of symbolic links"),
        ("mkfifo {OUTPUT_FILE}", "it is not a regular file"),
        ("mkdir {OUTPUT_FILE}", "it is not a regular file"),
        ("truncate -s 65M {OUTPUT_FILE}", "it has more than 64 MiB"),
    ],
)
def test_the_output_file(root: Path, command: str, reason: str) -> None:
    target = CliTarget(name="t", command_template=command, timeout_seconds=60)
    said = refused(target, root)
    assert said == f"cannot read the {{OUTPUT_FILE}} of the command: {reason}"


def test_an_eval_file_that_leads_out_is_a_diagnostic(root: Path) -> None:
    platforms.symlink(root / "a.eval.yaml", "../secret")
    done = rubric_ci(root, "validate", "--format", "json")
    assert done.exit_code == 1
    assert "cannot read a.eval.yaml: it is outside the repository" in done.stdout
    assert "the secret" not in done.stdout + done.stderr


GIVEN = {
    "run --baseline": ["run", "--baseline", "link"],
    "run --replay": ["run", "--judge", "openai/m", "--replay", "link"],
    "run --config": ["run", "--config", "link"],
    "run --policy-from": ["run", "--policy-from", "link"],
    "compare": ["compare", "link", "link"],
    "comment": ["report", "comment", "link"],
    "merge": ["report", "merge", "link"],
    "calibrate": ["judge", "calibrate", "link"],
    "judge attack --replay": ["judge", "attack", "--judge", "openai/m", "--replay", "link"],
    "generate --config": ["generate", "rubrics", "--config", "link"],
}


@pytest.mark.parametrize("link", ["link", "inner", "zero", "pipe"])
@pytest.mark.parametrize("arguments", GIVEN.values(), ids=GIVEN)
def test_a_file_that_a_command_is_given(root: Path, arguments: list[str], link: str) -> None:
    (root / "a.eval.yaml").write_text(EVALS)
    (root / "rubric-ci.yaml").write_text("targets: [{name: default, model: openai/m}]\n")
    done = rubric_ci(root, *[link if each == "link" else each for each in arguments])
    assert done.exit_code == 2
    assert NAMES[link] in done.stderr
    assert "the secret" not in done.stdout + done.stderr


@pytest.mark.parametrize("link", ["link", "inner", "zero", "pipe"])
@pytest.mark.parametrize(
    "name", ["rubric-ci.yaml", "targets.yaml", ".agentv/targets.yaml", "a.eval.yaml", "b.yaml"]
)
def test_a_file_that_is_read_without_being_named(root: Path, name: str, link: str) -> None:
    (root / "a.eval.yaml").write_text(EVALS)
    (root / "b.jsonl").write_text('{"id": "a", "input": "Hi"}\n')
    (root / ".agentv").mkdir()
    (root / name).unlink(missing_ok=True)
    if link == "pipe":
        os.mkfifo(root / name)
    else:
        platforms.symlink(root / name, (root / link).resolve())
    for command in ("validate", "run"):
        done = rubric_ci(root, command)
        assert done.exit_code == {"validate": 1, "run": 2}[command]
        assert f"unreadable: cannot read {name}: {NAMES[link]}" in (done.stdout + done.stderr)
        assert "the secret" not in done.stdout + done.stderr


def test_the_calibration(root: Path) -> None:
    (root / "a.eval.yaml").write_text(EVALS)
    (root / "rubric-ci.yaml").write_text(
        "judge: {model: openai/m}\ntargets: [{name: default, provider: mock, response: Hi}]\n"
    )
    platforms.symlink(root / "calibration.json", "../secret")
    done = rubric_ci(root, "run", "--offline")
    assert done.exit_code == 2
    assert done.stderr.endswith(f"cannot read calibration.json: {OUTSIDE}\n")


def test_a_cache_entry_that_is_a_link(root: Path) -> None:
    key = "a" * 64
    cache = Cache(root / "cache")
    cache.put(key, "pass")
    entry = root / "cache" / "aa" / f"{key}.json"
    assert cache.get(key) == "pass"
    entry.rename(root.parent / "entry")
    for target in (root.parent / "entry", Path("/dev/zero"), root / "pipe"):
        entry.unlink(missing_ok=True)
        platforms.symlink(entry, target)
        assert cache.get(key) is None


def test_a_link_of_an_unchanged_submodule_in_the_base(root: Path) -> None:
    inner = Checkout.create(root.parent / "inner")
    platforms.symlink(inner.root / "link", "../../secret")
    (inner.root / "kept").write_text("kept")
    inner.commit()
    checkout = Checkout.create(root.parent / "outer")
    checkout.git("submodule", "--quiet", "add", inner.root.as_uri(), "sub")
    base = checkout.commit()
    repository = plumbing.open_repository(checkout.root, os.environ)
    then = Snapshot(
        root=checkout.root,
        entries=plumbing.tree(repository, base),
        changed=frozenset(),
        read_blob=repository.objects.read,
    )
    assert then.read("sub/kept") == b"kept"
    assert then.read("sub/link") is None
    assert then.lookup("a.eval.yaml")("sub/link") == NotFound("no such file")


def test_a_search_reads_the_start_of_a_file(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_io, "MAX_BYTES", 2**20)
    with (root.parent / "huge").open("wb") as file:
        file.truncate(file_io.MAX_BYTES)
        file.seek(file_io.MAX_BYTES)
        file.write(b"\nevalcases:\n")
        file.truncate(2**43)  # a sparse file that no memory holds
    platforms.symlink(root / "huge.yaml", "../huge")
    assert not holds_cases(root / "huge.yaml")


@pytest.mark.parametrize("glob", ["../*.yaml", "evals/../../*.yaml", "!../*"])
def test_configured_globs_stay_in_the_repository(root: Path, glob: str) -> None:
    with pytest.raises(CannotFindEvals) as caught:
        search([], [glob], root)
    assert caught.value.message == f"{glob} under `evals` leaves the repository"


def refused(target: Target, root: Path) -> str:
    with pytest.raises(NoVerdict) as caught:
        asyncio.run(targets.answer(build_case(), target, build_context(root)))
    return str(caught.value)


def rubric_ci(root: Path, *arguments: str) -> Result:
    unset = {name: None for name in os.environ if name.startswith("GITHUB_")}
    runner = CliRunner(env={**unset, "OPENAI_API_KEY": "none", "GITHUB_TOKEN": "none"})
    with chdir(root):
        return runner.invoke(main, arguments)


SCRIPTED = """\
evalcases:
  - id: a
    input: Hi
    evaluators: [{name: s, type: code_judge, script: 'true', score_from: exit_status}]
"""
REPLACED = {
    "its folder is a link": ('rm -r "$d"; ln -s {outside} "$d"', "replaced its folder with"),
    "it is a link": ('ln -s {outside}/output "$o"', "Too many levels of symbolic links"),
    "it is a folder": ('mkdir "$o"', "it is not a regular file"),
    "it is a pipe": ('mkfifo "$o"', "it is not a regular file"),
    "its folder is gone": ('rm -r "$d"', "No such file or directory"),
    "its folder is a file": ('rm -r "$d"; echo >"$d"', "Not a directory"),
}


@platforms.SHELL
@pytest.mark.parametrize(("script", "reason"), REPLACED.values(), ids=REPLACED)
def test_an_output_file(root: Path, script: str, reason: str) -> None:
    outside = root.parent / "outside"
    (outside / "deep").mkdir(parents=True)
    (outside / "output").write_text(SECRET)
    (root / "target.sh").write_text(
        'o="$1"; d="$(dirname "$o")"; ' + script.format(outside=outside)
    )
    (root / "rubric-ci.yaml").write_text(
        "targets: [{name: default, provider: cli, "
        "command_template: 'sh target.sh {OUTPUT_FILE}'}]\n"
    )
    (root / "a.eval.yaml").write_text(SCRIPTED)
    done = rubric_ci(root, "run", "a.eval.yaml")
    assert done.exit_code == 3, done.stderr
    case = json.loads((root / ".rubric-ci/report.json").read_text())["cases"][0]
    assert "cannot read the {OUTPUT_FILE} of the command: " in case["reason"]
    assert reason in case["reason"]
    assert (outside / "output").read_text() == SECRET
