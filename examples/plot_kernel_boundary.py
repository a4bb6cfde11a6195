"""
The boundary of a kernel, and how sure it is
============================================

``SureKernelClassifier`` learns borders that are not linear, and its margin has a variance. With the
RBF kernel the variance grows with the distance from the training rows: the model knows where it has
seen nothing. This example draws both for two half moons.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from surelearn import SureKernelClassifier
from surelearn.plot import BoundaryDisplay
from surelearn.plot.style import COLOURS, FONT, head

# %%
# 200 noisy rows train the model in one pass.

X, y = make_moons(200, noise=0.15, random_state=0)
names = np.array(["upper", "lower"])[y]
clf = SureKernelClassifier(gamma=2.0, random_state=0).fit(X, names)
X_test, y_test = make_moons(1000, noise=0.15, random_state=1)
right = clf.score(X_test, np.array(["upper", "lower"])[y_test])
print(f"{len(clf.points_)} support points, {right:.1%} of 1,000 test rows right")

# %%
# Above, the predicted class, darker where the margin has more standard deviations. Below, the
# standard deviation of the margin alone.

figure, (top, low) = plt.subplots(2, 1, figsize=(8, 9.2), layout="constrained")
display = BoundaryDisplay.from_estimator(clf, X, names, response="deviation", margin=0.5)
display.plot(top, title="The boundary, and the margin in deviations")

x0, x1 = np.meshgrid(display.x0_, display.x1_)
_, variance = clf.margin(np.column_stack([x0.ravel(), x1.ravel()]))
deviation = np.sqrt(variance).reshape(x0.shape)
drawn = low.contourf(x0, x1, deviation, levels=12, cmap="Greys")
for name, colour in zip(("lower", "upper"), COLOURS, strict=False):
    low.plot(*X[names == name].T, "o", color=colour, markersize=4, markeredgecolor="white")
low.set(xlabel="x0", ylabel="x1", xlim=top.get_xlim(), ylim=top.get_ylim())
bar = figure.colorbar(drawn, cax=low.inset_axes((1.03, 0, 0.03, 1)))
bar.set_label("Standard deviation of the margin", fontsize=FONT)
head(low, "Where it has seen nothing", "Dark: large deviation, far from all training rows")
plt.show()

# %%
# The same figures at two places: the middle of the upper moon, and a corner without rows.

for place, row in (("upper moon", [0.0, 1.0]), ("corner", [display.x0_[-1], display.x1_[-1]])):
    mean, variance = clf.margin([row])
    size, spread = abs(mean.item()), np.sqrt(variance.item())
    print(f"{place:<11}margin {size:.2f}, deviation {spread:.2f}, ratio {size / spread:.1f}")

# %%
# In the corner the margin is nearly 0 and its deviation is the largest of the picture. The
# predicted class there means nothing, and the ratio says so.
