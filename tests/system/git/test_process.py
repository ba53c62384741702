"""The environment of git, and the process that reads its objects; real git."""

import gc
import os
import signal
import subprocess
from typing import Any

import pytest

from rubric_ci.errors import CannotUseGit
from rubric_ci.system.git import process
from tests import platforms
from tests.checkout import Checkout

MISSING = "0123456789" * 4


def test_objects_by_any_name(checkout: Checkout) -> None:
    commit = checkout.commit({"a b.txt": "one", "empty": ""})
    found = checkout.repository.objects
    read = {name: found.find(name) for name in ("HEAD", "HEAD:a b.txt", "HEAD:empty")}
    assert {name: each.content[:4] for name, each in read.items() if each} == {
        "HEAD": b"tree",
        "HEAD:a b.txt": b"one",
        "HEAD:empty": b"",
    }
    assert read["HEAD"] is not None
    assert read["HEAD"].id == commit


@pytest.mark.parametrize(
    "name",
    [MISSING, "nonsense", "a b 3", "", "--all", "HEAD\nHEAD", "HEAD\n", "HEAD\0", "HEAD:none"],
)
def test_names_of_nothing(checkout: Checkout, name: str) -> None:
    commit = checkout.commit()
    found = checkout.repository.objects
    assert found.find(name) is None
    head = found.find("HEAD")  # the next answer is not that of the name before
    assert head is not None
    assert head.id == commit


def test_an_object_that_is_not_there(checkout: Checkout) -> None:
    with pytest.raises(CannotUseGit, match=f"^git object {MISSING} cannot be read$"):
        checkout.repository.objects.read(MISSING)


def started(monkeypatch: pytest.MonkeyPatch) -> list["subprocess.Popen[bytes]"]:
    """Return the processes that are started from now on."""
    processes: list[subprocess.Popen[bytes]] = []
    popen = subprocess.Popen

    def start(*given: Any, **named: Any) -> "subprocess.Popen[bytes]":
        processes.append(popen(*given, **named))
        return processes[-1]

    monkeypatch.setattr(subprocess, "Popen", start)
    return processes


def test_one_process_until_its_owner_goes(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout.commit({"a.txt": "one"})
    repository = checkout.repository
    processes = started(monkeypatch)
    assert processes == []
    for _ in range(3):
        assert repository.objects.find("HEAD:a.txt") is not None
    assert [each.poll() for each in processes] == [None]
    del repository
    gc.collect()
    assert [each.poll() is None for each in processes] == [False]


@platforms.SIGNALS
def test_a_restart_after_ctrl_c(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    checkout.commit({"a.txt": "one"})
    found = checkout.repository.objects
    processes = started(monkeypatch)
    assert found.find("HEAD:a.txt") is not None
    processes[0].send_signal(signal.SIGINT)
    processes[0].wait(timeout=60)
    read = found.find("HEAD:a.txt")
    assert (read is not None and read.content, len(processes)) == (b"one", 2)


@platforms.SIGNALS
def test_a_forked_process_has_its_own(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two readers of one pipe would get each other's answers."""
    checkout.commit({"a.txt": "one"})
    found = checkout.repository.objects
    processes = started(monkeypatch)
    assert found.find("HEAD:a.txt") is not None
    monkeypatch.setattr(os, "getpid", lambda: 1)
    assert found.find("HEAD:a.txt") is not None
    assert len(processes) == 2


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
