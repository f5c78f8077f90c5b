"""Bad weather: texts made of the language's own marks, which meet in every wrong way."""

from __future__ import annotations

from hypothesis import strategies as st

OFTEN = ("@pm", "@ba", "$pm", "$", "\\", "->", "&", "\n", " ", "```", "{", "/help", ",", "ba", "-", "x")
CALLS = (
    *('$ba:"', 'ba:"', '"', '"', '":plan', ":plan", '\\"', "\\n", "{plan}", "{{output:pm}}"),
    *("{{", "}}", "}", "\n"),
    *("$ba := {", 'base: "plan"', 'prompt: "Be', '"prompt": "', ", ", "model", ": ", "{{ STDIN }}", "\n```"),
    *("{{include: a -> @ba $pm}}", "{a_1}", "->", "->\n", "&", "$pm", "\\", "$", "{", " "),
)
FENCES = (
    *(
        "```",
        "````",
        "\n```",
        "\n````\n",
        " ```py",
        " ```py\n",
        " ````c++ \n",
        "\n```\n",
        "\n",
        " ",
        "a",
        "`",
    ),
    *("$pm", "\n@pm x", " -> @ba y", '"', "{x}", "\\n", '\nba:"x', "\n/help", " &"),
)
OPTIONS = (
    *(
        " --model",
        " --model opus",
        " -m",
        " -m opus",
        "=",
        " --no-model",
        " --models",
        " -x",
        " \\",
        " --",
        '"',
    ),
    *("'", '"a b"', "'a b'", '\\"', " x", "\n", " -> @ba", " ", "opus", " &", "$pm", "->", "```"),
)
SELDOM = (
    *("@", "@builder-1", "@all", "@Pm", "@project_manager", "technical_writer", "pm", "$builder-1", "$Pm"),
    *("\n\n", "\r\n", "\t", "\u00a0", "\u2028", "\ufeff", "\x0b", "\n```", "```py", "`", "}", "{{", "{x}"),
    *("/", "/context", "/usr/bin", "/x", "-m", "--model", "opus", "-m opus", "=", ":", ":=", "$x := {", ':"'),
    *('ba:"x"', '$ba:"x"', '"', ">", "#1", "_", "1", "Z", "é", "世", "\u0301", "\ud800", "\0", "\x1b", "."),
)

texts_of_calls = st.lists(st.sampled_from(CALLS * 2 + OFTEN), max_size=12).map("".join)
"""Mostly what exact calls and definitions consist of."""
instructions = st.tuples(st.sampled_from(('$ba:"x', 'ba:"', '@pm x -> ba:"')), texts_of_calls).map(
    lambda pieces: f'{"".join(pieces)}"'
)
values = st.tuples(st.just('$ba := {base: "plan", prompt: "'), texts_of_calls).map(
    lambda pieces: f'{"".join(pieces)}"}}'
)

texts_of_marks = st.lists(st.sampled_from(OFTEN * 6 + SELDOM), max_size=16).map("".join)
fenced_texts = st.lists(st.sampled_from(FENCES), max_size=14).map("".join)
"""Fences in every wrong place."""
texts_of_options = st.tuples(
    st.sampled_from(("@pm", "@pm,ba", "@pm x -> @ba", '$ba:"x"', 'ba:"x":y')),
    st.lists(st.sampled_from(OPTIONS), max_size=8).map("".join),
    st.sampled_from(("", " x", "\n@ba y")),
).map("".join)
"""What may stand behind the ids."""
submissions = (
    st.tuples(st.sampled_from(("", "", "@pm ", "@pm x", "/help ", " ")), texts_of_marks).map("".join)
    | instructions
    | values
    | texts_of_calls
    | texts_of_options
    | st.tuples(st.sampled_from(("", "@pm x", '@pm x -> ba:"', "/context ")), fenced_texts).map("".join)
)
