"""The semirings in which the inside algorithm runs: sums of products, or greatest products.

Both multiply as numbers do.  A dual number is as great as its real part.
"""

import numpy as np

from pyropunct.inference.compiling import spliced

# NumPy's booleans: of a function that is called with Python's, numba compiles one version for each.
SUM, MAX = np.bool_(False), np.bool_(True)


@spliced
def plus(x, y, semiring):
    """What the semiring adds x and y up to; of two equals, max takes the first."""
    if semiring == MAX:
        return y if y.real > x.real else x
    return x + y


@spliced
def dot(x, y, semiring):
    """The inner product of two vectors of the same length, which is not 0."""
    total = x[0] * y[0]
    for place in range(1, len(x)):
        total = plus(total, x[place] * y[place], semiring)
    return total


@spliced
def add_multiple(target, factor, vector, semiring):
    """Add a multiple of a vector to another."""
    for place in range(len(target)):
        target[place] = plus(target[place], factor * vector[place], semiring)
