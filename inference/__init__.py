"""Exact inference for latent punctuation (Li, Wang & Eisner 2019, section 3).

Trees as integers, scores of puncteme pairs, a channel's weights, and a surface or evidence about it come in;
log-probabilities, expectations, the best T' and draws go out, differentiable where they are sums.
`pyropunct.models` and all rooms above may call this one; the package's errors are all that it imports.

- `ragged`, `compiling`, `threads`: arrays of runs of different lengths, compiled loops, and threads;
- `forest`: the shapes of given trees;
- `items`, `packed`: all projective trees of a sentence, as a packed forest;
- `inventory`, `pairs`: the punctemes of each relation, and choices from them;
- `parts`: marks around a part of a constituent;
- `machines`: channels as machines;
- `views`: what an attach model sees of the page;
- `problem`: the input of inference;
- `algorithm`, `chart`: Algorithm 1, recorded for given trees and for packed forests;
- `circuit`: the recorded steps, evaluated, reversed and decoded;
- `solvers`: compiled loops or tensor operations;
- `inside`: sums, expectations, best derivations and posterior draws;
- `strings`: underlying strings, and the distribution of what they are rewritten to;
- `story_inputs`: what a story is made of;
- `forward`, `numbering`, `walk`: draws of T' and x, and numbers for their strings;
- `pyro`: all this as distributions, effect handlers, ELBOs and guides of Pyro;
- `conditioning`: weighted draws of x and T given evidence, for any attach model.
"""
