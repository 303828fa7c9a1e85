"""Dynamic programs as circuits: recorded once as steps, then evaluated, reversed and decoded by a few loops.

Steps (products of a matrix and a vector) come in with rows of given numbers and weights; totals, their
derivatives, best derivations and draws go out.  Only the other files of `pyropunct.inference` call this room,
and readers who write programs of their own.

- `tape`: the steps, and the functions that record them;
- `sums`: the total, or the greatest derivation: the steps in order, in a semiring; all derivatives: in
  reverse order;
- `program`: both, with the best derivation and draws, for one program on the CPU;
- `range`: whether doubles were too small or too large for it;
- `levels`: the same by tensor operations on any device;
- `wide`: the same for numbers of any size;
- `recorder`: programs of one's own.
"""
