"""Select the cases to draft rubrics for, and the model that drafts them."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from rubric_ci.errors import CannotConfigure
from rubric_ci.files.parsing.env_vars import Variables
from rubric_ci.grading.case_choice import choose_cases
from rubric_ci.grading.resolve import name_judge, resolve_judge
from rubric_ci.services.drafting.drafter import Drafter, DraftRequest
from rubric_ci.services.drafting.drafting_prompt import Contrast
from rubric_ci.services.drafting.review import SkippedCase
from rubric_ci.text.suggestions import suggest
from rubric_ci.values.command_settings import GenerateSettings
from rubric_ci.values.config import Config, JudgeConfig
from rubric_ci.values.evals import EvalCase, EvalFile
from rubric_ci.values.report import RunReport
from rubric_ci.values.targets import Endpoint


def choose_requests(
    files: Sequence[EvalFile],
    patterns: Sequence[str],
    broken: Mapping[tuple[str, str], Contrast] = MappingProxyType({}),
) -> tuple[list[DraftRequest], list[SkippedCase]]:
    """Return the cases to draft rubrics for, and the skipped ones with the reason.

    `broken` has the answers to cases that a change broke.
    """
    every = [case for file in files for case in file.cases]
    chosen = choose_cases(every, ids=patterns, tags=())
    suites = {case.key: file for file in files for case in file.cases}
    requests, skipped = list[DraftRequest](), list[SkippedCase]()
    for case in chosen:
        suite = suites[case.key]
        if not _has_rubrics(case, suite):
            if suite.in_files:
                reason = "files that `evalcases` names are not edited; write its `rubrics` there"
                skipped.append(SkippedCase(case=case, reason=reason))
            elif case.expected_outcome:
                requests.append(
                    DraftRequest(
                        case=case,
                        suite=suite.cases,
                        contrast=broken.get(case.key),
                        plain=suite.of_other_tool,
                    )
                )
            else:
                skipped.append(
                    SkippedCase(case=case, reason="there is no `expected_outcome` to draft from")
                )
        elif patterns:  # a case that was asked for by id is reported, others are not
            skipped.append(SkippedCase(case=case, reason="it has rubrics"))
    return requests, skipped


def contrasts(report: RunReport) -> Mapping[tuple[str, str], Contrast]:
    """Return the base's and the head's answer to each case that a change broke."""
    return {
        case.key: Contrast(good=case.before.answer, bad=case.answer)
        for case in report.cases
        if case.verdict and case.change == "broken"
        if case.before and case.before.answer and case.answer
    }


def digest(cases: Iterable[EvalCase]) -> str:
    """Return a digest of the cases and of the texts that their drafts are made from."""
    facts = [
        [case.file, case.id, case.expected_outcome, case.question, case.reference_answer]
        for case in cases
    ]
    return hashlib.sha256(json.dumps(sorted(facts)).encode()).hexdigest()[:16]


def choose_drafter(config: Config, settings: GenerateSettings, variables: Variables) -> Drafter:
    """Return the drafting model: the target or model that `--target` names, else the judge's."""
    # A recording is looked up without secrets.
    resolve = name_judge if settings.requests.replay else resolve_judge
    chosen = resolve(_model(config, settings.target), variables)
    return Drafter(
        endpoint=chosen.endpoint,
        output=chosen.output,
        kind=settings.kind,
        check=settings.check,
        tests=settings.tests,
    )


def _has_rubrics(case: EvalCase, suite: EvalFile) -> bool:
    """Return True unless the outcome itself is the one criterion, as in files of other tools."""
    texts = [each.text for spec in case.rubrics for each in spec.rubric]
    if case.only_shared:
        return False
    return bool(case.rubrics) and not (suite.of_other_tool and texts == [case.expected_outcome])


def _model(config: Config, name: str) -> JudgeConfig:
    if not name and config.judge:
        return config.judge
    if not name:
        raise CannotConfigure(
            "no model is configured to draft with",
            "set `judge: {model: ...}` in rubric-ci.yaml, or name a target with --target",
        )
    target = config.targets.get(name)
    if target is None and "/" in name:
        return JudgeConfig(endpoint=Endpoint(model=name))
    if target is None:
        known = suggest(name, config.targets, most=0)
        raise CannotConfigure(f"--target: there is no target `{name}`", known)
    if target.model is None:
        raise CannotConfigure(
            f"--target: `{name}` is not a model and cannot draft", "name a target with `model:`"
        )
    return JudgeConfig(endpoint=target.model)
