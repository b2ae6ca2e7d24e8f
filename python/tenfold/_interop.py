"""What other packages take from topics."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from tenfold._documents import look


class InteropMixin:
    """For an estimator of topics."""

    def to_pyldavis(self, X: Any) -> dict[str, Any]:
        """What ``pyLDAvis.prepare(**topics.to_pyldavis(X))`` takes.

        Parameters
        ----------
        X : counts of shape (n_documents, n_words), texts, lists of words, or a gensim corpus
            The documents that are to be shown. Those without words are left out, and so are words that none holds.

        Returns
        -------
        dict
            ``topic_term_dists``, ``doc_topic_dists``, ``doc_lengths``, ``vocab`` and ``term_frequency``.
        """
        check_is_fitted(self)
        if hasattr(X, "__next__"):
            X = list(X)
        estimator: Any = self
        lengths, frequencies = estimator._read(look(X)).totals()
        found, held = estimator.n_found_, frequencies > 0
        mixtures = estimator._bare_transform(X)[lengths > 0, :found].astype(float)
        topics = estimator.components_[:found, held]
        return {
            "topic_term_dists": topics / topics.sum(axis=1, keepdims=True),
            "doc_topic_dists": mixtures / mixtures.sum(axis=1, keepdims=True),
            "doc_lengths": lengths[lengths > 0],
            "vocab": list(estimator.words_[held]),
            "term_frequency": frequencies[held],
        }

    def annotate(self, adata: Any, *, key: str = "X_topics") -> None:
        """Writes the topics' shares of an AnnData's observations into its ``obsm``, and the topics into its ``varm``.

        Parameters
        ----------
        adata : anndata.AnnData
            With the variables of the fit.
        key : str, default="X_topics"
            Under which mixtures stand in ``adata.obsm``; the topics stand in ``adata.varm["topics"]``.
        """
        check_is_fitted(self)
        estimator: Any = self
        adata.obsm[key] = estimator._bare_transform(adata)
        adata.varm["topics"] = estimator.components_.T
