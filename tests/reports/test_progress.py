"""Progress: plain lines where there is no terminal, a bar where there is one."""

import os
import re
import sys
import textwrap
from io import StringIO

import pexpect

from rubric_ci.reports.progress import progress
from tests import platforms
from tests.sample_reports import errored, graded, skipped


def test_plain_lines() -> None:
    stream = StringIO()
    with progress(12, stream) as ended:
        ended(graded("one", "pass"))
        ended(graded("two", "fail", reason="missed:\n##[error]owned"))
        ended(errored("three"))
        ended(skipped("::error::four"))
    assert stream.getvalue() == (
        "[ 1/12] pass       1.00  one\n"
        "[ 2/12] fail       0.00  two: missed: # #[error]owned\n"
        "[ 3/12] errored       -  three: the judge was silent\n"
        "[ 4/12] skipped       -  : :error::four: no rubrics\n"
    )


def test_thousands_have_a_separator() -> None:
    stream = StringIO()
    with progress(2_300, stream) as ended:
        for _ in range(1_001):
            ended(graded("one", "pass"))
    lines = stream.getvalue().splitlines()
    assert (lines[0], lines[-1]) == (
        "[    1/2,300] pass       1.00  one",
        "[1,001/2,300] pass       1.00  one",
    )


@platforms.TERMINALS
def test_bar_on_a_terminal() -> None:
    program = textwrap.dedent(
        """
        import sys, time
        from rubric_ci.reports.progress import progress
        from rubric_ci.values.results import Errored
        with progress(3, sys.stderr) as ended:
            for n in range(2):
                ended(Errored(file="f", line=1, id="[red]x", reason="r"))
                time.sleep(0.3)
        print("done")
        """
    )
    child = pexpect.spawn(sys.executable, ["-c", program], encoding="utf-8", timeout=20)
    child.expect("2/3")
    child.expect("2 errored")
    child.expect("done")
    child.expect(pexpect.EOF)


@platforms.TERMINALS
def test_a_bar_leaves_room_for_an_interruption() -> None:
    """A terminal shows Ctrl-C as ^C: behind a full line it would begin another one, which stays."""
    program = textwrap.dedent(
        """
        import sys, time
        from rubric_ci.reports.progress import progress
        from tests.sample_reports import errored, graded
        with progress(300, sys.stderr) as ended:
            for one in (graded("a", "pass"), graded("a", "borderline"), graded("a", "fail")):
                ended(one)
                ended(errored("a"))
            time.sleep(0.5)
        """
    )
    own = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "LINES"}}
    child = pexpect.spawn(
        sys.executable, ["-c", program], encoding="utf-8", env=own, dimensions=(24, 60)
    )
    child.expect(pexpect.EOF)
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", str(child.before))
    lines = [line for line in re.split(r"[\r\n]+", plain) if line.strip()]
    assert lines
    assert max(map(len, lines)) <= 57
