"""The table of parts: each offer exists, and a part is imported only when it is asked for."""

import json
import subprocess
import sys
from importlib import import_module

import pytest

from rubric_ci.values import parts


@pytest.mark.parametrize("name", parts.PARTS)
def test_every_offer_exists(name: str) -> None:
    part: parts.Part = import_module(f"rubric_ci.parts.{name}").PART
    places = [place for below in part.commands.values() for place in below.values()]
    for place in (*places, *part.programs.values(), *part.entries.values()):
        module, _, attribute = place.partition(":")
        found = import_module(f"rubric_ci.parts.{name}.{module}")
        assert not attribute or hasattr(found, attribute), place


def test_a_name_is_offered_once() -> None:
    for field in ("programs", "entries"):
        offers = [*parts.Offers(field)]
        assert len(offers) == len({*offers})
    names = [name for _, name, _ in parts.commands()]
    assert sorted(names) == ["adopt", "baseline", "history", "import", "judge", "probe"]


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
