"""Files that could hang the parser or exhaust memory are reported within limits."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests import platforms
from tests.checkout import Checkout

pytestmark = pytest.mark.deep

MAX_MEMORY = 200  # MiB

PEAK_OF = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, text=True)
lines = done.stdout.splitlines()
unit = 2**20 if sys.platform == "darwin" else 2**10  # bytes there, else KiB
print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // unit)
summary = next(line for line in lines if " checked: " in line)
print(lines[0].split(": ")[1] if len(lines) > 1 else "", summary, sep="\\n")
"""

CASE = "evalcases:\n- id: a\n  input: q\n"
MEMBER = "{{name: m{0:05}x, type: latency, threshold: 1}},"
BRACES = '"{{ answer }} {{' + " " * 200_000 + '"'
ESCAPES = "\\n" * 7_000_000
JUDGED = "- {{name: t{0}, model: openai/m, judge_target: x{0}}}\n"

TRAPS = {
    "values as many as may be": (
        "a.yaml",
        "evalcases:\n"
        + "".join(f"- {{id: c{n}, input: q, rubrics: [r]}}\n" for n in range(24_000)),
        ("0", "notice", "1 notice"),
    ),
    "wrong entries": (
        "a.yaml",
        "evalcases:\n" + "- 1\n" * 199_000,
        ("1", "wrong-type", "1,001 errors"),
    ),
    "odd numbers": (
        "a.yaml",
        f"{CASE}  rubrics: [{'1_0,' * 190_000}]\n",
        ("1", "not-text", "1,001 errors"),
    ),
    "keys given twice": (
        "a.yaml",
        f"{CASE}  metadata: {{{''.join(f'k{n}: 1,' for n in range(45_000)) * 2}}}\n",
        ("1", "case-empty", "1,001 errors"),
    ),
    "aliases of one case": (
        "a.yaml",
        "x-a: &a {b: [1, 2, 3]}\nevalcases: [" + "*a," * 190_000 + "]\n",
        ("1", "case-empty", "5 errors"),
    ),
    "merges in merges with keys of their own": (
        "a.yaml",
        "x-a0: &a0 {b0: 1_0}\nx-b0: &b0 {c0: 1_0}\n"
        + "".join(
            f"x-{name}{n}: &{name}{n} {{{name}k{n}: 1, <<: [*a{n - 1}, *b{n - 1}]}}\n"
            for n in range(1, 16)
            for name in "ab"
        )
        + f"{CASE}  rubrics: [r]\n  <<: *a15\n",
        ("1", "plain-number", "3 errors"),
    ),
    "comments that silence nothing": (
        "a.yaml",
        f"{CASE}  rubrics: [r]\n" + "# rubric-ci: ignore[x]\n" * 190_000,
        ("0", "", "no problems"),
    ),
    "braces and blanks of a prompt": (
        "a.yaml",
        f"{CASE}  evaluators:\n  - {{name: e, type: llm_judge, prompt: {BRACES}}}\n",
        ("0", "", "no problems"),
    ),
    "weights of members that are not there": (
        "a.yaml",
        f"{CASE}  evaluators: [{{name: c, type: composite, evaluators: ["
        + "".join(map(MEMBER.format, range(15_000)))
        + "], aggregator: {type: weighted_average, weights: {"
        + "".join(f"m{n:05}y: 1," for n in range(15_000))
        + "}}}]\n",
        ("1", "unknown-member", "1,001 errors"),
    ),
    "wrong entries at the end of a line": (
        "a.jsonl",
        '{"id": "a", "input": "q", "rubrics": [' + '"r",' * 150_000 + "1," * 500 + '"r"]}\n',
        ("1", "not-text", "500 errors"),
    ),
    "no JSON": ("a.jsonl", "x\n" * 190_000, ("1", "json-syntax", "1,001 errors")),
    "an open text": ("a.jsonl", '"' + '\\"' * 900_000 + "\n", ("1", "json-syntax", "1 error")),
    "a text of escapes": ("a.jsonl", f'"{ESCAPES}"\n', ("1", "file-size", "1 error")),
    "judges that are not there": (
        "targets.yaml",
        "targets:\n" + "".join(map(JUDGED.format, range(12_000))),
        ("1", "unknown-target", "1,001 errors"),
    ),
}


@platforms.MEMORY
@pytest.mark.parametrize(("file", "text", "expected"), TRAPS.values(), ids=TRAPS)
def test_traps(file: str, text: str, expected: tuple[str, str, str], tmp_path: Path) -> None:
    Checkout.create(tmp_path)
    (tmp_path / file).write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "rubric_ci", "validate", file]
    # NOTE: a child's peak starts at its parent's size, so a small process starts the child.
    between = [sys.executable, "-I", "-c", PEAK_OF, *command]
    done = subprocess.run(
        between, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60
    )
    first, rule, summary = done.stdout.splitlines()
    code, peak = first.split()
    assert (code, rule, summary.removeprefix("1 file checked: ")) == expected
    assert int(peak) < MAX_MEMORY
