"""The folder that a target or a case works in, and what prepares it."""

from rubric_ci.values.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class GitSource:
    """A commit of another git repository, and where it is in a workspace."""

    url: str = ""
    path: str = ""  # of a repository or bundle on this machine, relative to the root; or `url`
    commit: str = ""  # its whole id
    ref: str = ""  # a branch or a tag, in place of `commit`: what it names may move
    into: str = ""  # its folder in the workspace; empty: the workspace itself
    history: bool = True  # the commits before it are there


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """A command around the work in a workspace, which starts outside of it."""

    command: tuple[str, ...]
    cwd: str = "."  # relative to the repository root
    timeout_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    """The commands around the work in a workspace."""

    before_all: Hook | None = None  # once per run
    before_each: Hook | None = None
    after_each: Hook | None = None

    @property
    def every(self) -> tuple[Hook, ...]:
        """Those that there are."""
        return tuple(filter(None, (self.before_all, self.before_each, self.after_each)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """The folder that a target works in, fresh for each trial."""

    copy: str = ""  # a folder of the repository, relative to its root; empty: nothing
    git: GitSource | None = None  # in place of `copy`
    repos: tuple[GitSource, ...] = ()
    setup: str | tuple[str, ...] = ""  # a shell command, or argv; run once per run
    hooks: Hooks = Hooks()
    keep: tuple[str, ...] = ("diff",)  # "diff", and globs of files whose text is kept
    of_target: bool = True  # not of a case, whose `setup` gets no variables of the target
    sandbox: tuple[str, ...] = ()  # a command line in front of the target's
    container: str = ""  # an image, in place of `sandbox`

    @property
    def sources(self) -> tuple[GitSource, ...]:
        """The commits that it has."""
        return (*filter(None, (self.git,)), *self.repos)

    @property
    def varies(self) -> bool:
        """Whether the same settings may give another folder at another time."""
        return bool(self.hooks.every) or any(source.ref for source in self.sources)
