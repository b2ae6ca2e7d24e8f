"""What documents come in: tables of counts, texts, lists of words, or gensim's pairs; told by looking at the first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from tenfold._arguments import characters

# Documents that are handed to Rust at once: enough to tell their language by, few enough not to count in memory.
PART = 4096


class Counts(NamedTuple):
    """Rows of counts, not yet validated."""

    table: Any
    # Names of the columns, where the container has them and scikit-learn does not see them.
    names: list[str] | None = None


class Texts(NamedTuple):
    """Texts, or documents that are cut into words, in parts."""

    parts: Iterator[list[Any]]
    cut: bool


class Pairs(NamedTuple):
    """gensim's corpora: for every document pairs of a word's number and its count."""

    documents: Iterable[Any]


Documents = Counts | Texts | Pairs


def look(X: Any) -> Documents:
    """Tells what kind of documents these are. What is no text of any kind is taken for a table of counts."""
    if isinstance(X, (str, bytes)):
        raise ValueError("X is a single text: give a list of texts, one for every document")
    if all(hasattr(X, name) for name in ("X", "var_names", "obs_names")):
        table = X.X
        if hasattr(table, "to_memory"):
            table = table.to_memory()
        return Counts(table, [str(name) for name in X.var_names])
    if sparse.issparse(X):
        return Counts(X)
    if isinstance(X, Mapping):
        raise ValueError("X is a dict: give its values as a list, one for every document")
    column = _column(X)
    if column is None:
        _refuse_texts(X)
        return Counts(X)
    first, documents = _peek(column)
    if isinstance(first, (str, bytes)):
        return Texts(_parts(documents, _text), cut=False)
    if isinstance(first, (list, tuple)) or (isinstance(first, np.ndarray) and first.dtype.kind in "OUT"):
        word = next(iter(first))
        if isinstance(word, str):
            return Texts(_parts(documents, _words), cut=True)
        if isinstance(word, tuple) and len(word) == 2:
            return Pairs(documents)
    if first is None and _is_stream(X):
        # Nothing came, or nothing but empty documents: texts say so best.
        return Texts(_parts(documents, _words if column is X else _text), cut=True)
    return Counts(X)


def _refuse_texts(X: Any) -> None:
    """Refuses a frame of several columns among which one holds texts: nobody can tell which is meant."""
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if not hasattr(X, "columns") or len(shape) != 2 or shape[0] == 0:
        return
    for name in X.columns:
        column = X[name]
        first = column.iloc[0] if hasattr(column, "iloc") else column[0]
        if isinstance(first, str):
            raise ValueError(f"X is a table whose column {name!r} holds text: give that column alone, X[{name!r}]")


def _column(X: Any) -> Any:
    """What may be gone through document by document; None for tables."""
    shape = getattr(X, "shape", None)
    if hasattr(X, "to_pylist") and hasattr(X, "slice") and shape is None:
        return chain.from_iterable(X.slice(at, PART).to_pylist() for at in range(0, len(X), PART))
    if shape is not None and len(shape) == 2:
        if shape[1] != 1 or shape[0] == 0:
            return None
        if isinstance(X, np.ndarray):
            return X[:, 0] if X.dtype.kind in "OUT" else None
        # One column of a frame may hold texts: a ColumnTransformer hands it over like that.
        names = getattr(X, "column_names", getattr(X, "columns", None))
        return _column(X[names[0]]) if names is not None else None
    if shape is not None:
        text = getattr(getattr(X, "dtype", None), "kind", "O") in "OUT"
        return X if len(shape) == 1 and text and hasattr(X, "__iter__") else None
    if hasattr(X, "__array__") and not hasattr(X, "dtype"):
        return None
    return X if hasattr(X, "__iter__") else None


def _is_stream(X: Any) -> bool:
    return hasattr(X, "__next__")


def _peek(X: Any) -> tuple[Any, Iterable[Any]]:
    """The first document that is not empty, and all of them."""
    if not hasattr(X, "__next__"):
        return next((one for one in X if _holds_something(one)), None), X
    seen = []
    for one in X:
        seen.append(one)
        if _holds_something(one):
            return one, chain(seen, X)
    return None, iter(seen)


def _holds_something(one: Any) -> bool:
    if isinstance(one, (str, bytes)):
        return True
    return not hasattr(one, "__len__") or len(one) > 0


def _parts(documents: Iterable[Any], check: Callable[[int, Any], Any]) -> Iterator[list[Any]]:
    numbered = enumerate(documents)
    while part := [check(at, one) for at, one in islice(numbered, PART)]:
        yield part


def _text(at: int, one: Any) -> str:
    if isinstance(one, str):
        return one
    raise ValueError(f"document {at} is {_shown(one)} and no text: give '' for an empty document, and decode bytes")


def _words(at: int, one: Any) -> list[str]:
    if isinstance(one, str):
        raise ValueError(f"document {at} is {_shown(one)}, while others are lists of words: give one kind")
    words = list(one)
    for word in words:
        if not isinstance(word, str):
            raise ValueError(f"document {at} holds {_shown(word)}, which is no word: give words as str")
    return words


def undecodable(parts: list[Any]) -> int | None:
    """The place of the first document that is no Unicode text, as files read with ``surrogateescape`` are."""

    def broken(one: Any) -> bool:
        try:
            (one if isinstance(one, str) else " ".join(one)).encode()
        except UnicodeEncodeError:
            return True
        return False

    return next((at for at, one in enumerate(parts) if broken(one)), None)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def words_of(vocabulary: Any) -> list[str] | None:
    """The words of a ``vocabulary`` argument in order: a list, or a dict either way round as gensim's Dictionary."""
    if vocabulary is None:
        return None
    if isinstance(vocabulary, str):
        raise ValueError("vocabulary is a single str: give a list of words")
    if hasattr(vocabulary, "items"):
        # gensim's Dictionary goes from numbers to words, scikit-learn's vocabulary_ from words to numbers.
        pairs = list(vocabulary.items())
        if pairs and isinstance(pairs[0][0], str):
            pairs = [(number, word) for word, number in pairs]
        words = {int(number): str(word) for number, word in pairs}
        if sorted(words) != list(range(len(words))):
            raise ValueError("vocabulary: numbers must be those from 0 to the number of words less 1, each once")
        found = [words[number] for number in range(len(words))]
    else:
        found = [str(word) for word in vocabulary]
    characters("vocabulary: the word", found)
    if not found:
        raise ValueError("vocabulary is empty: leave it out, or give words")
    if len(set(found)) < len(found):
        raise ValueError("vocabulary holds a word twice")
    return found


def distinct(names: list[str]) -> list[str]:
    """Names made distinct by numbers behind those that come again, since a model knows words by their names."""
    if len(set(names)) == len(names):
        return names
    taken, unique = set(names), []
    seen: dict[str, int] = {}
    for name in names:
        number = seen.get(name, -1) + 1
        new = name
        while number and (new := f"{name}-{number}") in taken:
            number += 1
        seen[name] = number
        taken.add(new)
        unique.append(new)
    return unique
