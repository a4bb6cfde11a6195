"""Tokens: turns sequences of tokens into sparse rows; must not know labels.

>>> features = TokenFeatures(templates=["w[0]", "w[-1]|w[0]"])
>>> features.learn([["the", "cat"]]).X.toarray()
array([[1., 1., 0., 0.],
       [0., 0., 1., 1.]], dtype=float32)
>>> features.names
['w[0]=the', 'w[-1]|w[0]=<s-1>|the', 'w[0]=cat', 'w[-1]|w[0]=the|cat']
"""

from surelearn.templates._features import Sequences, TokenFeatures
from surelearn.templates._language import default_templates, read_crfpp

__all__ = ["Sequences", "TokenFeatures", "default_templates", "read_crfpp"]
