"""Problems as the tables of the tests have them, a line each."""

from collections.abc import Iterable

from rubric_ci.values.diagnostics import Diagnostic


def shown(found: Iterable[Diagnostic], *, severity: bool = False) -> str:
    """Return place, severity where it is wanted, rule and message of each problem."""
    return "\n".join(
        f"{d.span.line}:{d.span.column}: {f'{d.severity.value}: ' * severity}{d.rule}: {d.message}"
        for d in found
    )
