"""The message about an unknown command: the command that a person probably means."""

from collections.abc import Iterator

import click

from rubric_ci.text.suggestions import nearest

EVERY = 1_000  # names to compare: more than there are commands


def message(word: str, context: click.Context) -> str:
    """Return a message with the nearest command, or with how to list all of them."""
    root = context.find_root()
    group = context.command_path.removeprefix(root.command_path)
    typed = f"{group} {word}".strip()
    found = meant(typed, tuple(commands(root)))
    if not found:
        return f"unknown command `{typed}`; `{context.command_path} --help` lists the commands"
    listed = ", ".join(f"`{each}`" for each in found)
    return f"unknown command `{typed}`; did you mean {'one of ' * (len(found) > 1)}{listed}?"


def commands(root: click.Context) -> Iterator[str]:
    """Yield every command as it is typed, such as `judge calibrate`."""
    top = root.command
    assert isinstance(top, click.Group)  # noqa: S101 - only groups have commands to look for
    for name in top.list_commands(root):
        command = top.get_command(root, name)
        if isinstance(command, click.Group):
            yield from (f"{name} {inner}" for inner in command.commands)
        else:
            yield name


def meant(typed: str, known: tuple[str, ...]) -> list[str]:
    """Return the commands that were probably meant: by all words, the last word, or the group."""
    whole = {_joined(each): [each] for each in known}
    last: dict[str, list[str]] = {}
    groups: dict[str, list[str]] = {}
    for each in known:
        group, _, word = each.rpartition(" ")
        last.setdefault(word, []).append(each)
        groups.setdefault(group or word, []).append(each)
    word = typed.rpartition(" ")[2]
    if word in last:
        return last[word]
    for name, names in ((_joined(typed), whole), (word, last), (_joined(typed), groups)):
        if found := nearest(name, names, most=EVERY):
            return names[found]
    return []


def _joined(words: str) -> str:
    return words.replace(" ", "-")
