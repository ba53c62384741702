"""The wheel, built and installed into an empty environment, validates evals on its own."""

import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

import rubric_ci

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


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
    subprocess.run([*uv, "--require-hashes", "-r", str(light)], check=True)
    subprocess.run([*uv, "--no-deps", str(wheel)], check=True)
    scripts = folder / ("Scripts" if sys.platform == "win32" else "bin")
    return scripts / "rubric-ci"


def test_the_wheel_holds_the_parts_of_the_html_report(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        parts = {Path(name).name for name in archive.namelist() if "reports/html/" in name}
    assert {"base.css", "page.css", "page.js"} <= parts


def test_the_wheel_holds_the_schemas(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    schemas = {f"rubric_ci/_schemas/{path.name}" for path in (ROOT / "schemas").glob("*.json")}
    assert schemas
    assert schemas <= names


def test_version(installed: Path) -> None:
    done = subprocess.run([installed, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"rubric-ci, version {rubric_ci.__version__}\n"


def test_validate(installed: Path, tmp_path: Path) -> None:
    eval_file = tmp_path / "a.eval.yaml"
    eval_file.write_text("evalcases:\n  - id: one\n    input: Hi\n    rubric: [Greets]\n")
    done = subprocess.run(
        [installed, "validate", "a.eval.yaml"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "a.eval.yaml:4:5" in done.stdout
    assert "rubrics" in done.stdout
