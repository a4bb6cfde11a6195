"""Displays: compute once, draw many times; must not know rules, weights or how files are read.

Only the functions that draw import matplotlib, so computing works without it.
"""

from surelearn.plot._boundary import BoundaryDisplay
from surelearn.plot._confusion import ConfusionDisplay
from surelearn.plot._ellipse import EllipseDisplay
from surelearn.plot._explanation import ExplanationDisplay
from surelearn.plot._learning import LearningCurveDisplay
from surelearn.plot._reliability import ReliabilityDisplay
from surelearn.plot._risk_coverage import RiskCoverageDisplay
from surelearn.plot._tuning import TuningDisplay

__all__ = [
    "BoundaryDisplay",
    "ConfusionDisplay",
    "EllipseDisplay",
    "ExplanationDisplay",
    "LearningCurveDisplay",
    "ReliabilityDisplay",
    "RiskCoverageDisplay",
    "TuningDisplay",
]
