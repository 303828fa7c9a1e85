"""A check of the sites of weights that are made inside of plates."""

from typing import Any

from pyro.poutine.messenger import Messenger


class FullShapeMessenger(Messenger):
    """Refuses values of weights whose dimensions of plates are incomplete.

    A plate with ``dim=-2`` around a story has the trees on its right: its weights are (plate, 1, ...).
    Values (plate, ...) would be taken for those of trees.  `pyro.infer.Predictive` with ``parallel=True``
    makes such values of samples whose shape is that of one value.
    """

    def _pyro_post_sample(self, msg: Any) -> None:
        fn, value = msg["fn"], msg["value"]
        batch = tuple(value.shape[: value.dim() - fn.event_dim])
        if batch and len(batch) < len(fn.batch_shape):
            full = (*batch, *[1] * (len(fn.batch_shape) - len(batch)), *fn.event_shape)
            raise ValueError(
                f"site '{msg['name']}' has a value of shape {tuple(value.shape)} in plates of shape "
                f"{tuple(fn.batch_shape)}, the last of which is that of the trees: give it the shape {full}, "
                "for example by unsqueeze(1)"
            )
