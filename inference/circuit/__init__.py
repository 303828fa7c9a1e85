"""Dynamic programs as circuits: recorded once as steps, then evaluated, reversed and decoded by a few loops.

- `tape`: the steps, and the functions that record them;
- `sums`: the total, or the greatest derivation: the steps in order, in a semiring; all derivatives: in
  reverse order;
- `program`: both, with the best derivation and draws, for one program on the CPU;
- `levels`: the same by tensor operations on any device;
- `recorder`: programs of one's own.
"""
