"""Linear classifiers that know how sure they are of every weight.

>>> from surelearn import SureClassifier
>>> SureClassifier(rule="stdev").fit([[0.0, 1.0], [1.0, 0.0]], ["no", "yes"]).predict([[2.0, 1.0]])
array(['yes'], dtype='<U3')
"""

from surelearn import constraints, datasets, rules
from surelearn._check import FormatError
from surelearn.estimators import SureClassifier, load

__version__ = "0.1.0"

__all__ = ["FormatError", "SureClassifier", "constraints", "datasets", "load", "rules"]
