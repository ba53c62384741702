"""The table of parts: each offer exists, and a part is imported only when it is asked for."""

import json
import os
import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from rubric_ci.values import parts
from tests import written_schemas

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", parts.PARTS)
def test_every_offer_exists(name: str) -> None:
    part: parts.Part = import_module(f"rubric_ci.parts.{name}").PART
    places = [place for below in part.commands.values() for place in below.values()]
    for offers in (part.programs, part.evaluators, part.entries):
        places += offers.values()
    for place in places:
        module, _, attribute = place.partition(":")
        found = import_module(f"rubric_ci.parts.{name}.{module}")
        assert not attribute or hasattr(found, attribute), place


def test_a_name_is_offered_once() -> None:
    for field in ("programs", "evaluators", "entries"):
        offers = [*parts.Offers(field)]
        assert len(offers) == len({*offers})
    names = [name for _, name, _ in parts.commands()]
    assert sorted(names) == [
        *(
            "adopt",
            "authorize",
            "baseline",
            "demo",
            "doctor",
            "history",
            "import",
            "init",
            "judge",
            "probe",
        )
    ]


def test_offers_are_a_mapping() -> None:
    programs: parts.Offers[object] = parts.Offers("programs")
    assert "codex" in programs
    assert "cursor" not in programs
    assert len(programs) == 6
    with pytest.raises(KeyError):
        programs["cursor"]


def test_a_removed_part_offers_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "PARTS", ("bring",))
    assert parts.offered("litellm") is None
    assert [heading for heading, _, _ in parts.commands()] == ["Bring", "Bring"]


def test_schemas_are_written_without_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(written_schemas, "PARTS", ())
    monkeypatch.delitem(sys.modules, "rubric_ci.parts.graders.usage_limits", raising=False)
    for path, text in written_schemas.outputs():
        assert text == path.read_text("utf-8")
    assert "rubric_ci.parts.graders.usage_limits" not in sys.modules


def test_no_part_is_imported_before_it_is_asked_for() -> None:
    """The rest of a part is not even loaded with its row."""
    code = (
        "import json, sys\n"
        "from rubric_ci.models.agents import AGENTS\n"
        "known = 'codex' in AGENTS\n"
        "before = sorted(name for name in sys.modules if 'rubric_ci.parts.' in name)\n"
        "AGENTS['codex']\n"
        "after = sorted(name for name in sys.modules if 'rubric_ci.parts.' in name)\n"
        "print(json.dumps([before, sorted({*after} - {*before})]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    before, after = json.loads(done.stdout)
    assert before == ["rubric_ci.parts.agents"]
    assert after == ["rubric_ci.parts.agents.codex"]


@pytest.mark.parametrize("gone", [*((name,) for name in parts.PARTS), parts.PARTS], ids="+".join)
def test_the_core_works_without_a_part(gone: tuple[str, ...], tmp_path: Path) -> None:
    """A part is removed as the design says: its folder, and its row of the table."""
    package = tmp_path / "rubric_ci"
    shutil.copytree(ROOT / "rubric_ci", package, ignore=shutil.ignore_patterns("__pycache__"))
    for name in gone:
        shutil.rmtree(package / "parts" / name)
    table = package / "values" / "parts.py"
    left = tuple(name for name in parts.PARTS if name not in gone)
    row = re.compile(r"(?<=^PARTS: Final = )\(.*?\)", re.DOTALL | re.MULTILINE)
    text, rows = row.subn(repr(left), table.read_text(encoding="utf-8"))
    assert rows == 1
    table.write_text(text, encoding="utf-8")
    shutil.copytree(ROOT / "schemas", tmp_path / "schemas")
    shutil.copytree(ROOT / "examples" / "quickstart", tmp_path / "quickstart")
    shutil.copy(ROOT / ".pre-commit-hooks.yaml", tmp_path)

    def run(*arguments: str) -> tuple[int, str]:
        command = [sys.executable, "-P", "-m", "rubric_ci", *arguments]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert "Traceback" not in done.stderr, done.stderr
        return done.returncode, done.stdout

    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    replay = "--replay=quickstart/judge.replay.jsonl"
    assert run("--help")[0] == 0
    assert run("validate", "--config", "quickstart/rubric-ci.yaml")[0] == 0
    code, said = run("run", "--config", "quickstart/rubric-ci.yaml", replay, "--reports=junit")
    if "formats" in gone:
        assert (code, said) == (2, "")
        code, said = run("run", "--config", "quickstart/rubric-ci.yaml", replay)
    assert (code, said.splitlines()[0]) == (
        1,
        "Gate fails: 1 of 3 graded cases fails (fail_on: fail)",
    )
