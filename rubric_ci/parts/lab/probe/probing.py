"""Judge answers, then variants of them, and return the figures of each criterion."""

import asyncio
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Final, assert_never

import click

from rubric_ci.errors import NoVerdict
from rubric_ci.models.judge.prompt import about_fences, fenced, judge_call
from rubric_ci.models.judge.reply import InvalidReply, find_object, strict_object
from rubric_ci.models.judge.request import new_fence, request_cached_reply
from rubric_ci.parts.lab.calibration.rejudge import (
    AnswerToJudge,
    NotJudged,
    RejudgeResult,
    rejudge,
    show_not_judged,
)
from rubric_ci.parts.lab.probe.all_variants import Marks, Plan, Subject, key, mutations, plan
from rubric_ci.parts.lab.probe.figures import CriterionFigures, Measured, Mutation, figures
from rubric_ci.parts.lab.probe.harmless_variants import PARAPHRASE
from rubric_ci.parts.lab.probe.quote_variants import Variant
from rubric_ci.services.cost.estimate import show_spent
from rubric_ci.system import coroutines
from rubric_ci.text import numbers
from rubric_ci.text.escape import log_line
from rubric_ci.values.config import JudgeConfig
from rubric_ci.values.context import RunContext
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.llm_calls import ChatMessage, call_key
from rubric_ci.values.results import Answer
from rubric_ci.values.rubric import Check, Chosen, Judged, Levelled, Scored

PROMPT_VERSION: Final = "1"
PARAPHRASES: Final = 2
MAX_TOKENS: Final = 8192
_PARAPHRASE_SYSTEM: Final = f"""\
You rewrite an answer in other words, {PARAPHRASES} times.

Each version says the same as the answer: every statement, number, name, unit, condition, link and \
piece of code stays, and nothing is added. Keep the language, the form (lists, paragraphs) and \
about the length. Change the wording and the structure of sentences.

{{data}}

Reply with one JSON object of this form and nothing else: {{{{"paraphrases": ["...", "..."]}}}}"""
_PARAPHRASE_SCHEMA: Final = strict_object(
    {"paraphrases": {"type": "array", "items": {"type": "string"}}}
)
_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """How variants are judged."""

    judge: JudgeConfig
    context: RunContext
    concurrency: int
    live: bool  # False: the replies are from a recording
    with_model: bool  # the judge's model paraphrases each answer
    most: int  # variants that one criterion of an answer must notice


def measure(subjects: Sequence[Subject], judging: Judging) -> Measured:
    """Judge the answers of the subjects, which is free where the cache has it, then variants."""
    click.echo(f"judging {numbers.plural(len(subjects), 'answer')} as they are", err=True)
    controls, lost = _judged([_answer(each, each.given, judging) for each in subjects], judging)
    pairs = [(subjects[n], marks) for n, marks in controls.items()]
    paraphrased, unsaid = _paraphrased(pairs, judging) if judging.with_model else ({}, 0)
    planned = plan(pairs, judging.most, paraphrased)
    click.echo(f"judging {numbers.plural(len(planned.trials), 'variant')} of them", err=True)
    marks, missing = _judged(
        [
            _answer(each.subject, each.variant.of(each.subject.given), judging)
            for each in planned.trials
        ],
        judging,
    )
    rows = list(mutations(planned, marks, {key(each): found for each, found in pairs}))
    return Measured(
        criteria=tuple(_criteria(rows, [each for each, _ in pairs], planned)),
        mutations=tuple(mutation for _, _, mutation in rows),
        answers=len(pairs),
        variants=len(marks),
        not_judged=lost + missing + unsaid,
    )


def _judged(answers: Sequence[AnswerToJudge], judging: Judging) -> tuple[Mapping[int, Marks], int]:
    """Return the marks by position, and how many answers have none."""
    if not answers:
        return {}, 0
    result: RejudgeResult = rejudge(
        answers, judging.context, concurrency=judging.concurrency, live=judging.live
    )
    show_not_judged(answers, result)
    found = {n: each for n, each in enumerate(result.marks) if not isinstance(each, NotJudged)}
    return found, len(answers) - len(found)


def _paraphrased(
    pairs: Sequence[tuple[Subject, Marks]], judging: Judging
) -> tuple[Mapping[str, Sequence[Variant]], int]:
    """Return the paraphrases of each answer, and how many answers have none."""
    answers = {subject.answer: subject.case.id for subject, _ in pairs}
    model = judging.judge.endpoint.model
    requests = numbers.plural(len(answers), "request")
    click.echo(log_line(f"paraphrases: up to {requests} to {model}, fewer if cached"), err=True)
    slots = asyncio.Semaphore(judging.concurrency)

    async def one(answer: str, name: str) -> tuple[Variant, ...] | NoVerdict:
        async with slots:
            try:
                return await paraphrases(
                    answer, f"{name}: paraphrases", judging.judge, judging.context
                )
            except NoVerdict as error:
                click.echo(log_line(f"{name}: no paraphrases: {error}"), err=True)
                return error

    before = judging.context.spent()
    found = coroutines.run(coroutines.gather_all(one(*each) for each in answers.items()))
    show_spent(judging.context.spent().beyond(before))
    made = {
        answer: each
        for answer, each in zip(answers, found, strict=True)
        if not isinstance(each, NoVerdict)
    }
    return made, len(answers) - len(made)


def _answer(subject: Subject, answer: Answer, judging: Judging) -> AnswerToJudge:
    return AnswerToJudge(case=subject.case, spec=subject.spec, answer=answer, judge=judging.judge)


def _criteria(
    rows: Sequence[tuple[Subject, Judged, Mutation]], subjects: Sequence[Subject], planned: Plan
) -> Iterator[CriterionFigures]:
    """Yield the figures by place in the eval files: cases can share a criterion."""
    places: dict[tuple[str, int, str], list[tuple[Subject, Judged]]] = {}
    for subject in subjects:
        for criterion in subject.criteria:
            place = (subject.case.file, criterion.span.line, criterion.id)
            places.setdefault(place, []).append((subject, criterion))
    found: dict[tuple[str, int, str], list[Mutation]] = {}
    for subject, criterion, mutation in rows:
        place = (subject.case.file, criterion.span.line, criterion.id)
        found.setdefault(place, []).append(mutation)
    for place, users in sorted(places.items()):
        own = found.get(place, [])
        noticed, unmoved, word = figures(own)
        criterion = users[0][1]
        cases = dict.fromkeys(subject.case.id for subject, _ in users)
        why = [planned.untested.get((place[0], case, place[2]), "") for case in cases]
        yield CriterionFigures(
            file=place[0],
            line=place[1],
            case=next(iter(cases)) if len(cases) == 1 else "",
            id=place[2],
            text=criterion.template or criterion.text,
            required=_gates(criterion),
            noticed=noticed,
            unmoved=unmoved,
            word=word,
            missed=tuple(each for each in own if not each.right),
            untested=next(filter(None, why), "") if not noticed.of else "",
        )


def _gates(criterion: Judged) -> bool:
    match criterion:
        case Check():
            return criterion.required
        case Scored():
            return criterion.required_min_score is not None
        case Levelled():
            return criterion.required_min_level is not None
        case Chosen():
            return criterion.required or bool(criterion.required_choices)
        case _:
            assert_never(criterion)


async def paraphrases(
    answer: str, about: str, model: JudgeConfig, context: RunContext
) -> tuple[Variant, ...]:
    """Return the paraphrases of an answer; raises NoVerdict."""
    fence = new_fence()
    messages = (
        ChatMessage(role="system", content=_PARAPHRASE_SYSTEM.format(data=about_fences(fence))),
        ChatMessage(role="user", content=fenced("answer", answer, fence)),
    )
    turn = f"paraphrase {PROMPT_VERSION}"
    key = call_key(model.endpoint, messages, schema=_PARAPHRASE_SCHEMA, turn=turn, fence=fence)
    call = judge_call(
        messages, model, key=key, schema=_PARAPHRASE_SCHEMA, about=about, max_tokens=MAX_TOKENS
    )
    reply = await request_cached_reply(call, partial(_read_paraphrases, answer=answer), context)
    made = (
        Variant(family=PARAPHRASE, text=text, change=f"paraphrase {n} of {PARAPHRASES}")
        for n, text in enumerate(reply.value, start=1)
    )
    return tuple(made)


def _read_paraphrases(text: str, answer: str) -> tuple[str, ...] | InvalidReply:
    """Return the paraphrases; each has the numbers of the answer."""
    match find_object(text):
        case InvalidReply() as invalid:
            return invalid
        case {"paraphrases": [str(one), str(other)]} if one.strip() and other.strip():
            wanted = Counter(_NUMBER.findall(answer))
            if any(Counter(_NUMBER.findall(each)) != wanted for each in (one, other)):
                numbers = ", ".join(wanted.elements()) or "none"
                return InvalidReply((f"each paraphrase must have the answer's numbers: {numbers}",))
            return one, other
        case _:
            return InvalidReply(('the object must have "paraphrases", a list of two texts',))
