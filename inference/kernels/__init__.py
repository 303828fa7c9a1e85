"""The inside algorithm without matrices, its reverse pass and its decoding, compiled.

Li, Wang & Eisner (2019, Algorithm 1) give every constituent w an N_i x N_k matrix::

    IN(w) = sum_(l, r) p(l, r | w) M_i(l) (Mleft 1 Mright) M_k(r)

The matrix in the middle is a column times a row, and a head only ever multiplies the matrix of a child by a
vector. So a constituent keeps two small tables instead::

    left[l] = M_i(l) Mleft        for each left puncteme l:   a column of N_i weights
    right[r] = Mright M_k(r)      for each right puncteme r:  a row of N_k weights

and *applying* it to a column v (when it is a left child or the root) means::

    s[r] = right[r] . v      t[l] = sum_r p(l, r | w) s[r]      IN(w) v = sum_l t[l] left[l]

or, for a right child and a row v, the same with the sides exchanged. Punctemes that share a part share the
work of reading it (`pyropunct.inference.inventory.Tries`). In a slot without surface punctuation only the
empty puncteme has any weight, so most tables have one entry of one state.

- `pyropunct.inference.kernels.structure`: what is given: trees, automata and punctemes, and their weights.
- `pyropunct.inference.kernels.workspace`: where the tables and vectors of a tree lie.
- `pyropunct.inference.kernels.inside`: Algorithm 1, in the semirings sum and max.
- `pyropunct.inference.kernels.outside`: its reverse pass, which gives the gradients of section 3.2.
- `pyropunct.inference.kernels.decode`: the best T' and draws from the posterior (section 3.1).

Weights are real or complex. Complex weights serve as dual numbers: an imaginary part of 1e-20 is carried
along to full precision while its square vanishes, so one pass also yields an exact directional derivative.

All functions work on one tree at a time, in a workspace of its own, and hold no lock. What numba has compiled
is kept on disk: see `pyropunct.inference.compiling` before changing anything here.
"""
