"""The wheel, built and installed into an empty environment, validates evals on its own."""

import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

import rubric_ci
from tests.captured import captured

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.deep


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "-o", str(folder)]
    subprocess.run([*command, str(ROOT)], check=True, capture_output=True)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `rubric-ci` of a new environment that holds the wheel and the light list only."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder)
    uv = [sys.executable, "-m", "uv", "pip", "install", "-q", "--python", str(folder)]
    light = ROOT / "requirements" / "light.txt"
    subprocess.run([*uv, "--no-deps", "--require-hashes", "-r", str(light)], check=True)
    subprocess.run([*uv, "--no-deps", str(wheel)], check=True)
    scripts = folder / ("Scripts" if sys.platform == "win32" else "bin")
    return scripts / "rubric-ci"


def test_the_wheel_holds_the_parts_of_the_html_report(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        parts = {Path(name).name for name in archive.namelist() if "reports/html/" in name}
    assert {"base.css", "page.css", "page.js", "page.html", "case.html"} <= parts


def test_the_wheel_holds_the_schemas(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    schemas = {f"rubric_ci/_schemas/{path.name}" for path in (ROOT / "schemas").glob("*.json")}
    assert schemas
    assert schemas <= names


def test_version(installed: Path) -> None:
    done = subprocess.run([installed, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"rubric-ci, version {rubric_ci.__version__}\n"


def test_demo(installed: Path, tmp_path: Path) -> None:
    demo = run(installed, tmp_path, "demo", "shop")
    assert demo.returncode == 0, demo.stderr
    assert "Gate fails: 1 of 3 graded cases fails (fail_on: fail)" in demo.stdout.splitlines()


@pytest.mark.parametrize("target", ["model", "command", "recorded"])
def test_the_example_of_init_runs_offline(installed: Path, tmp_path: Path, target: str) -> None:
    started = run(installed, tmp_path, "init", "--yes", "--target", target)
    assert started.returncode == 0, started.stderr
    lines = started.stdout.splitlines()
    offline = [line.split("#")[0].split()[1:] for line in lines if line.endswith("# offline")]
    assert [words[0] for words in offline] == ["validate", "run"]
    done = [run(installed, tmp_path, *words) for words in offline]
    assert [each.returncode for each in done] == [0, 0], done
    assert "Gate passes: all 2 cases pass (fail_on: regression)" in done[1].stdout.splitlines()


def run(installed: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [installed, *words], cwd=folder, capture_output=True, encoding="utf-8", check=False
    )


def test_validate(installed: Path, tmp_path: Path) -> None:
    eval_file = tmp_path / "a.eval.yaml"
    eval_file.write_text("evalcases:\n  - id: one\n    input: Hi\n    rubric: [Greets]\n")
    done = captured([installed, "validate", "a.eval.yaml"], cwd=tmp_path)
    assert done.returncode == 1
    assert "a.eval.yaml:4:5" in done.stdout
    assert "rubrics" in done.stdout
