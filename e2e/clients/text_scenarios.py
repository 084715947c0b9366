"""Table only: the scenarios of vendors' SDKs with an upstream that takes no tools (`tool_calls = "text"`).

They are in the format of `scenarios.py`, and most of them are its scenarios. What is different is
what reaches the upstream: a choice is only asked for, and nothing of a conversation is left but text.

    told       parts of the instructions that the model must get
    text_after what the model says behind its calls, in a turn
"""

from e2e.clients.scenarios import ADD, ASK, DONE, SCENARIOS, WEATHER

OSLO = {**WEATHER, "args": {"city": "Oslo"}}
# Scenarios that are the same for a model that only writes text.
SAME = [
    "single",
    "text alone",
    "parallel",
    "sequential",
    "text with calls",
    "no arguments",
    "nested arguments",
    "unicode",
    "empty result",
    "image",
    "usage",
    "cut by the limit",
]


def changed(name, **changes):
    """A scenario of `scenarios.py` with other expectations."""
    kept = {key: value for key, value in SCENARIOS[name].items() if key not in ("sent", "loss", "rejected")}
    return {**kept, **changes}


TEXT_SCENARIOS = {name: SCENARIOS[name] for name in SAME} | {
    "two rounds": {
        "ask": {**ASK, "system": "Be brief."},
        "turns": [{"calls": [WEATHER, ADD]}, {"calls": [OSLO, ADD, WEATHER]}, DONE],
        "sent": {"system": "Be brief."},
    },
    "prose around calls": {
        "ask": ASK,
        "turns": [
            {"text": "Let me look.", "calls": [WEATHER, ADD], "text_after": "I will tell you what it says."},
            {"text": "Now the other city, with `<b>` and [1].", "calls": [OSLO]},
            DONE,
        ],
    },
    "thinking": {
        "ask": ASK,
        "turns": [
            {"reasoning": {"text": "The weather, then.\nI call weather."}, "text": "One moment.", "calls": [WEATHER]},
            {"reasoning": {"text": "And the sum."}, "calls": [ADD, OSLO]},
            {"reasoning": {"text": "Done."}, **DONE},
        ],
        # Models that think do not get their earlier thoughts back.
        "loss": {"*>*": ["reasoning_unsigned"]},
    },
    "long name": changed("long name", loss={"*>*": ["tool_name"]}),
    "forced": changed("forced", told=["must call the tool weather"], loss={"*>*": ["choice_asked"]}),
    "required": changed("required", told=["must call at least one tool"], loss={"*>*": ["choice_asked"]}),
    # Without tools, the model is told nothing about them.
    "none": changed("none", sent={"tools": [], "instructions": ""}),
    "allowed": changed("allowed", sent={"tools": ["weather"]}),
    "parallel off": changed("parallel off", told=["no more than one call"], loss={"*>*": ["choice_asked"]}),
    "tool error": changed("tool error"),
    "image in a result": changed("image in a result", loss={"*>*": ["result_media_moved"]}),
}
