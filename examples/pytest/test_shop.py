"""Rubrics in tests: the fixture `rubric` asks the judge of rubric-ci.yaml."""

import pytest


def ask(question: str) -> str:
    """Answer a customer, in place of your program."""
    if "brake pads" in question:
        return "Yes, within 30 days, if they are unused."
    return "Hello! What can I do for you?"


def test_return_period(rubric):
    """The answer is judged at once."""
    question = "May I return brake pads?"
    rubric.check(
        ask(question), 'Names the period of "30 days"', {"contains": "unused"}, question=question
    )


@pytest.mark.parametrize("greeting", ["Hi", "Good morning"])
def test_greetings(rubric, greeting):
    """The answers are judged together, at the end of the module."""
    rubric.later(ask(greeting), 'Says "Hello"', question=greeting)


@pytest.mark.rubric(trials=3, pass_at_least=2)
def test_offers_help(rubric):
    """Two of three answers must pass."""
    rubric.check(ask("Hello"), 'Asks "What can I do"', question="Hello")
