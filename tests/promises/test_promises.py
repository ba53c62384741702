"""Every cell of the table, tried with the command line, real programs and a real server."""

import json
from collections.abc import Iterator
from dataclasses import fields
from importlib import import_module
from itertools import chain
from pathlib import Path
from pkgutil import iter_modules
from typing import get_args

import pexpect
import pytest

from rubric_ci.files.parsing.config_parser import PROGRAMS
from rubric_ci.files.yaml_text.csv_cases import SUFFIXES
from rubric_ci.models.agents import AGENTS
from rubric_ci.parts.bring import dialects
from rubric_ci.parts.bring.adopted_tools import TOOLS
from rubric_ci.values import config, evals, messages, targets, workspace_settings
from rubric_ci.values.formats_and_defaults import TRACE_FORMATS
from tests import platforms
from tests.answer_judge import judging
from tests.forked_command import at_a_terminal
from tests.promises import kinds
from tests.promises.bench import Bench, Shelf
from tests.promises.checks import CHECKS
from tests.promises.kinds import Server
from tests.promises.table import KINDS, NO_KINDS, PROMISES, DoesNotApply, Holds, Refused, cell

pytestmark = [platforms.SHELL, platforms.TERMINALS]
ROOT = Path(__file__).parents[2]
CELLS = {(kind, promise): cell(kind, promise) for kind in KINDS for promise in PROMISES}
HELD = [pair for pair, each in CELLS.items() if isinstance(each, Holds)]
REFUSED = [pair for pair, each in CELLS.items() if isinstance(each, Refused)]
COMMANDS = {"calibrate": ("judge", "calibrate", "labels.jsonl"), "probe": ("probe",)}
OPTIONS = {
    "untrusted": ("--untrusted", "HEAD"),
    "replay": ("--record", "all.jsonl"),
    "sentinel": ("--trials", "15"),
}
CASES = {"against": 6}  # where two are too few


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    server = Server()
    with judging(server):
        yield Shelf(tmp_path_factory.mktemp("kinds"), server)


@pytest.mark.parametrize(("kind", "promise"), HELD, ids=lambda name: name)
def test_it_holds(kind: str, promise: str, shelf: Shelf) -> None:
    assert isinstance(cell(kind, promise), Holds)
    CHECKS[promise](shelf.bench(kind, CASES.get(promise, 2)))


@pytest.mark.parametrize(("kind", "promise"), REFUSED, ids=lambda name: name)
def test_it_is_refused(kind: str, promise: str, shelf: Shelf) -> None:
    bench, refused = shelf.bench(kind, 2), CELLS[kind, promise]
    assert isinstance(refused, Refused)
    assert bench.first_run().returncode == 0
    code, said = refusal(bench, promise)
    assert code == 2
    assert refused.says in " ".join(said.split())
    if promise in COMMANDS or promise == "label":
        assert len(said.strip().splitlines()) >= 2  # the last line says what to do


def refusal(bench: Bench, promise: str) -> tuple[int | None, str]:
    """Return the exit code of a command, and what it says."""
    if promise == "label":
        terminal = at_a_terminal(
            bench.root, bench.environment, "judge", "label", lines=100, columns=140
        )
        terminal.expect(pexpect.EOF)
        terminal.close()
        return terminal.exitstatus, " ".join(str(terminal.before).split(" "))
    more = OPTIONS.get(promise)
    done = bench.run(*more) if more else bench(*COMMANDS[promise])
    return done.returncode, done.stderr


def test_every_cell_is_one_of_three_and_says_why() -> None:
    others = [each for each in CELLS.values() if not isinstance(each, Holds)]
    assert all(isinstance(each, Refused | DoesNotApply) and each.why for each in others)
    assert CHECKS.keys() == PROMISES.keys()
    assert kinds.KINDS.keys() == KINDS.keys()
    assert all(promise.but.keys() <= KINDS.keys() for promise in PROMISES.values())


def test_every_kind_of_the_program_has_a_row() -> None:
    """A new target, provider, tool, dialect, kind of case or part needs a row in `table.py`."""
    schema = json.loads((ROOT / "schemas/config.schema.json").read_text("utf-8"))
    rules = (each["if"]["properties"]["provider"] for each in schema["$defs"]["target"]["allOf"])
    providers = (each.get("enum") or [each["const"]] for each in rules if each)
    modules = [
        import_module(f"{dialects.__name__}.{each.name}")
        for each in iter_modules(dialects.__path__)
        if not each.ispkg
    ]
    marks = {"translate", "translate_lines", "SUFFIX"}
    found = {
        *(f"target:{each.__name__}" for each in get_args(targets.Target)),
        *(f"provider:{name}" for name in (*chain(*providers), *PROGRAMS, *AGENTS)),
        *(f"tool:{name}" for name in TOOLS),
        *(f"dialect:{m.__name__.rpartition('.')[2]}" for m in modules if marks & vars(m).keys()),
        *(f"table:{suffix}" for suffix in SUFFIXES),
        *(f"trace:{name}" for name in TRACE_FORMATS),
        *(f"case:{each.name}" for each in fields(evals.EvalCase)),
        *(f"part:{each.__name__}" for each in get_args(messages.Part)),
        *(f"workspace:{each.name}" for each in fields(workspace_settings.Workspace)),
        *(f"config:{each.name}" for each in fields(config.Config)),
    }
    rows = [*(row.covers for row in KINDS.values()), NO_KINDS]
    assert sorted(chain(*rows)) == sorted(found)
