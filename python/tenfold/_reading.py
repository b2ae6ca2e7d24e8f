"""Documents of an estimator on their way into a corpus."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import validate_data

from tenfold import _core
from tenfold._arguments import ANY, Running, characters, count, threads_of
from tenfold._base import logger
from tenfold._counts import READ, matrix_of, rows_of, scale_of, survey
from tenfold._documents import Counts, Documents, Pairs, Texts, distinct, undecodable, words_of
from tenfold._recipes import FOR_TEXT, LIMITS, recipe_of, refuse_text
from tenfold._sparse import sound


# Rows that are inferred without threads of their own, as the compiled module has it.
FEW = 16

# Most words that may go without names: their stand-ins must be made up. As many as the command line takes.
NAMELESS = 1 << 22


class ReadingMixin:
    """For an estimator of topics, whose arguments and words say how documents are read."""

    vocabulary: Any
    memory_limit: int
    n_jobs: int | None
    words_: Any
    n_found_: int
    n_components_: int
    _model: Any
    # What the numbers of the fit were multiplied by; None where nobody knows, as in a model from a file.
    _scale: float | None = None

    def _how(self) -> Running:
        return {"threads": threads_of(self.n_jobs), "callback": None, "checkpoint": None}

    def _read_to_fit(self, documents: Documents) -> tuple[_core.TopicsCorpus, float]:
        """The documents of a fit, counted, and what their numbers were multiplied by."""
        memory = count("memory_limit", self.memory_limit, least=0, most=ANY)
        words, about = words_of(self.vocabulary), {name: getattr(self, name) for name in (*FOR_TEXT, *LIMITS)}
        if isinstance(documents, Texts):
            for name in ("n_features_in_", "feature_names_in_"):
                if hasattr(self, name):
                    delattr(self, name)
            recipe = recipe_of(about, cut=documents.cut)
            how: _core.Reading = {"recipe": recipe, "memory": memory, "vocabulary": words, "grow": False}
            return self._read_texts(documents, how), 1.0
        refuse_text(about, "counts, whose columns are words already")
        if isinstance(documents, Pairs):
            documents = Counts(matrix_of(documents.documents, None if words is None else len(words)))
        table = self._validated(documents.table, reset=True)
        names = words or documents.names or getattr(self, "feature_names_in_", None)
        if names is None:
            if table.shape[1] > NAMELESS:
                raise ValueError(
                    f"X has {table.shape[1]} columns without names, and names are made up for at most {NAMELESS}: give vocabulary, "
                    "or number the words from 0 on without gaps"
                )
            names = [f"w{column + 1}" for column in range(table.shape[1])]
        if len(names) != table.shape[1]:
            raise ValueError(f"vocabulary has {len(names)} words, but X has {table.shape[1]} columns")
        scale = scale_of(*survey(table))
        if scale != 1.0:
            logger.info("X holds more than counts: rows are taken for frequencies, times %g and rounded", scale)
        return self._read_rows(table, scale, distinct(characters("the column", [str(name) for name in names]))), scale

    def _read(self, documents: Documents, *, grow: bool = False) -> _core.TopicsCorpus:
        """Documents counted by the words of the model; ``grow`` lets texts bring more words."""
        if isinstance(documents, Texts):
            if list(self.words_) == [f"w{column + 1}" for column in range(len(self.words_))]:
                raise ValueError(
                    "the model was fitted on columns without names, so it knows no words: give counts of the same columns, or fit "
                    "again with vocabulary="
                )
            recipe = self._model.recipe()
            how: _core.Reading = {
                "recipe": recipe,
                "memory": count("memory_limit", self.memory_limit, least=0, most=ANY),
                "vocabulary": list(self.words_),
                "grow": grow,
            }
            return self._read_texts(documents, how)
        table = self._table(documents)
        needed = scale_of(*survey(table))
        scale = needed if not grow or self._scale is None else self._scale
        if scale == 1.0 and needed != 1.0:
            raise ValueError("X holds numbers that are no counts, but the model was learned from counts: give counts")
        return self._read_rows(table, scale, list(self.words_))

    def _read_texts(self, documents: Texts, how: _core.Reading) -> _core.TopicsCorpus:
        reader = _core.TextReader(how, documents.cut, threads_of(self.n_jobs))
        before = 0
        for part in documents.parts:
            try:
                reader.push(part)
            except TypeError as error:
                at = undecodable(part)
                if at is None:
                    raise
                told = "holds surrogates, which are no characters: decode it with errors='replace'"
                raise ValueError(f"document {before + at} {told}") from error
            before += len(part)
        corpus = reader.finish()
        for note in corpus.notes():
            logger.debug(note)
        return corpus

    def _read_rows(self, table: Any, scale: float, names: list[str]) -> _core.TopicsCorpus:
        reader = _core.CountsReader(count("memory_limit", self.memory_limit, least=0, most=ANY))
        for rows in rows_of(table):
            reader.push(rows, scale, self._how())
        return reader.finish(names, self._how())

    def _is_plain(self, table: Any) -> bool:
        """Whether these are a few rows of a CSR matrix that scikit-learn's validation would hand back as they are.

        It takes several times longer than the mixture of a short document, which matters where one document comes after
        the other. What does not pass here goes through validation, which says why.
        """
        if not isinstance(table, sparse.csr_matrix | sparse.csr_array) or not 1 <= table.shape[0] <= FEW:
            return False
        if table.shape[1] != getattr(self, "n_features_in_", None) or table.data.dtype.str[1:] not in READ:
            return False
        values = table.data
        # A value that is no number is not above 0 either.
        return not values.size or (values.min() >= 0 and values.max() < np.inf)

    def _few_texts(self, X: Any) -> NDArray[np.float64] | None:
        """The mixtures of a few texts, read and inferred without threads; None where this is not that, or not for that."""
        if not isinstance(X, list) or not 0 < len(X) <= FEW or self.n_found_ != self.n_components_:
            return None
        if not all(type(one) is str for one in X):
            return None
        try:
            found: NDArray[np.float64] | None = self._model.infer_texts(X)
            return found
        except UnicodeEncodeError:
            # Surrogates: the usual way says which document holds them.
            return None

    def _table(self, documents: Counts | Pairs) -> Any:
        """A table for the words of the model, validated."""
        if isinstance(documents, Pairs):
            documents = Counts(matrix_of(documents.documents, len(self.words_)))
        elif documents.names is not None and distinct(documents.names) != list(self.words_):
            raise ValueError("the var_names of X are not the words of the model, in their order: select them first")
        table = self._validated(documents.table, reset=False)
        if table.shape[1] != len(self.words_):
            words = len(self.words_)
            raise ValueError(f"X has {table.shape[1]} features, but Topics is expecting {words} words as input")
        return table

    def _validated(self, table: Any, *, reset: bool) -> Any:
        if not reset and self._is_plain(table):
            return table
        if getattr(table, "format", "csr") != "csr":
            # Rows are checked where they are read.
            table = sound(table)
        found = validate_data(
            self, table, accept_sparse="csr", dtype="numeric", ensure_non_negative=True, reset=reset
        )
        return found if found.dtype.kind in "fiub" else found.astype(np.float64)
