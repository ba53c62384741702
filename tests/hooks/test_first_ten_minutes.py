"""`docs/first-ten-minutes.md`, typed command by command in an empty folder."""

import os
import re
from pathlib import Path

import pytest

from rubric_ci import __version__
from tests import platforms
from tests.captured import captured
from tests.checkout import ENVIRONMENT, Checkout
from tests.hooks import runner

pytestmark = [pytest.mark.slow, pytest.mark.deep]

PAGE = Path(__file__).parents[2] / "docs/first-ten-minutes.md"
BIN = platforms.SCRIPTS
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HOME = "https://github.com/rubric-ci/rubric-ci"


def steps() -> list[tuple[str, list[str]]]:
    """Return each command of the page with the lines of its output that the page shows."""
    found: list[tuple[str, list[str]]] = []
    for line in "".join(CONSOLE.findall(PAGE.read_text(encoding="utf-8"))).splitlines():
        if line.startswith("$ "):
            found.append((line.removeprefix("$ "), []))
        else:
            found[-1][1].append(line)
    return found


def environment(published: Checkout, shared: Path) -> dict[str, str]:
    """Return an environment in which the released repository is this one."""
    return {
        **ENVIRONMENT,
        "COLUMNS": "120",
        "PATH": os.pathsep.join([str(BIN), ENVIRONMENT["PATH"]]),
        "PRE_COMMIT_HOME": str(shared / "pre-commit"),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{published.root}.insteadOf",
        "GIT_CONFIG_VALUE_0": HOME,
    }


@platforms.SHELL
def test_the_session(published: Checkout, shared: Path, checkout: Checkout, tmp_path: Path) -> None:
    released = published.clone(tmp_path / "released")
    released.git("tag", f"v{__version__}")
    folder, environ = checkout.root, environment(released, shared)
    demo = tmp_path / "demo"
    assert len(steps()) < 10
    for command, lines in steps():
        typed = command.replace("/tmp/rubric-ci-demo", str(demo))
        if command.startswith("git add"):  # a release's `init` writes the tag
            hook = folder / ".pre-commit-config.yaml"
            hook.write_text(re.sub(r"rev: .*", f"rev: v{__version__}", hook.read_text("utf-8")))
        expected = int(re.findall(r"# exit code (\d)$", command)[0]) if "# exit" in command else 0
        done = captured(["bash", "-c", typed], cwd=folder, env=environ)
        shown = done.stdout + done.stderr
        assert done.returncode == expected, (command, shown)
        printed = [
            line.strip() for line in shown.replace(str(demo), "/tmp/rubric-ci-demo").splitlines()
        ]
        assert [line for line in lines if line not in printed] == [], shown
        folder = folder / "shop" if "cd shop" in command else folder
    runs_under_act(Checkout(folder), published)


def runs_under_act(user: Checkout, published: Checkout) -> None:
    """Run the workflow that `init` wrote, with the action of this checkout."""
    if not runner.ACT.exists():
        pytest.skip("the session passed up to act, which is not here; `make act` builds it with Go")
    job = runner.run(
        user,
        "evals-validate.yml",
        folder=str(user.root / ".github/workflows"),
        event="push",
        payload={"ref": "refs/heads/main"},
        published=published,
    )
    assert job.succeeded, job.log
    assert job.annotations == []
