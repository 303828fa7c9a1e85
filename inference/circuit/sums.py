"""Sums over all derivations of a program, and their derivatives: the steps in order, then in reverse order.

In the max-times semiring, the same steps find the most probable derivation.  Dual numbers are compared by
their real parts.
"""

import math

import numpy as np

from pyropunct.inference.circuit.tape import ADDED, ALIGN, DENSE, RESCALE, SPARSE
from pyropunct.inference.compiling import compiled, spliced

Semiring = np.bool_
"""How terms are added: `SUM` or `MAX`, in compiled loops and in operations on tensors.  They are NumPy's
booleans: of a function that is called with Python's, numba compiles one version for each."""

SUM, MAX = Semiring(False), Semiring(True)

FAR = 250
"""A complete vector is rescaled if its greatest number is not between 2^-250 and 2^250."""


@spliced
def plus(x, y, semiring):
    """The sum of x and y in the semiring; MAX takes the first of two equals."""
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
def power(exponent):
    """A power of two."""
    return np.ldexp(1.0, exponent)


@spliced
def scale_of(step, exponent):
    """The power of two by which products of a step's cells count in its target."""
    return exponent[step[4]] + exponent[step[5]] - exponent[step[3]]


@spliced
def _multiply(vector, factor):
    for place in range(len(vector)):
        vector[place] *= factor


@spliced
def _is_zero(vector):
    is_zero = True
    for place in range(len(vector)):
        is_zero = is_zero and vector[place] == 0
    return is_zero


@spliced
def _rescale(vector):
    """Divide a vector by a power of two if it needs it, and return the exponent."""
    greatest = 0.0
    for place in range(len(vector)):
        greatest = max(greatest, vector[place].real)
    if greatest == 0 or 2.0**-FAR < greatest < 2.0**FAR:
        return 0
    exponent = min(max(math.frexp(greatest)[1], -1000), 1000)
    _multiply(vector, power(-exponent))
    return exponent


@compiled
def evaluate(steps, row, column, values, exponent, semiring):
    """Fill all cells.

    :param values: (cells,) real, or dual (complex). The given numbers are filled in; all others are zero.
    :param exponent: (cells,) zeros; takes, for the first cell of a vector, the power of two by which its
        numbers are to be multiplied.
    """
    for number in range(len(steps)):
        step = steps[number]
        kind, count, width, target, matrix = step[0], step[1], step[2], step[3], step[4]
        if kind == RESCALE:
            exponent[target] += _rescale(values[target : target + width])
            continue
        if kind == ALIGN:
            by = exponent[target] - exponent[step[5]]
            if by != 0:
                _multiply(values[target : target + width], power(by))
                exponent[target] = exponent[step[5]]
            continue
        scale, factor = scale_of(step, exponent), 1.0
        if kind == SPARSE:
            rows, columns = row[width : width + count], column[width : width + count]
            weights, vector, result = values[matrix : matrix + count], values[step[5] :], values[target:]
            for cell in range(count):
                product = weights[cell] * vector[columns[cell]]
                result[rows[cell]] = plus(result[rows[cell]], product, semiring)
        elif kind == DENSE:
            vector = values[step[5] : step[5] + width]
            for place in range(count):
                begin = matrix + place * width
                values[target + place] = dot(values[begin : begin + width], vector, semiring)
        else:
            result = values[target : target + width]
            if kind == ADDED and scale != 0 and not _is_zero(result):
                if _is_zero(values[step[5] : step[5] + count]):
                    continue
                if scale < 0:
                    scale, factor = 0, power(scale)
                else:
                    _multiply(result, power(-scale))
            for place in range(count):
                begin, multiple = matrix + place * width, factor * values[step[5] + place]
                vector = values[begin : begin + width]
                if multiple != 0:
                    for at in range(width):
                        result[at] = plus(result[at], multiple * vector[at], semiring)
        if scale != 0:
            exponent[target] += scale


@spliced
def _add_multiple(target, factor, vector):
    """Add a multiple of a vector to another."""
    for place in range(len(target)):
        target[place] += factor * vector[place]


@compiled
def reverse(steps, row, column, values, exponent, adjoint):
    """Fill the adjoints of all cells from those of the results.

    ``values`` and ``exponent`` are those of `pyropunct.inference.circuit.sums.evaluate` with sums; exponents
    count as constants.
    """
    for back in range(len(steps)):
        step = steps[len(steps) - 1 - back]
        kind, count, width, target, matrix = step[0], step[1], step[2], step[3], step[4]
        scale, factor = scale_of(step, exponent), 1.0
        if kind >= RESCALE or scale > 1000:  # then the products are 0
            continue
        if scale != 0:
            factor = power(scale)
        if kind == SPARSE:
            rows, columns = row[width : width + count], column[width : width + count]
            weights, of_weights = values[matrix : matrix + count], adjoint[matrix : matrix + count]
            vector, of_vector, of_result = values[step[5] :], adjoint[step[5] :], adjoint[target:]
            for cell in range(count):
                flow, at = factor * of_result[rows[cell]], columns[cell]
                of_vector[at] += flow * weights[cell]
                of_weights[cell] += flow * vector[at]
        elif kind == DENSE:
            vector, of_vector = values[step[5] : step[5] + width], adjoint[step[5] : step[5] + width]
            for place in range(count):
                flow, begin = factor * adjoint[target + place], matrix + place * width
                _add_multiple(of_vector, flow, values[begin : begin + width])
                _add_multiple(adjoint[begin : begin + width], flow, vector)
        else:
            of_result = adjoint[target : target + width]
            for place in range(count):
                begin = matrix + place * width
                adjoint[step[5] + place] += factor * dot(of_result, values[begin : begin + width], SUM)
                _add_multiple(adjoint[begin : begin + width], factor * values[step[5] + place], of_result)
