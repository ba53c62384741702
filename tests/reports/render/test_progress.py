"""Progress: plain lines where there is no terminal, a bar where there is one."""

import sys
import textwrap
from io import StringIO

import pexpect

from rubric_ci.reports.render.progress import progress
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
        from rubric_ci.reports.render.progress import progress
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
