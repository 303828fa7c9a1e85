"""An averaged perceptron with sparse features and integer weights, compiled.

The score of an action a with features F is the sum of the weights w(f, a), f in F (Collins 2002).  A feature
is a template and the values of its atoms; its *key* is a hash of both in 64 bits.  Features with weights are
in a hash table; each has a block of entries (action, weight), which moves to twice the size when it is full.
A change by d at example t of T, counted from 0, counts in T - t terms of the average, so::

    T avg(w) = T w - sum of t d        the sum is the moment of w
"""

from functools import lru_cache
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np

from pyropunct.inference.compiling import compiled, inner
from pyropunct.inference.ragged import Array

_BITS = 12
MOST_ACTIONS = 1 << _BITS
"""The number of actions is less than this number."""

_LOW = MOST_ACTIONS - 1
_LEAST = 1 << 10
_FACTOR = -7046029254386353131  # odd, and its bits look random: 2^64 divided by the golden ratio
_SPREAD = 29

KEY, BLOCK = range(2)
"""The columns of slots."""

ENTRIES, FEATURES = range(2)
"""The places of `PerceptronWeights.used`."""


class PerceptronWeights(NamedTuple):
    """The weights of a perceptron.

    :ivar slots: (a power of two, 2) for each feature its key, 0 if the slot is free; and a number with the
        place of its first entry, and in the last bits the number of its entries.
    :ivar entries: (E,) a weight, and in the last bits its action.
    :ivar moments: (E,) the moment of each weight, or (0,) if nothing is to be learned.
    :ivar used: (2,) the numbers of entries, including those of moved blocks, and of features.
    """

    slots: Array
    entries: Array
    moments: Array
    used: Array


class Rows(NamedTuple):
    """Weights as they are saved: the keys of their features, ascending; their actions; and their values.

    Each is (E,), and no value is zero.
    """

    keys: Array
    actions: Array
    values: Array


def no_weights() -> PerceptronWeights:
    """Weights of zero, to be learned."""
    entries, moments = np.zeros((2, _LEAST), np.int64)
    return PerceptronWeights(np.zeros((_LEAST, 2), np.int64), entries, moments, np.zeros(2, np.int64))


def averaged(weights: PerceptronWeights, examples: int) -> Rows:
    """The averages of all weights, times the number of examples; averages of zero are left out."""
    firsts, counts = weights.slots[:, BLOCK] >> _BITS, weights.slots[:, BLOCK] & _LOW
    places = np.arange(counts.sum()) + np.repeat(firsts - counts.cumsum() + counts, counts)
    keys, entries = np.repeat(weights.slots[:, KEY], counts), weights.entries[places]
    actions, values = entries & _LOW, examples * (entries >> _BITS) - weights.moments[places]
    order = np.lexsort((actions, keys))
    order = order[values[order] != 0]
    return Rows(keys[order], actions[order], values[order])


def weights_of(rows: Rows, most: int) -> PerceptronWeights:
    """Weights to use, not learn, for ``most`` actions. Raises ValueError for rows of other actions."""
    keys, actions, values = np.stack(rows)
    if keys.dtype != np.int64 or ((actions < 0) | (actions >= most)).any():
        raise ValueError("there are weights of unknown actions")
    features, counts = np.unique(keys, return_counts=True)
    blocks = (counts.cumsum() - counts) << _BITS | counts
    size = max(_LEAST, 1 << (2 * len(features) - 1).bit_length())  # at most half of the slots are full
    slots, used = _table(size, np.stack([features, blocks], 1)), np.array([len(keys), len(features)])
    return PerceptronWeights(slots, values << _BITS | actions, np.zeros(0, np.int64), used)


@inner
def _slot_of(slots, key):
    """The slot of a feature, or the free slot for it."""
    last = len(slots) - 1
    slot = (key ^ (key >> _SPREAD)) & last
    while slots[slot, KEY] != key and slots[slot, KEY] != 0:
        slot = (slot + 1) & last
    return slot


@compiled
def _table(size: int, features: Array) -> Array:
    """(size, 2) slots with features."""
    slots = np.zeros((size, 2), np.int64)
    for row in features:
        if row[KEY] != 0:
            slot = _slot_of(slots, row[KEY])
            slots[slot, KEY], slots[slot, BLOCK] = row[KEY], row[BLOCK]
    return slots


def mixed(key: Any, atom: Any) -> Any:
    """The hash of a key and one atom more: numbers in compiled code, and else arrays of numbers."""
    key = (key ^ atom) * _FACTOR
    return key ^ (key >> _SPREAD)


_mixed = inner(mixed)


@inner
def features_of(atoms, templates, keys):
    """Write the keys of the features of atoms, and return their number; none for an absent first atom, 0.

    :param templates: (templates, 2 + atoms) the number of each, the number of its atoms, and the atoms.
    """
    number = 0
    for template in range(len(templates)):
        if atoms[templates[template, 2]] == 0:
            continue
        key = templates[template, 0]
        for place in range(2, 2 + templates[template, 1]):
            key = _mixed(key, atoms[templates[template, place]])
        keys[number] = key if key != 0 else 1
        number += 1
    return number


@inner
def add_scores(weights, keys, number, scores):
    """Add the weights of features to the scores of actions; overwrites the keys of the features."""
    slots, entries = weights.slots, weights.entries
    for feature in range(number):  # apart from the next loop, so that many reads of memory overlap
        keys[feature] = slots[_slot_of(slots, keys[feature]), BLOCK]
    for feature in range(number):
        first = keys[feature] >> _BITS
        for place in range(first, first + (keys[feature] & _LOW)):
            scores[entries[place] & _LOW] += entries[place] >> _BITS


@inner
def with_room(weights, features, actions):
    """The same weights, with more room if it may not suffice for those of features and actions."""
    slots, entries, moments, used = weights
    if used[ENTRIES] + 2 * features * actions > len(entries):  # all blocks may move
        more = np.zeros(len(entries) + 2 * features * actions, np.int64)
        entries, moments = np.concatenate((entries, more)), np.concatenate((moments, more))
    while 2 * (used[FEATURES] + features) > len(slots):
        slots = _table(2 * len(slots), slots)
    return PerceptronWeights(slots, entries, moments, used)


@inner
def change(weights, keys, number, action, by, example):
    """Change the weights of an action for features; call `with_room` first."""
    slots, entries, moments, used = weights
    for feature in range(number):
        slot = _slot_of(slots, keys[feature])
        if slots[slot, KEY] == 0:
            slots[slot, KEY] = keys[feature]
            used[FEATURES] += 1
        place, end = slots[slot, BLOCK] >> _BITS, (slots[slot, BLOCK] >> _BITS) + (slots[slot, BLOCK] & _LOW)
        while place < end and entries[place] & _LOW != action:
            place += 1
        if place == end:
            place = _new_entry(slots, entries, moments, used, slot)
            entries[place] = action
        entries[place] += by << _BITS
        moments[place] += example * by


@inner
def _new_entry(slots, entries, moments, used, slot):
    """The place of a new entry of a feature, whose block moves if it is full."""
    first, count = slots[slot, BLOCK] >> _BITS, slots[slot, BLOCK] & _LOW
    if count & (count - 1) == 0:  # blocks of 0, 1, 2, 4, ... entries are full
        new = used[ENTRIES]
        for place in range(count):
            entries[new + place], moments[new + place] = entries[first + place], moments[first + place]
        used[ENTRIES] += max(2 * count, 1)
        first = new
    slots[slot, BLOCK] = first << _BITS | (count + 1)
    return first + count


@lru_cache(1 << 20)
def number_of(text: str) -> int:
    """A number above 0 that stands for a text: 62 bits of its hash, always the same."""
    return 1 + (int.from_bytes(blake2b(text.encode(), digest_size=8).digest()) >> 2)
