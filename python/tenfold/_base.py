"""What all estimators share: how a fitted model is kept, shown, saved and judged.

An estimator is ``class Topics(ModelMixin, TransformerMixin, BaseEstimator)``. It names its compiled class in
``_compiled`` and fills in two methods: ``_adopt`` sets the fitted attributes, ``_choices`` turns the facts of a
model file back into constructor arguments. Everything else here follows from that.
"""

from __future__ import annotations

import html
import json
import logging
import os
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from tenfold import _core

logger = logging.getLogger("tenfold")

Path = str | os.PathLike[str]
Estimator = TypeVar("Estimator", bound="ModelMixin")

# How the findings of a verdict tell that an iteration was given up before it stood still.
UNSETTLED = ("still moving", "did not settle", "did not converge")


@contextmanager
def told_by(part: str, where: str = "") -> Iterator[None]:
    """Whatever fails in here does so because a part of a model's facts is not what it must be.

    Compiled code checks what it reads itself; a file of strangers may hold anything in the parts that only Python reads.
    """
    try:
        yield
    except _core.DataError:
        raise
    except (ArithmeticError, AttributeError, LookupError, MemoryError, TypeError, ValueError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else str(error) or type(error).__name__
        raise _core.DataError(
            f"{where}the part {part!r} of the model is not what it must be ({what}): the file is damaged or was made by something "
            "else; fit again, or fetch the file again"
        ) from error


class FitWarning(UserWarning):
    """A fit that should not be trusted, in whole or in part, before what the message says is dealt with."""


class Verdict(NamedTuple):
    """What a fit says about itself.

    Attributes
    ----------
    sound : bool
        Whether nothing gives reason for doubt.
    warnings : list of str
        Reasons for doubt; each was also raised as a Python warning by ``fit``.
    notes : list of str
        Worth knowing; each was also logged to the logger ``"tenfold"``.
    """

    sound: bool
    warnings: list[str]
    notes: list[str]

    @classmethod
    def of(cls, facts: dict[str, Any], k: str = "n_components") -> Verdict:
        """The verdict in the facts of a model; ``k`` is what the estimator calls the number of factors."""
        told = {"warning": [], "note": []}  # type: dict[str, list[str]]
        for finding in facts["verdict"]:
            told[finding["level"]].append(in_python(finding["message"], k))
        return cls(not told["warning"], told["warning"], told["note"])

    def announce(self, *, settled: bool = True, stacklevel: int = 4) -> None:
        """Raises warnings and logs notes; what did not settle is scikit-learn's ``ConvergenceWarning``."""

        def unsettled(message: str) -> bool:
            return not settled and any(words in message for words in UNSETTLED)

        told = [message for message in self.warnings + self.notes if unsettled(message)]
        if not settled:
            message = "; ".join(told) or "not converged: see diagnostics_"
            warnings.warn(message, ConvergenceWarning, stacklevel=stacklevel)
        for message in self.warnings:
            if message not in told:
                warnings.warn(message, FitWarning, stacklevel=stacklevel)
        for message in self.notes:
            logger.info(message)


def in_python(message: str, k: str = "n_components") -> str:
    """A message in which the options of the command line are the arguments of an estimator."""
    message = re.sub(r"(?<![\w-])-k (auto|\d+)\b", lambda found: f"{k}={_quoted(found[1])}", message)
    return _core.in_python(message)


def _quoted(value: str) -> str:
    return value if value.isdecimal() else f'"{value}"'


class Compiled(Protocol):
    """What every compiled model offers; pickling goes through ``to_bytes`` and ``from_bytes``."""

    def facts(self) -> str: ...
    def summary(self) -> str: ...
    def page(self) -> str: ...
    def write_page(self, path: Path) -> None: ...
    def save(self, path: Path) -> None: ...
    def to_bytes(self) -> bytes: ...


class ModelMixin:
    """An estimator whose fitted state is one compiled model, ``self._model``."""

    _compiled: ClassVar[Any]
    # What the number of factors is called among the arguments.
    _k: ClassVar[str] = "n_components"
    _model: Any

    def _adopt(self, model: Any, facts: dict[str, Any]) -> None:
        """Sets the fitted attributes from a model and its facts."""
        raise NotImplementedError

    @classmethod
    def _choices(cls, facts: dict[str, Any]) -> dict[str, Any]:
        """The constructor arguments that the facts of a model file tell."""
        raise NotImplementedError

    def _take(self, model: Any) -> dict[str, Any]:
        """Makes the model the fitted state; gives its facts."""
        facts: dict[str, Any] = json.loads(model.facts())
        self._model = model
        self.verdict_ = Verdict.of(facts, self._k)
        self.diagnostics_ = facts["diagnostics"]
        self._adopt(model, facts)
        return facts

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def summary(self) -> str:
        """A few lines about the model, as the command line prints them.

        Returns
        -------
        str
        """
        check_is_fitted(self)
        text: str = self._model.summary()
        return text

    def report(self, path: Path) -> None:
        """Writes a page about the model for the browser: one HTML file that works offline.

        Parameters
        ----------
        path : str or path-like
            Where the page goes; it is written whole or not at all.
        """
        check_is_fitted(self)
        self._model.write_page(path)

    def save(self, path: Path) -> None:
        """Writes the model file, which the command line and Rust read too.

        The file is data only, so that one from a stranger can be loaded without running anything.

        Parameters
        ----------
        path : str or path-like
            ``.tenfold`` is the usual ending; the file is written whole or not at all.
        """
        check_is_fitted(self)
        self._model.save(path)

    @classmethod
    def load(cls: type[Estimator], path: Path) -> Estimator:
        """Reads a model file, whoever wrote it: this package, the command line or Rust.

        Parameters
        ----------
        path : str or path-like

        Returns
        -------
        estimator
            Fitted, with the parameters that the file tells.
        """
        return cls._fitted(cls._compiled.load(path), f"{os.fspath(path)}: ")

    @classmethod
    def from_bytes(cls: type[Estimator], data: bytes) -> Estimator:
        """The fitted estimator in the bytes of a model file.

        Parameters
        ----------
        data : bytes
            What :meth:`to_bytes` gave, or what a model file holds.

        Returns
        -------
        estimator
            Fitted, with the parameters that the bytes tell.
        """
        return cls._fitted(cls._compiled.from_bytes(data))

    def to_bytes(self) -> bytes:
        """The bytes of the model file, for places without files.

        Returns
        -------
        bytes
        """
        check_is_fitted(self)
        data: bytes = self._model.to_bytes()
        return data

    @classmethod
    def _fitted(cls: type[Estimator], model: Any, where: str = "") -> Estimator:
        with told_by("parameters", where):
            estimator = cls(**cls._choices(json.loads(model.facts())))
        with told_by("facts", where):
            estimator._take(model)
        return estimator

    # In a notebook: scikit-learn's picture of the estimator, and under it what was found. Older versions of
    # scikit-learn call the two methods below directly, newer ones call `_html_repr`.
    def _html_repr(self) -> str:
        picture: str = estimator_html_repr(self)
        if not self.__sklearn_is_fitted__():
            return picture
        return f"{picture}<pre>{html.escape(self.summary())}</pre>"

    def _repr_html_inner(self) -> str:
        return self._html_repr()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] = self._html_repr()
        return bundle


def load(path: Path) -> Any:
    """Reads a model file of any kind.

    Parameters
    ----------
    path : str or path-like
        A file that this package, the command line or Rust wrote.

    Returns
    -------
    estimator
        A fitted estimator of the class that the file is of.

    Raises
    ------
    FileNotFoundError
        When there is no such file.
    tenfold.DataError
        When it is no model, damaged, or of a kind that has no estimator here.
    """
    import tenfold

    kind = _core.kind_of(path)
    name = tenfold.ESTIMATORS.get(kind)
    if name is None:
        known = ", ".join(tenfold.ESTIMATORS)
        raise _core.DataError(f"{os.fspath(path)}: holds a model of kind {kind!r}; estimators are for {known}")
    return getattr(tenfold, name).load(path)
