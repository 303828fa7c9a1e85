"""Algorithm 1 of Li, Wang & Eisner (2019) with its matrices: slow, plain, differentiable.

It is as printed, but for the lines in blue, which compute expectations: here these are gradients.
"""

import torch
from torch import Tensor

from pyropunct.inference.problem import Problem


def log_evidence_by_matrices(problem: Problem) -> Tensor:
    """(B,) log p(x | T), without leading dimensions, differentiable to any order."""
    return torch.stack([_total(problem, tree) for tree in range(problem.forest.num_trees)])


def expected_cost_by_matrices(problem: Problem, cost: Tensor) -> Tensor:
    """E[sum_w cost(w, l_w, r_w) | T, x] of each tree, (B,), differentiable to any order."""
    with torch.enable_grad():
        evidence = log_evidence_by_matrices(problem).sum()
        (posterior,) = torch.autograd.grad(evidence, problem.log_pairs, create_graph=True)
    sizes = torch.from_numpy(problem.choice_start).diff()
    per_node = torch.stack([part.sum() for part in torch.split(posterior * cost, sizes.tolist())])
    return problem.forest.per_tree(per_node)


def _total(problem: Problem, tree: int) -> Tensor:
    forest, inventory = problem.forest, problem.inventory
    matrices = problem.automata.matrices()
    initial, final = problem.automata.end_vectors()
    slots = problem.slot_automaton
    first, *_, last = forest.slots(tree)
    start, end = initial[slots[first]], final[slots[last]]
    if inventory.start_token is not None:
        start = start @ matrices[slots[first], inventory.start_token]
    if inventory.end_token is not None:
        end = matrices[slots[last], inventory.end_token] @ end

    def reading(slot: int, puncteme: tuple[int, ...]) -> Tensor:
        product = torch.eye(matrices.shape[-1], dtype=matrices.dtype)
        for token in puncteme:
            product = product @ matrices[slots[slot], token]
        return product

    def inside(node: int) -> Tensor:
        i, j, k = (int(slot[node]) for slot in (forest.left_slot, forest.word_slot, forest.right_slot))
        left = final[slots[j - 1]]
        for child in reversed(forest.left_children(node)):
            left = inside(child) @ left
        right = initial[slots[j]]
        for child in forest.right_children(node):
            right = right @ inside(child)
        middle = torch.outer(left, right)
        total = torch.zeros_like(middle)
        choice = int(problem.choice_start[node])
        for left_puncteme, right_puncteme in inventory.pairs[int(problem.relation[node])]:
            weight = problem.log_pairs[choice].exp()
            total = total + weight * reading(i, left_puncteme) @ middle @ reading(k, right_puncteme)
            choice += 1
        return total

    return (start @ inside(int(forest.root[tree])) @ end).log()
