"""Draft rubrics for the cases that lack them and put the drafts into their files."""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rubric_ci.drafting.engine import Drafted, DraftFailed, DraftRequest, DraftResult, draft
from rubric_ci.drafting.publish import NothingToPublish, Publish, open_commit
from rubric_ci.drafting.reply_parser import Draft
from rubric_ci.drafting.review import review
from rubric_ci.drafting.rewrite import EvalFileText, Rewrite, read_eval_text, rewrite, write
from rubric_ci.drafting.select import choose_drafter, choose_requests
from rubric_ci.drafting.summary import SkippedCase, show_diffs, show_outcome, show_spent, tell
from rubric_ci.errors import ExitCode
from rubric_ci.grading.resolve import resolve_judge
from rubric_ci.grading.setup import build_cache, build_model_caller, caps_of, uses_cache, why_unread
from rubric_ci.model.context import RunContext
from rubric_ci.model.llm_calls import NOTHING_USED
from rubric_ci.model.options import GenerateSettings
from rubric_ci.project.loaded_project import LoadedProject, load_project, show_problems
from rubric_ci.system.signals import run_until_terminated


def generate_rubrics(settings: GenerateSettings) -> ExitCode:
    """Open, choose, draft, insert, commit; say what was done and what was not."""
    opened = load_project(settings.paths, settings.config)
    show_problems(opened.diagnostics)
    orders, left = choose_requests(opened.files, settings.cases)
    pages = _pages(opened, orders)
    publish = _open_publication(settings, opened.root, orders)
    if isinstance(publish, NothingToPublish):
        tell(publish.reason)
        return ExitCode.USAGE if opened.invalid else ExitCode.OK
    drafted, failed = _sorted_out(orders, _draft(orders, opened, settings) if orders else ())
    if settings.interactive:
        drafted, dropped = review(drafted)
        left = [*left, *dropped]
    changes = [rewrite(page, _drafts(page, drafted), opened.project) for page in pages]
    if settings.diff:
        show_diffs(changes)
    else:
        changes = [write(change) for change in changes]
    show_outcome(drafted, [*left, *failed], changes, aside=settings.diff)
    publish(changes)
    return _exit_code(opened, drafted, failed, changes)


def _open_publication(
    settings: GenerateSettings, root: Path, orders: Sequence[DraftRequest]
) -> Publish | NothingToPublish:
    """Make sure, before anything is spent, that what was asked for can be done."""
    if orders and settings.pr:
        from rubric_ci.drafting.pull_request import open_proposal

        return open_proposal(root, orders, os.environ)
    if orders and (settings.commit or settings.fixup):
        return open_commit(root, orders, os.environ, settings.fixup)
    return lambda _: None


def _pages(opened: LoadedProject, orders: Sequence[DraftRequest]) -> list[EvalFileText]:
    """Read the files that are to be changed, before anything is spent on them."""
    wanted = {order.case.file for order in orders}
    return [read_eval_text(file, opened.root) for file in opened.files if file.path in wanted]


def _drafts(page: EvalFileText, drafted: Sequence[Drafted]) -> dict[str, Draft]:
    return {made.case.id: made.draft for made in drafted if made.case.file == page.file.path}


def _draft(
    orders: Sequence[DraftRequest], opened: LoadedProject, settings: GenerateSettings
) -> tuple[DraftResult, ...]:
    unread = why_unread(settings.cache_dir, os.environ) if uses_cache(settings) else ""
    if unread:
        tell(unread, aside=True)
        settings = replace(settings, cache=False)
    drafter = choose_drafter(opened.config_naming(settings.target), settings, os.environ)
    judge = opened.config.judge
    if judge and settings.check and not settings.replay:
        judge = resolve_judge(judge, os.environ)
    context = RunContext(
        call_model=build_model_caller(
            record_to=settings.record,
            replay_from=settings.replay,
            concurrency=settings.concurrency,
            caps=caps_of(settings),
        ),
        root=opened.root,
        environment=os.environ,
        judge=judge,
        cache=build_cache(settings),
        thresholds=opened.config.gate.thresholds,
    )
    ended = list[DraftResult]()

    def on_result(result: DraftResult) -> None:
        ended.append(result)
        word = "draft" if isinstance(result, Drafted) else "no draft"
        case = f"{result.case.file}: {result.case.id}"
        tell(f"[{len(ended)}/{len(orders)}] {case}: {word}", aside=True)

    drafting = draft(
        orders, drafter, context, concurrency=settings.concurrency, on_result=on_result
    )
    results = asyncio.run(run_until_terminated(drafting))
    show_spent(sum((result.usage for result in results), NOTHING_USED))
    return results


def _sorted_out(
    orders: Sequence[DraftRequest], results: Sequence[DraftResult]
) -> tuple[list[Drafted], list[SkippedCase]]:
    """Tell drafts from cases without one; an order without a result was interrupted."""
    by_case = {(result.case.file, result.case.id): result for result in results}
    drafted, failed = list[Drafted](), list[SkippedCase]()
    for order in orders:
        match by_case.get((order.case.file, order.case.id)):
            case Drafted() as made:
                drafted.append(made)
            case DraftFailed(reason=reason):
                failed.append(SkippedCase(case=order.case, reason=f"no draft: {reason}"))
            case None:
                failed.append(SkippedCase(case=order.case, reason="no draft: interrupted"))
    return drafted, failed


def _exit_code(
    opened: LoadedProject,
    drafted: Sequence[Drafted],
    failed: Sequence[SkippedCase],
    changes: Sequence[Rewrite],
) -> ExitCode:
    """Say what the caller must mend first, then whether some case got less than was asked for."""
    if opened.invalid:
        return ExitCode.USAGE
    unchecked = any(made.unchecked for made in drafted)
    refused = any(change.refused for change in changes)
    return ExitCode.NO_VERDICT if failed or unchecked or refused else ExitCode.OK
