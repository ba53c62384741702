"""Which files of a repository a script of `code_judge` names, imports or reads."""

import pytest

from rubric_ci.grading_changes.files import MOST, ScriptFiles
from tests.cases import build_script

FILES = {
    "check.py": "import json\nfrom lib import strict\n",
    "lib/__init__.py": "",
    "lib/strict.py": "from .deep import depth\nopen('limits.json')\n",
    "lib/deep/depth.py": "import check\n",
    "lib/limits.json": "{'other.json'}",
    "lib/other.json": "",
    "other/strict.py": "",
    "judge.mjs": "import { rate } from './web/rate.js'\n",
    "web/rate.js": "require('../data/table.csv')\n",
    "data/table.csv": "",
    "run.sh": ". ./env.sh\npython3 -m tools.main\n",
    "env.sh": "",
    "tools/main/__main__.py": "",
    "README.md": "check.py",
}
STRICT = ["lib/__init__.py", "lib/deep/depth.py", "lib/limits.json", "lib/strict.py"]


@pytest.mark.parametrize(
    ("script", "cwd", "expected"),
    [
        ("python check.py", ".", ["check.py", *STRICT]),
        (("python", "check.py"), ".", ["check.py", *STRICT]),
        ('bash -c "python check.py"', ".", ["check.py", *STRICT]),
        ("python ../check.py", "other", ["check.py", *STRICT, "other/strict.py"]),
        ("python strict.py", "other", ["other/strict.py"]),
        ("node judge.mjs", ".", ["data/table.csv", "judge.mjs", "web/rate.js"]),
        ("./run.sh", ".", ["env.sh", "run.sh", "tools/main/__main__.py"]),
        ("python -m lib.deep.depth", ".", ["check.py", *STRICT]),
        ("grep -q hello {answer_file}", ".", []),
    ],
)
def test_used_files(script: str | tuple[str, ...], cwd: str, expected: list[str]) -> None:
    files = ScriptFiles(FILES, lambda path: FILES[path].encode())
    assert sorted(files.used_by(build_script(script, cwd=cwd))) == expected


def test_a_chain_of_files_ends() -> None:
    chain = {f"m{n}.py": f"import m{n + 1}" for n in range(2 * MOST)}
    files = ScriptFiles(chain, lambda path: chain[path].encode())
    assert len(files.used_by(build_script("python m0.py"))) == MOST
