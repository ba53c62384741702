"""What each command was asked to do, one value per command."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from rubric_ci.model.config import FailOn
from rubric_ci.model.defaults import (
    CACHE_DIR,
    CONCURRENCY,
    LABELS,
    OUTPUT_DIR,
    REPORT,
    TOLERANCE,
    ReportFormat,
)

CommentMode: TypeAlias = Literal["update", "new", "on-failure", "off"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestOptions:
    """How models are requested: concurrency, recording, and caps (None: no cap)."""

    concurrency: int = CONCURRENCY  # cases in progress
    record: Path | None = None  # every reply is written to this file
    replay: Path | None = None  # replies come from this recording
    max_calls: int | None = None
    max_cost_usd: float | None = None
    max_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheOptions:
    """The judgement cache."""

    folder: Path = Path(CACHE_DIR)
    enabled: bool = True


_REQUESTS = RequestOptions()
_CACHE = CacheOptions()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """`rubric-ci run`."""

    paths: tuple[str, ...] = ()
    config: Path | None = None
    target: str = ""
    judge: str = ""  # a model, in place of the configured one
    cases: tuple[str, ...] = ()  # globs over case ids
    tags: tuple[str, ...] = ()
    changed_since: str = ""  # a revision, or "auto"; empty: every case
    fail_on: FailOn | None = None  # None: as configured
    require_rubrics: bool = False
    trials: int = 1  # answers to each case
    baseline: Path | None = None  # an earlier report
    tolerance: float = TOLERANCE  # how far a score may fall below the baseline's
    shard: tuple[int, int] | None = None  # which part of how many, from 1; None: the whole
    requests: RequestOptions = _REQUESTS
    output_dir: Path = Path(OUTPUT_DIR)
    reports: tuple[ReportFormat, ...] = ("json", "markdown")
    annotations: bool | None = None  # None: when GITHUB_ACTIONS is set
    batch: bool = False  # gather requests to models; cheaper, and up to a day later
    offline: bool = False  # ask no model: only what is remembered is graded
    votes: int | Literal["auto"] | None = None  # None: as configured
    cache: CacheOptions = _CACHE
    color: Literal["auto", "always", "never"] = "auto"
    comment: CommentMode = "off"
    comment_key: str = "default"  # tells several comments on one pull request apart
    check_run: str = ""  # name of a check run to write as well; empty: none


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanSettings:
    """`rubric-ci plan`."""

    run: RunSettings  # which cases
    cases_per_shard: int = 25
    max_shards: int = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareSettings:
    """`rubric-ci compare`."""

    baseline: Path
    head: Path
    tolerance: float = TOLERANCE
    format: Literal["text", "markdown", "json"] = "text"
    issue: str = ""  # the title of the issue that is open while it is worse; empty: none


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerateSettings:
    """`rubric-ci generate rubrics`."""

    paths: tuple[str, ...] = ()
    config: Path | None = None
    target: str = ""  # who drafts; empty: the judge's model
    cases: tuple[str, ...] = ()  # globs over case ids
    kind: Literal["checklist", "score-range", "levels", "auto"] = "checklist"
    check: bool = False  # let the judge mark each reference answer by its draft
    diff: bool = False  # print, change nothing
    interactive: bool = False
    commit: bool = False
    fixup: str = ""  # the commit to fix up; empty: a commit of its own
    pr: bool = False  # publish: on the pull request's branch, else by a pull request of our own
    requests: RequestOptions = _REQUESTS
    cache: CacheOptions = _CACHE


@dataclass(frozen=True, slots=True, kw_only=True)
class CommentSettings:
    """`rubric-ci comment`, and the comment of `rubric-ci run`."""

    report: Path = Path(REPORT)
    mode: CommentMode = "update"
    key: str = "default"  # tells several comments on one pull request apart
    repository: str = ""  # owner/name; empty: the one of the workflow run
    pull_request: int | None = None  # None: the one of the event
    check: str = ""  # name of a check run to write as well; empty: none


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeCheckSettings:
    """`rubric-ci judge-check`."""

    paths: tuple[str, ...] = ()  # eval files whose cases carry answers; none: the shipped corpus
    config: Path | None = None
    judge: str = ""
    max_moved: int = 0
    requests: RequestOptions = _REQUESTS


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelSettings:
    """`rubric-ci label`."""

    paths: tuple[str, ...] = ()
    config: Path | None = None
    report: Path = Path(REPORT)  # whose answers are marked
    labels: Path = Path(LABELS)


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrateSettings:
    """`rubric-ci calibrate`."""

    labels: Path
    paths: tuple[str, ...] = ()
    config: Path | None = None
    judge: str = ""
    output: Path | None = None  # None: calibration.json at the repository root
    both_modes: bool = False  # batched and isolated
    seed: int = 0  # of the bootstrap
    requests: RequestOptions = _REQUESTS


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheSettings:
    """`rubric-ci cache`."""

    folder: Path = Path(CACHE_DIR)
    unused_days: float | None = None  # forget what was not used for so long
    max_megabytes: float | None = None  # then the longest unused, down to this size
    clear: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class InitSettings:
    """`rubric-ci init`."""

    folder: Path = Path()
    force: bool = False
