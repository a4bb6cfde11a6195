"""The public estimators: those of this package as classes of scikit-learn.

The others of this package need no scikit-learn, whose import takes a second that the command does
not have. All that they do and all of their documentation is there.
"""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator, ClassifierMixin

from surelearn.files import File
from surelearn.learners import (
    classifier,
    crf_tagger,
    file,
    graph_classifier,
    graph_crf,
    graph_svm,
    kernel_classifier,
    multiclass_svm,
    ranker,
    softmax,
    svm_tagger,
    tagger,
    text_classifier,
)
from surelearn.text import HashingVectorizer


class SureClassifier(classifier.SureClassifier, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    __doc__ = classifier.SureClassifier.__doc__
    __repr__ = BaseEstimator.__repr__


class SureTextClassifier(text_classifier.SureTextClassifier, SureClassifier):
    __doc__ = text_classifier.SureTextClassifier.__doc__
    _vectorizer = HashingVectorizer


class SoftmaxClassifier(softmax.SoftmaxClassifier, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    __doc__ = softmax.SoftmaxClassifier.__doc__
    __repr__ = BaseEstimator.__repr__


class MulticlassSVM(multiclass_svm.MulticlassSVM, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    __doc__ = multiclass_svm.MulticlassSVM.__doc__
    __repr__ = BaseEstimator.__repr__


class SureKernelClassifier(
    kernel_classifier.SureKernelClassifier,
    ClassifierMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    __doc__ = kernel_classifier.SureKernelClassifier.__doc__
    __repr__ = BaseEstimator.__repr__


class SureTagger(tagger.SureTagger, BaseEstimator):  # type: ignore[misc]
    __doc__ = tagger.SureTagger.__doc__
    __repr__ = BaseEstimator.__repr__


class CRFTagger(crf_tagger.CRFTagger, BaseEstimator):  # type: ignore[misc]
    __doc__ = crf_tagger.CRFTagger.__doc__
    __repr__ = BaseEstimator.__repr__


class SVMTagger(svm_tagger.SVMTagger, BaseEstimator):  # type: ignore[misc]
    __doc__ = svm_tagger.SVMTagger.__doc__
    __repr__ = BaseEstimator.__repr__


class SureRanker(ranker.SureRanker, BaseEstimator):  # type: ignore[misc]
    __doc__ = ranker.SureRanker.__doc__
    __repr__ = BaseEstimator.__repr__


class SureGraphClassifier(graph_classifier.SureGraphClassifier, BaseEstimator):  # type: ignore[misc]
    __doc__ = graph_classifier.SureGraphClassifier.__doc__
    __repr__ = BaseEstimator.__repr__


class GraphCRF(graph_crf.GraphCRF, BaseEstimator):  # type: ignore[misc]
    __doc__ = graph_crf.GraphCRF.__doc__
    __repr__ = BaseEstimator.__repr__


class GraphSVM(graph_svm.GraphSVM, BaseEstimator):  # type: ignore[misc]
    __doc__ = graph_svm.GraphSVM.__doc__
    __repr__ = BaseEstimator.__repr__


def load(path: File, *, max_bytes: int = 2**32) -> Any:
    """Load a model written by `save`. Loading runs no code from the file.

    Parameters
    ----------
    path : str, path or binary file
        An open file, such as ``open(name, "rb")`` or `io.BytesIO`, is read from its current
        position to the end of the model, and stays open.
    max_bytes : int, default 2**32
        Limit of the memory for the model and the contents of the file; more raises FormatError.

    Returns
    -------
    estimator
        The same estimator, bit for bit.

    Raises
    ------
    FormatError
        If the file is damaged, of another format or of a newer version, or if its rule is a
        function that is not registered here.

    Examples
    --------
    >>> import io
    >>> from surelearn import SureClassifier, load
    >>> file = io.BytesIO()
    >>> SureClassifier().fit([[0.0, 1.0], [1.0, 0.0]], ["no", "yes"]).save(file)
    >>> load(io.BytesIO(file.getvalue())).predict([[3.0, 1.0]])
    array(['yes'], dtype='<U3')
    """
    loaded = public(file.load(path, max_bytes=max_bytes))
    if isinstance(loaded, SureTextClassifier):
        loaded.vectorizer_ = _as(HashingVectorizer, loaded.vectorizer_)
    return loaded


def public(estimator: Any) -> Any:
    """An estimator as scikit-learn knows it: its state is that of the one given."""
    cls = globals().get(type(estimator).__name__)
    if cls is None or isinstance(estimator, BaseEstimator):
        return estimator
    return _as(cls, estimator)


def _as(cls: type[Any], bare: Any) -> Any:
    """An object of another class with the same state."""
    same = object.__new__(cls)
    same.__dict__ = bare.__dict__
    return same
