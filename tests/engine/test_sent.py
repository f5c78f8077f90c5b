"""What is sent, letter by letter, for everything a prompt can ask for; and what is only text."""

from __future__ import annotations

import pytest

from teambot_tui.language.errors import StatementError
from tests.engine.test_definitions import Recruiting

SCANNER = '$scanner := {base: "plan", prompt: "You scan."}'
CAPTURED = ('pm:"A":x', "complete pm#1 OUT {x} $ba @ba -> {{output:ba}}")
OUT = "OUT {x} $ba @ba -> {{output:ba}}"
FRAMED = f'--- Output from task "pm" ---\n{OUT}\n--- End output from task "pm" ---'


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("@ba {x} {y} {{x}}", f"{OUT} {{y}} {{{{x}}}}"),
        ("@ba \\{x} \\\\{x}", f"{{x}} \\{OUT}"),
        ("@ba a\n```\n{x} $pm {{output:pm}}\n```\nb", "a\n```\n{x} $pm {{output:pm}}\n```\nb"),
        ("@ba $pm, $pm", f"[Output from @pm]: {OUT}, [Output from @pm, above]"),
        ("@ba {x}{x}", OUT + OUT),
        ("@ba {{output:pm}}", FRAMED),
        ("@ba {{output:nobody}}", '(No output available from task "nobody")'),
        ("@ba {{nothing}}", "{{nothing}}"),
        ("@pm -> @ba", OUT),
        ("@pm -> @ba See", f"=== Output from @pm ===\n{OUT}\n\n=== Your Task ===\nSee"),
        ("@pm -> @ba See $pm", f"See [Output from @pm]: {OUT}"),
        ("@pm -> @ba See {x}", f"See {OUT}"),
        ('@pm -> ba:"Go"', "Go"),
        ('@pm -> ba:"Go {x}"', f"Go {OUT}"),
        ('ba:"say \\"hi\\"\\n{x}"', f'say "hi"\n{OUT}'),
        ('ba:"f() { return {x} } \\{y}"', f"f() {{ return {OUT} }} {{y}}"),
        ('ba:"{{output:pm}}"', FRAMED),
    ],
)
def test_what_is_sent(text: str, sent: str) -> None:
    bench = Recruiting(*CAPTURED)
    bench.submit(text)
    assert bench.prompts["ba#1"].text == sent


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ('$scanner:"Look"', "You scan.\n\nLook"),
        ('scanner:"Look $pm"', f"You scan.\n\nLook [Output from @pm]: {OUT}"),
        ('@pm -> $scanner:"Look"', "You scan.\n\nLook"),
        ("@scanner Look", "Look"),
    ],
)
def test_what_a_temporary_agent_is_sent(text: str, sent: str) -> None:
    bench = Recruiting(SCANNER, *CAPTURED)
    bench.submit(text)
    assert bench.prompts["scanner#1"].text == sent


def test_references_can_be_turned_off_and_variables_stay() -> None:
    bench = Recruiting(SCANNER, *CAPTURED, references=False)
    bench.submit('$scanner:"See $pm \\$pm {x}"')
    assert bench.prompts["scanner#1"].text == f"You scan.\n\nSee $pm $pm {OUT}"


@pytest.mark.parametrize(("count", "refused"), [(10, False), (11, True)])
def test_at_most_ten_different_references(count: int, refused: bool) -> None:
    names = [f"a{number}" for number in range(count)]
    bench = Recruiting(*(f'${name} := {{base: "plan", prompt: "p"}}\n@{name} Go' for name in names))
    text = "@pm " + " ".join(f"${name} ${name}" for name in names)
    if refused:
        with pytest.raises(StatementError, match="More than 10 different references in one prompt"):
            bench.resolve(text)
    else:
        bench.resolve(text)
