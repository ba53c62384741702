"""The results of a run as OpenTelemetry spans, sent to the endpoint that the environment names.

The SDK is an extra, and is imported only where an endpoint is set.
"""

import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

from rubric_ci import __version__
from rubric_ci.system import output_and_masking
from rubric_ci.system.installation import install_command
from rubric_ci.text import numbers
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import Assessed, CaseResult, CriterionResult, EvaluatorResult

Facts: TypeAlias = dict[str, str | float | bool]

EVENT: Final = "gen_ai.evaluation.result"
_STATUS: Final = {"pass": "pass", "borderline": "pass", "fail": "fail"}


def about_case(case: CaseResult, *, with_content: bool) -> Facts:
    """Return the attributes of the span of a case; question and answer on demand."""
    facts: Facts = {
        "test.case.name": case.id,
        "test.suite.name": case.file,
        "rubric_ci.line": case.line,
        "rubric_ci.outcome": case.outcome,
        "rubric_ci.reason": case.reason,
    }
    if case.verdict:
        facts["test.case.result.status"] = _STATUS[case.verdict]
        facts |= {"rubric_ci.verdict": case.verdict, "rubric_ci.score": case.score}
    if case.change:
        facts["rubric_ci.change"] = case.change
    if case.status != "skipped":
        facts["rubric_ci.target"] = case.target
        if with_content:
            facts["gen_ai.input.messages"] = _message("user", case.question)
            facts["gen_ai.output.messages"] = _message("assistant", case.answer)
    return {key: fact for key, fact in facts.items() if fact != ""}


def results(case: CaseResult) -> Iterator[Facts]:
    """Yield the attributes of an event for each criterion, and each evaluator without any."""
    evaluators = case.evaluators
    for each in evaluators:
        prefix = f"{each.name}/" if len(evaluators) > 1 else ""
        if isinstance(each, Assessed) and each.criteria:
            yield from (_criterion(found, prefix) for found in each.criteria if found.applies)
        else:
            yield _evaluator(each)


def _criterion(found: CriterionResult, prefix: str) -> Facts:
    label = str(found.mark)
    if isinstance(found.mark, bool):
        label = "fail" if found.mark is found.fault else "pass"
    return _event(
        f"{prefix}{found.id}",
        found.normalised,
        label,
        found.reasoning,
        {"rubric_ci.kind": found.kind, "rubric_ci.gated": found.gated},
    )


def _evaluator(found: EvaluatorResult) -> Facts:
    if isinstance(found, Assessed):
        about: Facts = {"rubric_ci.kind": found.type, "rubric_ci.gated": bool(found.gated_by)}
        return _event(found.name, found.score, found.verdict, found.reasoning, about)
    return {
        "gen_ai.evaluation.name": found.name,
        "gen_ai.evaluation.explanation": found.reason,
        "rubric_ci.kind": found.type,
        "error.type": "no_verdict",
    }


def _event(
    name: str, value: float, label: str, why: str, about: Mapping[str, str | float | bool]
) -> Facts:
    explained: Facts = {"gen_ai.evaluation.explanation": why} if why else {}
    return {
        "gen_ai.evaluation.name": name,
        "gen_ai.evaluation.score.value": float(value),
        "gen_ai.evaluation.score.label": label,
        **explained,
        **about,
    }


def _message(role: str, text: str) -> str:
    parts = [{"type": "text", "content": text}]
    return json.dumps([{"role": role, "parts": parts}], ensure_ascii=False) if text else ""


ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS: Final = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_EXPORTER: Final = "OTEL_TRACES_EXPORTER"
_EVENTS: Final = "OTEL_LOGS_EXPORTER"
_HTTP: Final = "http/protobuf"
_CONTENT: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_WITH_CONTENT: Final = ("true", "span_only", "span_and_event")
_AT_ONCE: Final = 200  # spans of a request
_NANOSECONDS: Final = 10**9


_Add: TypeAlias = Callable[[Any, Facts, int], None]
"""Adds the facts of a result to a span, at a time in nanoseconds."""


def export(report: RunReport, environment: Mapping[str, str]) -> list[str]:
    """Send a span for each case; return a line on what was sent, or why nothing was.

    Nothing is wrong with a run whose results cannot be sent.
    """
    name, endpoint = _first(environment, ENDPOINTS)
    disabled = environment.get("OTEL_SDK_DISABLED", "").lower() == "true"
    if not (endpoint and report.cases) or disabled or environment.get(_EXPORTER) == "none":
        return []
    form, protocol = _first(environment, _PROTOCOLS)
    if protocol not in {"", _HTTP}:
        return [f"{form} is {protocol}; results are exported with `{form}={_HTTP}` only"]
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    except ImportError:
        return [f"{name} is set; to export the results: {install_command('otel')}"]
    host = urlsplit(endpoint).hostname or "the endpoint"
    try:
        spans, events = _recorded(report, environment)
        failure = _send(OTLPSpanExporter(session=_session()), spans)
        if events and not failure:
            from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter

            failure = _send(OTLPLogExporter(session=_session()), events)
    except Exception as error:  # noqa: BLE001 - of the SDK or of its settings; a run has its verdict
        failure = f"{type(error).__name__}: {error}"
    count = numbers.plural(len(report.cases), "span")
    said = f"results are not exported to {host}: {failure}" if failure else ""
    return [output_and_masking.redact(said or f"exported {count} to {host}")]


def _first(environment: Mapping[str, str], names: Sequence[str]) -> tuple[str, str]:
    """Return the first variable that has a value, and the value."""
    found = ((name, environment.get(name, "").strip()) for name in names)
    return next((each for each in found if each[1]), ("", ""))


def _session() -> Any:
    """Return a session that follows no redirect, and for which one is not a success."""
    import requests  # a dependency of the extra

    session = requests.Session()
    session.max_redirects = 0
    return session


def _send(exporter: Any, records: Sequence[Any]) -> str:
    """Send spans or events in parts; return why the first part failed that did, else ""."""
    with _complaints() as said:
        for start in range(0, len(records), _AT_ONCE):
            done = exporter.export(records[start : start + _AT_ONCE])
            if done.name != "SUCCESS":
                reasons = dict.fromkeys((*said[:1], *said[-1:]))
                return " ".join(" ".join(reasons or ["no reason given"]).split())[:300]
        exporter.shutdown()
    return ""


@contextmanager
def _complaints() -> Iterator[list[str]]:
    """Collect what the SDK logs, which would print it with a traceback."""
    said: list[str] = []
    handler = logging.Handler()
    # `emit` is the one method of a handler that is meant to be replaced
    handler.emit = lambda record: said.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("opentelemetry")
    propagated, logger.propagate = logger.propagate, False
    logger.addHandler(handler)
    try:
        yield said
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagated


def _recorded(report: RunReport, environment: Mapping[str, str]) -> tuple[list[Any], list[Any]]:
    """Return a root span for each case, and an event for each of its criteria.

    Events are span events, which every receiver of traces shows, or on demand log records, as the
    conventions have them.
    """
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import SpanLimits, TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    kept = InMemorySpanExporter()
    resource = Resource.create(_about(report, environment))
    limits = SpanLimits(max_events=SpanLimits.UNSET)  # an event for every criterion
    provider = TracerProvider(resource=resource, span_limits=limits, shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(kept))
    tracer = provider.get_tracer("rubric-ci", __version__)
    add, events = _log_records(resource) if environment.get(_EVENTS) == "otlp" else (_on_span, list)
    content = environment.get(_CONTENT, "").lower() in _WITH_CONTENT
    started = int(datetime.fromisoformat(report.started_at).timestamp() * _NANOSECONDS)
    for case in report.cases:
        _span(tracer, case, started, add, with_content=content)
    return list(kept.get_finished_spans()), events()


def _span(tracer: Any, case: CaseResult, started: int, add: _Add, *, with_content: bool) -> None:
    from opentelemetry.context import Context
    from opentelemetry.trace import Status, StatusCode

    seconds = case.duration_seconds
    ended = started + int((seconds or 0) * _NANOSECONDS)
    facts = output_and_masking.redacted(about_case(case, with_content=with_content))
    span = tracer.start_span(
        f"evaluate {case.id}", context=Context(), attributes=facts, start_time=started
    )
    for each in output_and_masking.redacted([*results(case)]):
        add(span, each, ended)
    if case.status == "errored":
        span.set_status(Status(StatusCode.ERROR, output_and_masking.redact(case.reason)))
    span.end(ended)


def _on_span(span: Any, facts: Facts, time: int) -> None:
    span.add_event(EVENT, facts, timestamp=time)


def _log_records(resource: Any) -> tuple[_Add, Callable[[], list[Any]]]:
    """Return two functions: one adds an event as a log record, the other returns all of them."""
    from opentelemetry._logs import LogRecord
    from opentelemetry.sdk._logs import LoggerProvider
    from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
    from opentelemetry.trace import set_span_in_context

    kept = InMemoryLogRecordExporter()
    provider = LoggerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_log_record_processor(SimpleLogRecordProcessor(kept))
    logger = provider.get_logger("rubric-ci", __version__)

    def add(span: Any, facts: Facts, time: int) -> None:
        context = set_span_in_context(span)
        logger.emit(LogRecord(timestamp=time, context=context, event_name=EVENT, attributes=facts))

    return add, lambda: list(kept.get_finished_logs())


def _about(report: RunReport, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the facts of the run: its judge, and the commit and pipeline that it is of."""
    named = environment.get("OTEL_SERVICE_NAME") or "service.name=" in environment.get(
        "OTEL_RESOURCE_ATTRIBUTES", ""
    )
    facts = {
        "service.name": "" if named else "rubric-ci",
        "service.version": __version__,
        "rubric_ci.judge": report.judge.model if report.judge else "",
        "vcs.ref.head.revision": report.metadata.get("head_sha", ""),
        "cicd.pipeline.run.url.full": report.metadata.get("run_url", ""),
    }
    return {key: fact for key, fact in facts.items() if fact}
