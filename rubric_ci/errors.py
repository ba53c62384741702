"""Every error that a user can meet, and every exit code, on one page.

Bad input is a value (`model.diagnostic.Diagnostic`). What is raised here is either a setup that
cannot work (`UserError`, caught once, in `cli/main.py`) or the lack of a verdict for one case
(`NoVerdict`, caught where a target or an evaluator is called, where it becomes `Errored` or
`Unassessed`). Anything else is a bug and shows its traceback.
"""

from enum import IntEnum
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rubric_ci.model.usage import Usage


class ExitCode(IntEnum):
    """What the process tells its caller."""

    OK = 0  # clean, or the gate holds
    GATE = 1  # problems found, or the gate fails
    USAGE = 2  # the command line, the configuration or an eval file is unusable
    NO_VERDICT = 3  # a target, a judge, a script or the budget gave no usable answer


class UserError(Exception):
    """The setup is broken: says what, where, and what to do."""

    exit_code = ExitCode.USAGE

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class CannotFindEvals(UserError):
    """A path does not exist or holds no eval file."""


class CannotReadFile(UserError):
    """A file named on the command line or by the configuration cannot be read."""


class CannotReadReport(UserError):
    """A report is no report, or one of a version that this program does not know."""


class CannotMerge(UserError):
    """Reports are not the shards of one run."""


class CannotWriteFile(UserError):
    """A report or recording cannot be written."""


class ChangedMeanwhile(CannotWriteFile):
    """A file is not what it was when it was read."""


class InvalidInput(UserError):
    """Eval files or configuration have problems that were already shown."""


class CannotConfigure(UserError):
    """The configuration names something that does not exist or cannot work."""


class NoJudge(CannotConfigure):
    """An evaluator needs a judge and none is configured."""

    def __init__(self) -> None:
        hint = "set `judge: {model: ...}` in rubric-ci.yaml, or use --judge"
        super().__init__("no judge is configured", hint)


class CannotReachGitHub(UserError):
    """GitHub refused, did not answer, or is not where the environment says."""


class CannotFindPullRequest(UserError):
    """There is no pull request to write to, or not the one that the report is about."""


class CannotCalibrate(UserError):
    """The judge gave no verdict on any labelled answer."""

    exit_code = ExitCode.NO_VERDICT


class PullRequestMovedOn(CannotFindPullRequest):
    """A newer push or its closing overtook the run: there is nothing to post, and nothing wrong."""

    exit_code = ExitCode.OK


class MissingVariable(CannotConfigure):
    """`${{ NAME }}` names an environment variable that is not set."""


class MissingExtra(UserError):
    """A command needs an optional dependency that is not installed."""


class CannotUseGit(UserError):
    """Git is missing, or the folder is no checkout that it can read."""


class CannotFindRevision(UserError):
    """A revision to compare with does not exist."""


class CannotCommit(UserError):
    """The state of the checkout does not allow a commit of ours."""


class CannotPush(UserError):
    """A branch cannot be pushed to, or must not be."""


class NoVerdict(Exception):
    """One case ends without a verdict; the message is the reason that reports show."""

    def __init__(self, reason: str, usage: "Usage | None" = None) -> None:
        from rubric_ci.model.usage import NOTHING_USED  # a millisecond that validate does without

        super().__init__(reason)
        self.usage = usage or NOTHING_USED  # spent without a result; the totals include it

    def with_usage(self, usage: "Usage") -> Self:
        """Return the same error with all that was spent up to it."""
        return type(self)(str(self), usage)


class CannotAnswer(NoVerdict):
    """The target gave no usable answer."""


class CannotJudge(NoVerdict):
    """The judge gave no usable judgement."""


class CannotMeasure(NoVerdict):
    """The target or the case does not give what an evaluator measures or compares."""


class CannotRunScript(NoVerdict):
    """A script failed, timed out or printed what is no mark."""


class OverBudget(NoVerdict):
    """A cap on calls, cost or time is reached.

    `cap` is the cap that was reached, `before` the failed request that was to be repeated.
    """

    def __init__(self, cap: str, usage: "Usage | None" = None, *, before: str = "") -> None:
        super().__init__(f"{cap}; before that: {before}" if before else cap, usage)
        self.cap = cap
        self.before = before

    def with_usage(self, usage: "Usage") -> Self:
        """Return the same error with all that was spent up to it."""
        return type(self)(self.cap, usage, before=self.before)


class CannotReachModel(NoVerdict):
    """A model call failed for good: refused, unauthorised, or out of retries."""


class NotAsked(Exception):
    """Offline, and nothing is kept for a question that only a model can answer.

    No failure of anything: the engine skips the case.
    """
