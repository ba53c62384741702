"""All user-facing errors and all exit codes.

Invalid input is a value (`model.diagnostics.Diagnostic`). Two things are raised: `UserError` for a
broken setup, caught once, in `cli/main.py`, and `NoVerdict` for a case without a verdict, caught
where a target or an evaluator is called, as `Errored` or `Unassessed`. Any other exception is a bug
and shows its traceback.
"""

from copy import copy
from enum import IntEnum
from typing import TYPE_CHECKING, Literal, Self, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rubric_ci.values.diagnostics import Diagnostic
    from rubric_ci.values.results import Answer
    from rubric_ci.values.usage import Usage


class ExitCode(IntEnum):
    """Exit code of the process."""

    OK = 0  # no problems, or the gate passes
    GATE = 1  # problems found, or the gate fails
    USAGE = 2  # the command line, the configuration or an eval file is invalid
    NO_VERDICT = 3  # a target, a judge, a script or the budget failed


FailureScope: TypeAlias = Literal["request", "account", "host", "server"]


class UserError(Exception):
    """The setup is broken; message and hint name the problem, the place and the fix."""

    exit_code = ExitCode.USAGE

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class CannotFindEvals(UserError):
    """A path does not exist or contains no eval file."""


class CannotReadFile(UserError):
    """A file named on the command line or by the configuration cannot be read.

    `reason` is why, without the name of the file.
    """

    def __init__(self, message: str, hint: str = "", *, reason: str = "") -> None:
        super().__init__(message, hint)
        self.reason = reason or message


class CannotReadReport(UserError):
    """A file is not a report, or has a newer version."""


class CannotReadHistory(UserError):
    """A file is not a history of runs, is missing, or has a newer version."""


class CannotMerge(UserError):
    """Reports are not the shards of one run."""


class CannotWriteFile(UserError):
    """A report or recording cannot be written."""


class ChangedMeanwhile(CannotWriteFile):
    """A file changed after it was read."""


class InvalidInput(UserError):
    """Eval files or configuration have problems that were already printed: `problems`."""

    def __init__(
        self, message: str, hint: str = "", *, problems: "Sequence[Diagnostic]" = ()
    ) -> None:
        super().__init__(message, hint)
        self.problems = tuple(problems)


class CannotConfigure(UserError):
    """The configuration names something that does not exist or cannot work."""


class CannotReadPolicy(CannotConfigure):
    """The configuration whose judge and gate hold cannot be read."""


class NoJudge(CannotConfigure):
    """An evaluator needs a judge and none is configured."""

    def __init__(self) -> None:
        hint = "set `judge: {model: ...}` in rubric-ci.yaml, or use --judge"
        super().__init__("no judge is configured", hint)


class CannotReachGitHub(UserError):
    """GitHub refused a request, did not respond, or has another address."""


class CannotFindPullRequest(UserError):
    """The pull request of the report does not exist."""


class CannotRunTool(UserError):
    """Another eval tool wrote no results."""

    exit_code = ExitCode.NO_VERDICT


class CannotCalibrate(UserError):
    """The judge gave no verdict on any labelled answer."""

    exit_code = ExitCode.NO_VERDICT


class PullRequestSuperseded(CannotFindPullRequest):
    """The pull request has a newer push or was closed: nothing is posted, which is not an error."""

    exit_code = ExitCode.OK


class MissingVariable(CannotConfigure):
    """`${{ NAME }}` names an environment variable that is not set."""


class ForbiddenVariable(CannotConfigure):
    """`${{ NAME }}` names an environment variable that the configuration must not use."""


class MissingExtra(UserError):
    """A command needs an optional dependency that is not installed."""


class CannotUseGit(UserError):
    """Git is missing, or the folder is not a readable checkout."""


class CannotFindRevision(UserError):
    """A revision to compare with does not exist."""


class CannotCommit(UserError):
    """The state of the checkout does not allow a commit."""


class CannotPush(UserError):
    """A branch cannot or must not be pushed to."""


class NoVerdict(Exception):
    """A case has no verdict; the message is the reason that reports show."""

    def __init__(self, reason: str, usage: "Usage | None" = None) -> None:
        from rubric_ci.values.usage import NOTHING_USED  # validate does not need it

        super().__init__(reason)
        self.usage = usage or NOTHING_USED  # spent without a result; the totals include it
        self.did: Answer | None = None  # what the target did before it failed; None: not known

    def with_usage(self, usage: "Usage") -> Self:
        """Return the same error with all that was spent up to it."""
        found = copy(self)
        found.usage = usage
        return found

    def after(self, did: "Answer | None") -> Self:
        """Return the same error with the work of the target before it."""
        found = copy(self)
        found.did = did
        return found


class CannotAnswer(NoVerdict):
    """The target gave no valid answer."""


class TargetBusy(CannotAnswer):
    """The server of an agent refused a request as one too many: status 429."""


class CannotJudge(NoVerdict):
    """The judge gave no valid judgement."""


class CannotMeasure(NoVerdict):
    """A measurement of the target or a reference value of the case is missing."""


class CannotRunScript(NoVerdict):
    """A script failed, timed out or printed an invalid result."""


class ScriptTimedOut(CannotRunScript):
    """A script did not end in time and was killed; it has what it printed until then."""

    def __init__(
        self,
        reason: str,
        usage: "Usage | None" = None,
        *,
        seconds: float = 0,
        printed: str = "",
        complained: str = "",
    ) -> None:
        super().__init__(reason, usage)
        self.seconds = seconds
        self.printed = printed  # on stdout
        self.complained = complained  # on stderr


class OverBudget(NoVerdict):
    """A cap on calls, cost or time is reached.

    `cap` is the cap that was reached, `before` the failed request that was to be repeated.
    """

    def __init__(self, cap: str, usage: "Usage | None" = None, *, before: str = "") -> None:
        super().__init__(f"{cap}; before that: {before}" if before else cap, usage)
        self.cap = cap
        self.before = before


class CannotReachModel(NoVerdict):
    """A model call failed permanently: refused, unauthorised, or out of retries.

    `scope` is what failed: this request, every request of the account (key, model, quota), the
    connection to the host, or the server.
    """

    def __init__(
        self, reason: str, usage: "Usage | None" = None, *, scope: "FailureScope" = "request"
    ) -> None:
        super().__init__(reason, usage)
        self.scope = scope


class NotCached(Exception):
    """An answer needs what the run lacks, offline or without a key: the case is skipped."""
