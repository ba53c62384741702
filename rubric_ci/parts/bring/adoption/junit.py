"""JUnit's XML, which most test runners write: `failure` is a fail, `error` no verdict."""

from collections.abc import Iterator
from xml.etree import ElementTree as ET

from rubric_ci.files.parsing.typed_json import Mismatch
from rubric_ci.parts.bring.adoption.samples import Check, Sample


def read(text: str) -> Iterator[Sample]:
    """Yield the test cases. A document type is refused: it could define entities."""
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise Mismatch("has a document type, which results have no use for")
    try:
        root = ET.fromstring(text)  # noqa: S314 - no document type, so no entities
    except ET.ParseError as error:
        raise Mismatch(f"not XML ({error})") from error
    if root.tag not in {"testsuites", "testsuite"}:
        raise Mismatch(f"`{root.tag}` is not `testsuites` or `testsuite`")
    yield from map(_sample, root.iter("testcase"))


def _sample(case: ET.Element) -> Sample:
    failure, error, skipped = (case.find(tag) for tag in ("failure", "error", "skipped"))
    reason = "" if failure is None else _said(failure)
    return Sample(
        id=case.get("name", ""),
        suite=case.get("file") or case.get("classname") or "",
        checks=(Check(name="test", passed=failure is None, reason=reason),),
        error="" if error is None else _said(error) or "error",
        skipped="" if skipped is None else _said(skipped) or "skipped",
        answer=(case.findtext("system-out") or "").strip(),
        seconds=_seconds(case.get("time", "")),
    )


def _said(element: ET.Element) -> str:
    return element.get("message") or (element.text or "").strip()


def _seconds(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
