"""How text becomes words: the arguments of an estimator, and the recipe that a model keeps."""

from __future__ import annotations

import json
import math
from typing import Any

from tenfold._arguments import amount, characters, count, refuse
from tenfold._base import told_by

# The arguments that mean something for raw text only, with their defaults.
FOR_TEXT: dict[str, Any] = {
    "language": "auto",
    "stop_words": None,
    "stem": None,
    "ngrams": 1,
    "lowercase": True,
    "min_length": 2,
    "numbers": False,
}
LIMITS = ("min_df", "max_df")


def recipe_of(given: dict[str, Any], *, cut: bool) -> str:
    """The recipe, as JSON, for text, or for documents that are ``cut`` into words, to which only limits apply."""
    min_df, max_df = given["min_df"], given["max_df"]
    if min_df is not None:
        count("min_df", min_df)
    if max_df is not None:
        expected = "the largest share of the documents, above 0 and at most 1.0, is needed"
        if not isinstance(max_df, float):
            raise ValueError(f"max_df = {max_df!r} is out of range: {expected}")
        amount("max_df", max_df, lambda share: math.isfinite(share) and 0 < share <= 1, expected)
    if cut:
        refuse_text(given, "documents that are cut into words", limits=False)
    languages, words = _stop_words(given["language"], given["stop_words"])
    characters("language", languages)
    characters("stop_words: the word", words)
    stem = None if given["stem"] is None else characters("stem", [str(given["stem"])])[0]
    return json.dumps(
        {
            "text": not cut,
            "lowercase": bool(given["lowercase"]),
            "stop_words": languages,
            "extra_stop_words": words,
            "stemmer": stem,
            "ngrams": count("ngrams", given["ngrams"]),
            "min_length": count("min_length", given["min_length"]),
            "numbers": bool(given["numbers"]),
            "min_df": None if min_df is None else int(min_df),
            "max_df": max_df,
        }
    )


def _stop_words(language: Any, stop_words: Any) -> tuple[list[str], list[str]]:
    """Languages whose lists are dropped, and further words."""
    if isinstance(stop_words, str):
        # scikit-learn's way to say it.
        if language != "auto":
            raise ValueError(f"stop_words = {stop_words!r} names a language, and language does too: give one of them")
        language, stop_words = stop_words, None
    if language is None:
        languages = []
    else:
        languages = [language] if isinstance(language, str) else [str(one) for one in language]
    return languages, [] if stop_words is None else [str(word) for word in stop_words]


def refuse_text(given: dict[str, Any], reason: str, *, limits: bool = True) -> None:
    """Refuses choices about text that were made and would be passed over."""
    made = {name: None if given[name] == usual else given[name] for name, usual in FOR_TEXT.items()}
    if limits:
        made |= {name: given[name] for name in LIMITS}
    refuse(made, reason)


def arguments_of(recipe: dict[str, Any] | None) -> dict[str, Any]:
    """The arguments that a model's recipe tells; none where it learned from counts."""
    with told_by("recipe"):
        return _told(recipe)


def _told(recipe: dict[str, Any] | None) -> dict[str, Any]:
    if recipe is None or not recipe["text"]:
        return {}
    languages = recipe["stop_words"]
    return {
        "language": None if not languages else languages[0] if len(languages) == 1 else languages,
        "stop_words": recipe["extra_stop_words"] or None,
        "stem": recipe["stemmer"],
        "ngrams": recipe["ngrams"],
        "lowercase": recipe["lowercase"],
        "min_length": recipe["min_length"],
        "numbers": recipe["numbers"],
        "min_df": recipe["min_df"],
        "max_df": recipe["max_df"],
    }
