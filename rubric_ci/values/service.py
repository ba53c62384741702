"""A service that answers over HTTP: deployed, or started by a run once for each side."""

from dataclasses import replace
from typing import ClassVar, Final, Self

from rubric_ci.values.config import Globs, LlmTarget, TargetFacts
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.service_program import ServiceProgram

DEPLOYED: Final = "its service is deployed, and what answers there may have changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceTarget(LlmTarget):
    """A service answers; `endpoint.http` says how it is asked."""

    runs: ClassVar[str] = "asks a service"
    program: ServiceProgram | None = None  # None: it is deployed
    depends_on: Globs = None  # None: every file of the repository

    @property
    def url_before(self) -> str:
        return str(self.endpoint.options.get("url_before", ""))

    @property
    def answers_on_both_sides(self) -> bool:
        """False for a service that is deployed at one place, which would answer as the head.

        Its kept answers count in place of the base's.
        """
        return bool(self.program or self.url_before)

    @property
    def always_selected(self) -> str:
        """A deployed service may have changed, unless its files are written."""
        return DEPLOYED if self.program is None and self.depends_on is None else ""

    def at_base(self, head: TargetFacts) -> Self:
        """Return the service of the base as it is asked: where the head says, if deployed."""
        if self.program:
            return self
        options = {k: v for k, v in self.endpoint.options.items() if k != "url_before"}
        url = head.url_before if head.endpoint and head.endpoint.http else self.url_before
        if url:
            options |= {"api_base": url, "url_before": url}
        return replace(self, endpoint=replace(self.endpoint, options=options))
