"""The pytest plugin: eval files are collected as tests, and a fixture holds answers to rubrics.

pytest imports this module at every start, the others only if a session asks for `--rubric-ci`.
"""

from typing import Any, Final

import pytest

_SHORT: Final = ("--changed-since", "--max-cost-usd")
"""Options with a short form, which is read only with `--rubric-ci`: another plugin may have it."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options; another option of `rubric-ci run` is an environment variable."""
    group = parser.getgroup("rubric-ci", "rubric-ci: eval files as tests, rubrics in tests")
    group.addoption(
        "--rubric-ci",
        action="store_true",
        dest="rubric_ci",
        help="Collect eval files as tests, and let tests ask the judge.",
    )
    group.addoption(
        "--rubric-ci-config",
        metavar="FILE",
        dest="rubric_ci_config",
        help="Configuration file to use instead of rubric-ci.yaml.",
    )
    group.addoption(
        "--rubric-ci-changed-since",
        metavar="REV",
        dest="rubric_ci_changed_since",
        help="Only cases that a change since this revision can affect; also: --changed-since.",
    )
    group.addoption(
        "--rubric-ci-max-cost-usd",
        metavar="USD",
        dest="rubric_ci_max_cost_usd",
        help="Maximum cost of the session's model requests; also: --max-cost-usd.",
    )
    parser.addini("rubric_ci", "As if --rubric-ci were given.", type="bool", default=False)


def pytest_load_initial_conftests(early_config: pytest.Config, args: list[str]) -> None:
    if early_config.known_args_namespace.rubric_ci or early_config.getini("rubric_ci"):
        args[:] = map(_prefixed, args)


def _prefixed(argument: str) -> str:
    name, equals, value = argument.partition("=")
    return f"--rubric-ci-{name[2:]}{equals}{value}" if name in _SHORT else argument


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "rubric(trials, pass_at_least): run a test several times; so many must pass (rubric-ci).",
    )
    if config.getoption("rubric_ci") or config.getini("rubric_ci"):
        from rubric_ci.parts.pytest.hooks import NAME, Hooks

        config.pluginmanager.register(Hooks(config), NAME)


@pytest.fixture
def rubric(request: pytest.FixtureRequest) -> Any:
    """Hold answers to criteria; a `rubric_ci.parts.pytest.fixture.Rubric`."""
    hooks = request.config.pluginmanager.get_plugin("rubric-ci-session")
    if hooks is None:
        pytest.skip("the fixture `rubric` asks a judge: run pytest with --rubric-ci")
    return hooks.rubric(request.node)
