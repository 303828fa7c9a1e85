"""The inside algorithm without matrices, its reverse pass and its decoding, compiled.

Li, Wang & Eisner (2019, Algorithm 1) give every constituent w an N_i x N_k matrix::

    IN(w) = sum_(l, r) p(l, r | w) M_i(l) (Mleft 1 Mright) M_k(r)

The matrix in the middle is a column times a row, and a head only multiplies a child's matrix by a vector. So
a constituent keeps two small tables instead::

    left[l] = M_i(l) Mleft        for each left puncteme l:   a column of N_i weights
    right[r] = Mright M_k(r)      for each right puncteme r:  a row of N_k weights

and *applying* it to a column v (when it is a left child or the root) means::

    s[r] = right[r] . v      t[l] = sum_r p(l, r | w) s[r]      IN(w) v = sum_l t[l] left[l]

or, for a right child and a row v, the same with the sides exchanged. Punctemes that share a part share the
work of reading it (`pyropunct.inference.inventory.Tries`).

Weights are real, or complex to serve as dual numbers: an imaginary part of 1e-20 keeps full precision while
its square vanishes, so one pass also yields an exact directional derivative. All functions work on one tree
at a time and hold no lock. See `pyropunct.inference.compiling` before changing anything here.
"""
