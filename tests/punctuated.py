"""Sentences with made-up punctemes and derivations, to be drawn."""

from pyropunct.figures.drawing import PunctuatedTree
from pyropunct.tasks.explain.derivations import SlotDerivation, SlotEdit, underlying_strings
from pyropunct.treebank.reading import Treebank, read_text

CLARA = """# sent_id = clara <1>
1	Clara	_	PROPN	_	_	3	nsubj	_	_
2	my	_	DET	_	_	1	appos	_	_
3	sings	_	VERB	_	_	0	root	_	_
4	AT&T	_	NOUN	_	_	3	obj	_	_

"""

ARABIC = """# sent_id = ‏عربي
1	قال	_	VERB	_	_	0	root	_	_
2	UD	_	PROPN	_	_	1	nsubj	_	_
3	مرحبا	_	NOUN	_	_	1	obj	_	_

"""

FRENCH = """# sent_id = vote
1	L'	_	DET	_	_	2	det	_	SpaceAfter=No
2	UE	_	PROPN	_	_	6	nsubj	_	_
3-4	du	_	_	_	_	_	_	_	_
3	de	_	ADP	_	_	5	case	_	_
4	le	_	DET	_	_	5	det	_	_
5	Nord	_	PROPN	_	_	2	nmod	_	_
6	vote	_	VERB	_	_	0	root	_	_

"""

HOSTILE = """# sent_id = "><img src=x onerror=alert(1)>
1	<script>alert(2)</script>	_	X	_	_	0	root	_	_
2	<!--<script>	_	X	_	_	1	</script><b>	_	_
3	{{7*7}}$title	_	X	_	_	1	'\\"&amp;	_	_

# sent_id = <img src=x onerror=alert(3)>
1	word	_	X	_	_	2	dep	_	_
2	</script><script>alert(4)</script>	_	PUNCT	_	_	0	root	_	_

"""


def clara() -> PunctuatedTree:
    """Clara, my, sings “AT&T.”"""
    punctemes = [((), ()), ((",",), (",",)), ((), (".",)), (("“",), ("”",))]
    transposition = SlotEdit(("”", "."), "transposition", (".", "”"))
    last = {"surface": (".", "”"), "origins": (1, 0), "edits": (transposition,)}
    return _punctuated(read_text(CLARA), punctemes, **last)


def french(*, parted: bool = False) -> PunctuatedTree:
    """L'UE du Nord vote; ``parted`` by punctemes between words that are written together."""
    none: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    full = {"surface": (".",), "origins": (0,)}
    punctemes = [none, none, none, none, none, ((), (".",))]
    if parted:
        punctemes[0], punctemes[2] = (("(",), (")",)), (("“",), ("”",))
    return _punctuated(read_text(FRENCH), punctemes, **full)


def arabic() -> PunctuatedTree:
    """A sentence that is read from right to left, though one of its words is not; a comma is absorbed."""
    punctemes = [((), (".",)), (("(",), (")",)), (("،",), ("،",))]
    absorption = SlotEdit(("،", "."), "left absorption", (".",))
    return _punctuated(read_text(ARABIC), punctemes, surface=(".",), origins=(1,), edits=(absorption,))


def hostile() -> tuple[Treebank, PunctuatedTree]:
    """HTML and scripts wherever text may stand; the second sentence is omitted, and says why."""
    treebank = read_text(HOSTILE, "<img src=x onerror=alert(5)>")
    mark = "</script><script>alert(6)</script>"
    punctemes = [((mark,), ()), ((), ()), ((), ("<s>", mark))]
    edit = SlotEdit(("<s>", mark), "right absorption", ("<s>",))
    return treebank, _punctuated(treebank, punctemes, surface=("<s>",), origins=(0,), edits=(edit,))


def chain() -> PunctuatedTree:
    """Each of 60 words depends on the one before it, and sprouts a mark on either side."""
    lines = [f"{i}\tw{i}\t_\tX\t_\t_\t{i - 1}\tr{i}\t_\t_" for i in range(1, 61)]
    treebank = read_text("\n".join(["# sent_id = chain", *lines]) + "\n\n")
    return _punctuated(treebank, [(("(",), (")",))] * 60)


def _punctuated(
    treebank: Treebank, punctemes: list[tuple[tuple[str, ...], tuple[str, ...]]], **last: object
) -> PunctuatedTree:
    """The first sentence; all slots are kept as they are, but for the parts of the last that are given."""
    sentence = treebank.sentences[0]
    derivations = [
        SlotDerivation(u, tuple(one.token for one in u), tuple(range(len(u))), (), False)
        for u in underlying_strings(sentence.tree, punctemes)
    ]
    derivations[-1] = derivations[-1]._replace(**last)
    return PunctuatedTree(sentence, punctemes, derivations)
