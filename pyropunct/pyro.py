"""Everything that a Pyro model of latent punctuation needs, in one import: see the page on the Pyro layer."""

from pyropunct.inference.inventory import Inventory
from pyropunct.inference.machines.evidence import (
    Evidence,
    SlotEvidence,
    any_over,
    exactly,
    one_of,
    with_first,
    with_hidden,
)
from pyropunct.inference.machines.moves import END, START, Branch, Move, Pass
from pyropunct.inference.packed import PackedForest, packed_forest
from pyropunct.inference.pyro.collapse import (
    collapse_trees,
    expected_uses,
    tree_expectation,
    tree_problem,
)
from pyropunct.inference.pyro.decode import infer_trees
from pyropunct.inference.pyro.one_by_one import one_by_one
from pyropunct.inference.pyro.posterior import ImpossibleSurfaceError
from pyropunct.inference.pyro.sites import BY_TREES, PunctuatedTrees, Sprouted, rewritten
from pyropunct.inference.pyro.story_state import StoryState, UndecidedError
from pyropunct.inference.pyro.svi import scale_likelihood
from pyropunct.inference.story_inputs import StoryInputs
from pyropunct.models.attach.attach_model import Attach, PairFrequencies
from pyropunct.models.attach.local import LocalAttach
from pyropunct.models.attach.log_linear import LogLinearAttach
from pyropunct.models.channel.noisy_channel import Channel
from pyropunct.models.channel.slip import Slip, TokenBigrams
from pyropunct.models.channel.window import SlidingWindow
from pyropunct.models.extensions import PartMarks
from pyropunct.models.story import Story
from pyropunct.models.trees import LatentTrees, TreeBatch
from pyropunct.vocabulary import Vocabulary, build_vocabulary

__all__ = [
    "BY_TREES",
    "END",
    "START",
    "Attach",
    "Branch",
    "Channel",
    "Evidence",
    "ImpossibleSurfaceError",
    "Inventory",
    "LatentTrees",
    "LocalAttach",
    "LogLinearAttach",
    "Move",
    "PackedForest",
    "PairFrequencies",
    "PartMarks",
    "Pass",
    "PunctuatedTrees",
    "SlidingWindow",
    "Slip",
    "SlotEvidence",
    "Sprouted",
    "Story",
    "StoryInputs",
    "StoryState",
    "TokenBigrams",
    "TreeBatch",
    "UndecidedError",
    "Vocabulary",
    "any_over",
    "build_vocabulary",
    "collapse_trees",
    "exactly",
    "expected_uses",
    "infer_trees",
    "one_by_one",
    "one_of",
    "packed_forest",
    "rewritten",
    "scale_likelihood",
    "tree_expectation",
    "tree_problem",
    "with_first",
    "with_hidden",
]
