"""`rubric-ci generate rubrics`: draft rubrics for cases without any and insert them."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from rubric_ci.errors import ExitCode, UserError
from rubric_ci.files.project.change import BaseOptions
from rubric_ci.files.project.loaded_project import LoadedProject, load_project, show_problems
from rubric_ci.files.project.suite_name import suite_of
from rubric_ci.gate.policy.checkout import allowed_hosts, open_under_policy, show_policy
from rubric_ci.github.actions import refuse_target_event
from rubric_ci.grading.resolve import name_judge, resolve_judge
from rubric_ci.grading.setup import build_context, readable_cache
from rubric_ci.services.drafting.draft_check import Drafted
from rubric_ci.services.drafting.draft_requests import (
    check_prices,
    choose_drafter,
    choose_requests,
    request_lines,
    write_step_outputs,
)
from rubric_ci.services.drafting.drafter import DraftFailed, DraftRequest, DraftResult, draft
from rubric_ci.services.drafting.drafting_reply import Draft
from rubric_ci.services.drafting.publish import NothingToPublish, Publish, Published, open_commit
from rubric_ci.services.drafting.review_and_insertion import (
    EvalFileText,
    Rewrite,
    SkippedCase,
    echo,
    read_eval_text,
    review,
    rewrite,
    show_diffs,
    show_outcome,
    show_spent,
    why_not,
    write,
)
from rubric_ci.services.publish_workflow import end
from rubric_ci.system import coroutines
from rubric_ci.system.coroutines import run_until_terminated
from rubric_ci.text import numbers
from rubric_ci.values.command_settings import GenerateSettings
from rubric_ci.values.usage import NOTHING_USED

MOST_NAMED = 3  # cases without a draft that an annotation names


def generate_rubrics(settings: GenerateSettings) -> ExitCode:
    """Load, select, draft, insert, publish; print the outcome of every case."""
    refuse_target_event(os.environ)
    bases = BaseOptions(policy_from=settings.policy_from)
    loaded = load_project(settings.paths, *open_under_policy(settings.config, bases))
    show_policy(loaded)
    show_problems(loaded.diagnostics)
    requests, skipped = choose_requests(loaded.files, settings.cases)
    paths = {request.case.file for request in requests}
    pages = [read_eval_text(file, loaded.root) for file in loaded.files if file.path in paths]
    requests, refused = (requests, []) if settings.diff else _writable(pages, requests)
    publish = _open_publication(settings, loaded.root, requests)
    if isinstance(publish, NothingToPublish):
        echo(publish.reason)
        write_step_outputs((), publish, os.environ)
        return _ended(loaded, ())
    drafted, failed = _split(requests, _draft(requests, loaded, settings) if requests else ())
    failed = [*refused, *failed]
    interrupted = False
    if settings.interactive:
        reviewed = review(drafted)
        drafted, interrupted = reviewed.accepted, reviewed.interrupted
        skipped = [*skipped, *reviewed.dropped]
    changes = [rewrite(page, _drafts(page, drafted), loaded.project) for page in pages]
    if settings.diff:
        show_diffs(changes)
    else:
        changes = [write(change) for change in changes]
    show_outcome(drafted, [*skipped, *failed], changes, invalid=loaded.invalid, err=settings.diff)
    if interrupted:
        return ExitCode.USAGE if loaded.invalid else ExitCode.NO_VERDICT
    published = publish(changes)
    if not settings.diff:
        write_step_outputs(changes, published, os.environ)
    code = _ended(loaded, [*_unfinished(drafted, failed, changes)])
    if settings.diff and code is ExitCode.OK and any(change.diff for change in changes):
        return ExitCode.GATE  # as `validate --diff`
    return code


def _open_publication(
    settings: GenerateSettings, root: Path, requests: Sequence[DraftRequest]
) -> Publish | NothingToPublish:
    """Check before any model request that the drafts can be published."""
    if requests and settings.pr:
        from rubric_ci.services.drafting.publish import open_proposal

        suite = suite_of(settings.config, settings.paths)
        return open_proposal(requests, os.environ, suite)
    if requests and (settings.commit or settings.fixup):
        return open_commit(root, requests, os.environ, settings.fixup)
    return lambda _: Published()


def _writable(
    pages: Sequence[EvalFileText], requests: Sequence[DraftRequest]
) -> tuple[list[DraftRequest], list[SkippedCase]]:
    """Split off the cases of files that cannot be written, before a draft is paid for."""
    problems = {page.file.path: why_not(page) for page in pages}
    refused = [
        SkippedCase(case=each.case, reason=f"no draft: {problem}")
        for each in requests
        if (problem := problems[each.case.file])
    ]
    return [each for each in requests if not problems[each.case.file]], refused


def _drafts(page: EvalFileText, drafted: Sequence[Drafted]) -> dict[str, Draft]:
    return {made.case.id: made.draft for made in drafted if made.case.file == page.file.path}


def _draft(
    requests: Sequence[DraftRequest], loaded: LoadedProject, settings: GenerateSettings
) -> tuple[DraftResult, ...]:
    cache, unread = readable_cache(settings.requests, settings.cache, loaded.config, os.environ)
    if unread:
        echo(unread, err=True)
    variables = loaded.variables(os.environ)
    drafter = choose_drafter(loaded.config_naming(settings.target), settings, variables)
    judge = loaded.config.judge
    if judge and settings.tests:
        resolve = name_judge if settings.requests.replay else resolve_judge
        judge = resolve(judge, variables)
    config = replace(loaded.config, judge=judge)
    hosts = allowed_hosts(loaded, settings.requests.allowed_hosts, os.environ)
    context = build_context(
        loaded.root, config, settings.requests, os.environ, cache=cache, hosts=hosts
    )

    if not settings.requests.replay:
        for line in request_lines(requests, drafter, config.judge, context):
            echo(line, err=True)
        check_prices(requests, drafter, config.judge, context)
    done = 0

    def on_result(result: DraftResult) -> None:
        nonlocal done
        done += 1
        word = "draft" if isinstance(result, Drafted) else "no draft"
        case = f"{result.case.file}: {result.case.id}"
        echo(f"[{done}/{len(requests)}] {case}: {word}", err=True)

    drafting = draft(
        requests, drafter, context, concurrency=settings.requests.concurrency, on_result=on_result
    )
    results = coroutines.run(run_until_terminated(drafting))
    for note in context.found.notes:
        echo(note, err=True)
    used = sum((result.usage for result in results), NOTHING_USED)
    sent = replace(context.allowance.spent(), cache_hits=used.cache_hits, repairs=used.repairs)
    show_spent(sent)
    return results


def _split(
    requests: Sequence[DraftRequest], results: Sequence[DraftResult]
) -> tuple[list[Drafted], list[SkippedCase]]:
    """Split drafts from cases without one; a request without a result was interrupted."""
    by_case = {result.case.key: result for result in results}
    drafted, failed = list[Drafted](), list[SkippedCase]()
    for request in requests:
        match by_case.get(request.case.key):
            case Drafted() as made:
                drafted.append(made)
            case DraftFailed(reason=reason):
                failed.append(SkippedCase(case=request.case, reason=f"no draft: {reason}"))
            case None:
                failed.append(SkippedCase(case=request.case, reason="no draft: interrupted"))
    return drafted, failed


def _ended(loaded: LoadedProject, unfinished: Sequence[str]) -> ExitCode:
    """Return 2 for invalid eval files, else 3 if any case has no checked and inserted draft."""
    if loaded.invalid:
        return end(ExitCode.USAGE, loaded.problems, "generate rubrics", os.environ)
    if not unfinished:
        return ExitCode.OK
    cases = f"{numbers.plural(len(unfinished), 'case')} without a usable draft"
    hint = "run it again, or write these rubrics yourself; the log names every case"
    why = UserError(f"{cases}: {numbers.listed(unfinished, MOST_NAMED)}", hint)
    return end(ExitCode.NO_VERDICT, why, "generate rubrics", os.environ)


def _unfinished(
    drafted: Sequence[Drafted], failed: Sequence[SkippedCase], changes: Sequence[Rewrite]
) -> Iterator[str]:
    """Yield the cases without a checked and inserted draft, and why."""
    for one in failed:
        yield f"{one.case.file}: {one.case.id}: {one.reason}"
    for made in drafted:
        if made.unchecked:
            yield f"{made.case.file}: {made.case.id}: not checked: {made.unchecked}"
    for change in changes:
        for name, rejection in change.rejected.items():
            yield f"{change.name}: {name}: {rejection.reason}"
