"""Text: hashed n-grams, and how rare they are; must not know labels."""

from typing import TYPE_CHECKING

from surelearn._lazy import lazily
from surelearn.text._native import NativeVectorizer

if TYPE_CHECKING:
    from surelearn.text._vectorizer import HashingVectorizer

__all__ = ["HashingVectorizer", "NativeVectorizer"]

#: `HashingVectorizer` is a class of scikit-learn, which takes a second to import.
__getattr__ = lazily(__name__, {"HashingVectorizer": "surelearn.text._vectorizer"})


def vectorizer_class() -> type[NativeVectorizer]:
    """The class of vectorizers in text classifiers: without scikit-learn in the command."""
    from surelearn._scikit_learn import IS_LIGHT

    if IS_LIGHT:
        return NativeVectorizer
    from surelearn.text._vectorizer import HashingVectorizer

    return HashingVectorizer
