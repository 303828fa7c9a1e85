"""The derivatives of a program's results in all of its cells: the steps in reverse order.

This is the outside algorithm: with a prime for adjoints, y += a x becomes a' += y' x and x' += a y' (Eisner
2016, "Inside-outside and forward-backward algorithms are just backprop").
"""

from pyropunct.inference.circuit.sums import SUM, dot, power, scale_of
from pyropunct.inference.circuit.tape import DENSE, RESCALE, SPARSE
from pyropunct.inference.compiling import compiled, spliced


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
