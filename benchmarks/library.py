"""Times log p(x | T) and its gradient in the example of docs/guide/library.md, against two other ways.

Usage, after ``pip install funsor==0.4.8``::

    python benchmarks/library.py [--nodes 4,6,8,10,12,20,40] [--enumerated 12] [--repeats 5]

A chain of noun phrases has all its markers in one slot; in a balanced tree they are spread.  The ways, on one
thread: `pyropunct.inference.inside.log_evidence`; `pyro.infer.TraceEnum_ELBO`, with a dimension for each
node; and funsor, a sum-product over a variable for each node and each automaton state, with matrices of this
library's automata.
"""

import argparse
import re
import time
from collections.abc import Callable
from functools import reduce
from itertools import product
from pathlib import Path
from typing import Any

import funsor
import pyro
import torch
from pyro import poutine

from pyropunct.inference.inside import log_evidence
from pyropunct.inference.problem import Problem
from pyropunct.inference.pyro.collapse import tree_problem
from pyropunct.inference.pyro.one_by_one import one_by_one

PAGE = Path(__file__).parents[1] / "docs" / "guide" / "library.md"


def chain(first: int, last: int, head: int = 0) -> list[int]:
    return [head, *range(first + 1, last)]


def balanced(first: int, last: int, head: int = 0) -> list[int]:
    if first == last:
        return []
    middle = (first + last) // 2
    return [*balanced(first, middle, middle + 1), head, *balanced(middle + 1, last, middle + 1)]


def by_funsor(problem: Problem) -> torch.Tensor:
    """log p(x | T) of one tree, as a sum-product of discrete variables."""
    matrices, ends = problem.automata.matrices(), problem.automata.end_vectors()
    start, order = problem.automata.state_start.tolist(), problem.forest.sprouting
    pairs = [problem.inventory.pairs[relation] for relation in problem.relation.tolist()]
    factors: list[funsor.Tensor] = []

    def add(values: torch.Tensor, *names: str) -> None:
        sizes = {name: size for name, size in zip(names, values.shape, strict=True) if size > 1}
        factors.append(funsor.Tensor(values.squeeze(), {name: funsor.Bint[sizes[name]] for name in sizes}))

    for node, chances in enumerate(problem.log_pairs.exp().split([len(some) for some in pairs])):
        add(chances, f"pair {node}")
    for slot, automaton in enumerate(problem.slot_automaton.tolist()):
        states, (first, last) = start[automaton + 1] - start[automaton], order.start[slot : slot + 2].tolist()
        of_tokens = matrices[automaton, :, :states, :states]
        for event in range(first, last):
            node, side = int(order.node[event]), 0 if order.on_left[event] else 1
            strings = [of_tokens[list(pair[side])] for pair in pairs[node]]
            reads = torch.stack([reduce(torch.matmul, string, torch.eye(states)) for string in strings])
            add(reads, f"pair {node}", f"state {slot} {event}", f"state {slot} {event + 1}")
        for weights, event in zip(ends, (first, last), strict=True):
            add(weights[automaton, :states], f"state {slot} {event}")
    names = frozenset(name for factor in factors for name in factor.inputs)
    with funsor.interpretations.lazy:
        total = funsor.sum_product.sum_product(funsor.ops.add, funsor.ops.mul, factors, names)
    return funsor.optimizer.apply_optimizer(total).data.log()


def ways(model: Callable[..., Any], trees: Any, surface: torch.Tensor) -> list[Callable[[], torch.Tensor]]:
    """This library, TraceEnum_ELBO and funsor."""
    elbo = pyro.infer.TraceEnum_ELBO(max_plate_nesting=1)
    return [
        lambda: log_evidence(tree_problem(model, trees, surface)).sum(),
        lambda: -elbo.differentiable_loss(one_by_one(model), lambda *_: None, trees, surface),
        lambda: by_funsor(tree_problem(model, trees, surface)),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--nodes", default="4,6,8,10,12,20,40")
    parser.add_argument("--enumerated", type=int, default=12)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    funsor.set_backend("torch")
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.double)
    names: dict[str, Any] = {}
    exec(re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)[0], names)
    table = torch.tensor([0.0, 0.0, 1.0, 1.0, 0.0, 2.0], requires_grad=True)
    leaves = {"table": table, "dropped": torch.tensor(0.7, requires_grad=True)}
    model = poutine.block(poutine.do(names["model"], leaves), hide=list(leaves))
    print("| tree | nodes | this library | TraceEnum_ELBO | funsor |\n|---|--:|--:|--:|--:|")
    for shape, nodes in product((chain, balanced), map(int, options.nodes.split(","))):
        pyro.set_rng_seed(nodes)
        heads, cells, known = shape(0, nodes), [f"| {shape.__name__}", f"{nodes}"], None
        trees = names["noun_phrases"]([(head, names["OWNER" if head else "PLACE"]) for head in heads])
        for number, way in enumerate(ways(model, trees, model(trees).surface)):
            times = []
            for _ in range(options.repeats + 1 if number != 1 or nodes <= options.enumerated else 0):
                begin, total = time.perf_counter(), way()
                value = [total, *torch.autograd.grad(total, list(leaves.values()))]
                times.append(time.perf_counter() - begin)
                known = known or value
                torch.testing.assert_close(value, known)
            cells.append(f"{1000 * min(times[1:]):.1f} ms" if times else "")
        print(" | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
