"""The environment of git."""

from rubric_ci.git import process


def test_a_hook_s_variables_do_not_reach_git() -> None:
    hook = {
        "HOME": "/home/a",
        "GIT_DIR": "elsewhere",
        "GIT_INDEX_FILE": "elsewhere",
        "GIT_WORK_TREE": "elsewhere",
        "GIT_CONFIG_COUNT": "1",
        "LC_ALL": "de_DE.UTF-8",
    }
    assert process.clean_environment(hook) == {
        "HOME": "/home/a",
        "GIT_CONFIG_COUNT": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_PAGER": "cat",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }
