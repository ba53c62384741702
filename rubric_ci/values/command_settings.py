"""The options of each command, one value per command."""

from collections.abc import Mapping
from dataclasses import field, fields, is_dataclass
from datetime import date
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.formats_and_defaults import (
    CACHE_DIR,
    CONCURRENCY,
    LABELS,
    OUTPUT_DIR,
    REPORT,
    VARIANTS,
    ReportFormat,
)
from rubric_ci.values.gate import FailOn
from rubric_ci.values.scope import CasePlace

CommentMode: TypeAlias = Literal["update", "on-failure", "off"]
Settings = TypeVar("Settings")


def settings_of(kind: type[Settings], options: Mapping[str, Any]) -> Settings:
    """Return a value of this module; each option is the field of its name, here or in a field."""
    unused = set(options)

    def build(kind: Any) -> Any:
        given = {}
        for each in fields(kind):
            if each.name in options:
                unused.discard(each.name)
                given[each.name] = options[each.name]
            elif is_dataclass(each.type):
                given[each.name] = build(each.type)
        return kind(**given)

    found: Settings = build(kind)
    if unused:
        raise TypeError(f"{kind.__name__} has no field for the options {sorted(unused)}")
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestOptions:
    """How models are requested: concurrency, recording, and caps (None: no cap)."""

    concurrency: int = CONCURRENCY  # cases in progress
    record: Path | None = None  # every reply is written to this file
    replay: Path | None = None  # replies come from this recording
    allowed_hosts: tuple[str, ...] = ()  # of model servers; empty: the policy's
    debug: bool = False  # log requests and replies
    max_calls: int | None = None
    max_cost_usd: float | None = None
    max_seconds: float | None = None
    batch: bool = False  # requests are sent in batches
    offline: bool = False  # no request is sent, no command target is started
    list_only: bool = False  # requests are counted and listed, and none is sent

    @property
    def live(self) -> bool:
        """False if no request can be sent: replaying or offline."""
        return not (self.replay or self.offline)


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheOptions:
    """The cache of judgements and answers."""

    folder: Path = Path(CACHE_DIR)
    enabled: bool = True
    reuse_answers: bool = False  # also the head's answers come from the cache
    fresh: bool = False  # no answer comes from the cache
    # What vouches for its entries; see models/llm/cache_and_recording.py.
    seal: bytes = field(default=b"", repr=False)


_REQUESTS = RequestOptions()
_CACHE = CacheOptions()


@dataclass(frozen=True, slots=True, kw_only=True)
class _OfProject:
    """The paths, the policy, and how models are requested."""

    paths: tuple[str, ...] = ()
    config: Path | None = None
    policy_from: str = ""  # base, head or a file; empty: base where CI knows one, else head
    requests: RequestOptions = _REQUESTS


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectOptions:
    """The choice of cases, the policy, and the state that they are compared with."""

    config: Path | None = None
    policy_from: str = ""  # base, head or a file; empty: as above
    paths: tuple[str, ...] = ()
    places: tuple[CasePlace, ...] = ()  # FILE::CASE and FILE:LINE of the command line
    cases: tuple[str, ...] = ()  # globs over case ids
    tags: tuple[str, ...] = ()
    changed_since: str = ""  # a revision, or "auto"; empty: everything
    against: str = ""  # a revision whose cases are graded too, or "auto"; empty: head only
    untrusted: str = ""  # a stranger's commit, of which only texts are read; empty: the checkout
    last_failed: bool = False  # only cases without a pass in the report of `output_dir`
    shard: tuple[int, int] | None = None  # index from 1, count; None: all cases


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """The target and the judge; empty: as the eval files and the configuration say."""

    target: str = ""
    targets: tuple[str, ...] = ()  # several, which all answer every case; then `target` is empty
    judge: str = ""  # a model; overrides the configuration
    votes: int | Literal["auto"] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CommentSettings:
    """`rubric-ci report comment`, and the comment of `rubric-ci run`."""

    report: Path = Path(REPORT)
    mode: CommentMode = "update"
    key: str = ""  # identifies this comment when a pull request has several
    repository: str = ""  # owner/name; empty: the one of the workflow run
    pull_request: int | None = None  # None: the one of the event
    check: str = ""  # name of a check run to create; empty: none
    page: str = ""  # artifact with the page; empty: none
    sha: str = ""  # commit of the check run and of links; empty: the one of the event
    failure: str = ""  # why there is no report, which is posted in its place


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportOptions:
    """The baseline of a report, the rule of its gate, and the places where it is shown."""

    baseline: Path | None = None  # an earlier report
    fail_on: FailOn | None = None  # None: from the configuration
    output_dir: Path = Path(OUTPUT_DIR)
    reports: tuple[ReportFormat, ...] = ("json", "markdown")
    quiet: bool = False  # print the verdict only
    verbose: bool = False  # print question, expected outcome and answer of every case
    annotations: bool | None = None  # None: on if GITHUB_ACTIONS is set
    comment: CommentSettings = CommentSettings(mode="off")


_SELECT, _MODELS, _REPORT = SelectOptions(), Models(), ReportOptions()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    select: SelectOptions = _SELECT
    models: Models = _MODELS
    requests: RequestOptions = _REQUESTS
    cache: CacheOptions = _CACHE
    report: ReportOptions = _REPORT
    trials: int = 1  # answers per case
    max_failures: int | None = None  # cases without a pass after which the run stops; None: all run


@dataclass(frozen=True, slots=True, kw_only=True)
class AdoptSettings:
    results: tuple[Path, ...]
    tool: str = ""  # whose results they are; empty: as their content shows
    graders: tuple[str, ...] = ()  # that count; empty: all
    suite: str = ""  # what reports call the file of the cases; empty: as the results name it
    config: Path | None = None
    policy_from: str = ""
    report: ReportOptions = _REPORT


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanSettings:
    select: SelectOptions
    cases_per_shard: int
    max_shards: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareSettings:
    baseline: Path
    head: Path
    format: Literal["text", "json"] = "text"
    issue: str = ""  # title of the issue to keep open while it fails; empty: none


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerateSettings(_OfProject):
    target: str = ""  # target or model that drafts; empty: the judge's model
    cases: tuple[str, ...] = ()  # globs over case ids
    kind: Literal["checklist", "score-range", "levels", "auto"] = "checklist"
    tests: bool = False  # write answers that test the drafted criteria
    diff: bool = False  # print the changes, write nothing
    interactive: bool = False
    commit: bool = False
    fixup: str = ""  # commit to fix up; empty: none
    pr: bool = False  # commit to the pull request's branch, or open a pull request
    cache: CacheOptions = _CACHE


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizeSettings:
    allow: tuple[str, ...] = ()  # logins that may ask without the right to push
    label: str = "rubric-ci"
    comment: bool = True  # answer in the comment
    key: str = "default"  # identifies this comment when a pull request has several


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackSettings(_OfProject):
    # `paths` are eval files whose cases carry answers; none: the built-in corpus.
    judge: str = ""
    work: bool = False  # attacks are in the work of an agent
    examples: bool = False  # attacks are in an example that the judge is shown


@dataclass(frozen=True, slots=True, kw_only=True)
class RubricTestSettings(_OfProject):
    """`rubric-ci judge test`."""

    # `paths` are rubric files; none: all of the repository.
    judge: str = ""
    changed_since: str = ""  # only files that changed since; with the tests of then
    votes: int | Literal["auto"] | None = None
    format: Literal["text", "json", "junit"] = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeSettings:
    select: SelectOptions = _SELECT
    models: Models = _MODELS
    requests: RequestOptions = _REQUESTS
    cache: CacheOptions = _CACHE
    output_dir: Path = Path(OUTPUT_DIR)
    report: Path = Path(REPORT)  # its answers are changed
    variants: int = VARIANTS
    fail_on: str | None = None  # a word of a required criterion


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelSettings:
    paths: tuple[str, ...] = ()
    config: Path | None = None
    report: Path = Path(REPORT)  # its answers are marked
    labels: Path = Path(LABELS)


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrateSettings(_OfProject):
    labels: Path
    judge: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheSettings:
    folder: Path = Path(CACHE_DIR)
    unused_days: float | None = None  # delete entries unused for this many days
    clear: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WaiveSettings:
    what: str  # CASE/CRITERION
    until: date  # the last day
    reason: str
    owner: str = ""  # empty: the user's email address in git
    file: str = ""  # eval file, where several have a case of this id
    config: Path | None = None
