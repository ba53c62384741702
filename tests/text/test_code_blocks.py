"""The code of an answer."""

import pytest

from rubric_ci.text.answer_text import Code, extract_code


@pytest.mark.parametrize(
    ("answer", "text", "suffix"),
    [
        pytest.param("print(1)\n", "print(1)\n", ".txt", id="no-fence-is-all-code"),
        pytest.param("Here:\n```python\nx = 1\n```\nDone.", "x = 1\n", ".py", id="one-block"),
        pytest.param(
            "```bash\npip install a\n```\n```python\ndef f():\n    return 1\n```\n",
            "def f():\n    return 1\n",
            ".py",
            id="other-languages-are-left-out",
        ),
        pytest.param(
            "```py\nlong = 'aaaaaaaaa'\n```\nthen\n```py\nb = 2\n```",
            "long = 'aaaaaaaaa'\n\nb = 2\n",
            ".py",
            id="blocks-of-the-language-are-joined",
        ),
        pytest.param("```\nplain\n```", "plain\n", ".txt", id="no-language"),
        pytest.param("~~~ JavaScript\nlet a\n~~~", "let a\n", ".js", id="tildes-and-capitals"),
        pytest.param("````md\n```py\nx\n```\n````", "```py\nx\n```\n", ".md", id="longer-fence"),
        pytest.param("```python\nx = 1", "x = 1", ".py", id="never-closed"),
        pytest.param("``` `a` ```\ntext", "``` `a` ```\ntext", ".txt", id="inline-code"),
        pytest.param("    ```py\n    x\n", "    ```py\n    x\n", ".txt", id="indented-code"),
        pytest.param("```{.haskell}\nmain\n```", "main\n", ".haskell", id="pandoc-attributes"),
        pytest.param("```../../etc/x\nmain\n```", "main\n", ".txt", id="a-suffix-is-no-path"),
        pytest.param("```py\r\nx = 1\r\n```\r\n", "x = 1\r\n", ".py", id="crlf"),
    ],
)
def test_extract(answer: str, text: str, suffix: str) -> None:
    assert extract_code(answer) == Code(text=text, suffix=suffix)
