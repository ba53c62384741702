"""Hostile pull requests, one a row: none is green, asks the attacker's server or shows a secret.

A new feature is attacked by one more row in the tables of this folder.
"""

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests import platforms
from tests.forked_command import started
from tests.invoke import invoke
from tests.parts.pytest import forked
from tests.sample_project import clean_environment
from tests.security.hostile_pull_requests import (
    deciding,
    eval_files,
    files,
    gate,
    policy,
    scripts,
    targets,
    text,
)
from tests.security.hostile_pull_requests.attack import BASE, EVALS, WORSE, Attack, answers
from tests.security.hostile_pull_requests.generator import Files, open_pull_request
from tests.security.hostile_pull_requests.servers import Judge, judging

KEY, TOKEN = "sk-of-the-repository", "token-of-the-deployment"
Start = Callable[..., "CompletedProcess[str]"]
TABLES = (policy, targets, gate, deciding, scripts, eval_files, files, text)
ATTACKS: Mapping[str, Attack] = {
    f"{table.__name__.rpartition('.')[2]}: {name}": attack
    for table in TABLES
    for name, attack in table.ATTACKS.items()
}


@pytest.fixture(scope="module")
def judges() -> Iterator[tuple[Judge, Judge]]:
    with judging(lenient=False) as strict, judging(lenient=True) as attacker:
        yield strict, attacker


@pytest.fixture
def strict(judges: tuple[Judge, Judge]) -> Judge:
    for judge in judges:
        judge.reset()
    return judges[0]


@pytest.fixture
def attacker(judges: tuple[Judge, Judge]) -> Judge:
    return judges[1]


def run(
    folder: Path, attack: Attack, strict: Judge, attacker: Judge, *, start: Start = invoke
) -> tuple[int, str, str]:
    """Return exit code, output and everything that was written of the workflow's own command."""
    outside = folder / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text(TOKEN)

    def served(files: Files) -> Files:
        urls = (("JUDGE", strict.url), ("ATTACKER", attacker.url), ("PYTHON", sys.executable))
        texts = dict(files)
        for word, url in urls:
            texts = {n: t if t is None else t.replace(word, url) for n, t in texts.items()}
        return texts

    base, head = {**BASE, **attack.base}, {"answers.jsonl": WORSE, **attack.head}
    pull = open_pull_request(folder, served(base), served(head), fork=attack.fork)
    secrets = {} if attack.fork else {"OPENAI_API_KEY": KEY, "DEPLOY_TOKEN": TOKEN}
    environment = {**clean_environment(), **pull.environment, **secrets, **attack.environment}
    if attack.session:
        done = forked.run(("--rubric-ci", *attack.session), pull.clone.root, environment)
    else:
        done = start(pull.clone.root, environment, "run")
    assert sorted(path.name for path in outside.iterdir()) == ["secret.txt"]
    assert (outside / "secret.txt").read_text() == TOKEN
    kept = [folder / "outputs", folder / "summary"]
    if not (made := pull.clone.root / ".rubric-ci").is_symlink():
        kept += [path for path in made.glob("*") if path.suffix in {".json", ".md"}]
    written = "".join(path.read_text() for path in kept if path.exists())
    return done.returncode, done.stdout + done.stderr, written


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack(tmp_path: Path, name: str, strict: Judge, attacker: Judge) -> None:
    attack = ATTACKS[name]
    if attack.needs_shell and sys.platform == "win32":
        pytest.skip("a POSIX shell runs its scripts")
    code, shown, written = run(tmp_path, attack, strict, attacker)
    assert code == attack.code, shown
    assert [text for text in attack.said if text not in " ".join(shown.split())] == [], shown
    assert (attacker.texts, set(strict.keys) - {f"Bearer {KEY}"}) == ([], set())
    sent, told = "".join(strict.texts), unmasked(shown) + written
    assert (TOKEN in sent, TOKEN in told, KEY in told) == (False, False, False)
    assert [line for line in commands(shown) if re.match(r"::[\w-]+::PWNED", line)] == []


def unmasked(shown: str) -> str:
    """Return the output without the commands that mask secrets in the log of the runner."""
    return "".join(line for line in shown.splitlines(True) if not line.startswith("::add-mask::"))


def commands(shown: str) -> Iterator[str]:
    """Yield the workflow commands that the runner obeys."""
    token = ""
    for line in re.split(r"\r\n|\n|\r", shown):
        if token:
            token = "" if line.strip() == f"::{token}::" else token
        elif found := re.match(r"\s*::stop-commands::(.*)", line):
            token = found[1].strip()
        elif re.match(r"\s*::", line):
            yield line.strip()


def in_a_fork(
    root: Path, environment: Mapping[str, str], *arguments: str
) -> "CompletedProcess[str]":
    """Run the command as a process of its own does."""
    process = started(root, environment, *arguments)
    out, err = process.communicate(timeout=90)
    return CompletedProcess(arguments, process.returncode, out, err)


HONEST: Mapping[str, tuple[int, Files]] = {
    "a better answer": (0, {"answers.jsonl": answers(one="hello you", two="hello")}),
    "a worse answer": (1, {}),
    "a new case": (
        0,
        {
            "evals/c.eval.yaml": EVALS.replace("id: one", "id: three"),
            "answers.jsonl": answers(one="hello", two="hello", three="hello"),
        },
    ),
}


@pytest.mark.parametrize(
    ("name", "start"), [*((name, invoke) for name in HONEST), ("a worse answer", in_a_fork)]
)
def test_an_honest_pull_request(
    tmp_path: Path, name: str, start: Start, strict: Judge, attacker: Judge
) -> None:
    """The judge is asked with the key: the attacks fail for the right reason."""
    code, head = HONEST[name]
    done = run(tmp_path, Attack(head=head), strict, attacker, start=start)
    assert (done[0], attacker.texts) == (code, []), done[1]
    assert set(strict.keys) == {f"Bearer {KEY}"}


@platforms.SHELL
def test_an_attackers_judge_makes_it_green(tmp_path: Path, strict: Judge, attacker: Judge) -> None:
    """Under the policy of the head the attack works, so that its row can fail."""
    attack = policy.ATTACKS["another address of the judge"]
    own = {"RUBRIC_CI_RUN_POLICY_FROM": "head", "RUBRIC_CI_RUN_AGAINST": ""}
    environment = {**attack.environment, **own}
    lax = Attack(head=attack.head, environment=environment)
    code, shown, _ = run(tmp_path, lax, strict, attacker)
    assert (code, set(attacker.keys)) == (0, {f"Bearer {KEY}"}), shown


def test_no_row_hides_another() -> None:
    assert len(ATTACKS) == sum(len(table.ATTACKS) for table in TABLES)
