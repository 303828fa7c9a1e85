"""A hand-written grammar of English, as projective UD 2 trees without punctuation, built head outwards."""

from collections.abc import Callable, Sequence

from generator import lexicon as lex
from generator.nodes import Node, in_title_case, to_tree
from generator.phrases import Phrases
from pyropunct.treebank.tree import Tree

KINDS_OF_STATEMENT = {"active": 10.0, "copular": 2.0, "passive": 1.3, "institutional": 2.0}
OPENINGS = {
    "active": {"adverb": 5.0, "clause": 4.5, "time": 4.0, "participle": 2.0, "answer": 1.2},
    "copular": {"adverb": 5.0, "reason": 4.0, "answer": 1.5},
    "passive": {"adverb": 5.0, "clause": 4.0, "time": 4.0},
    "institutional": {"adverb": 5.0, "clause": 2.0, "time": 4.0},
}
"""For each kind of statement what may stand before the subject, with weights."""
ENDINGS = {
    "active": {"time": 4.0, "clause": 4.0, "gesture": 3.0, "aside": 1.5},
    "copular": {"reason": 4.0, "aside": 3.0},
    "passive": {"time": 4.0, "clause": 3.0},
    "institutional": {"time": 4.0, "clause": 3.0, "aside": 1.0},
}
"""For each kind of statement what may stand at the end, with weights."""


class Grammar(Phrases):
    """Draws sentences; equal states of ``random`` give equal sentences."""

    def sentence(self) -> Tree:
        """One sentence."""
        kinds: dict[Callable[[], Node], float] = {
            self.declarative: 42,
            self.speech_last: 12,
            self.speech_first: 12,
            self.question: 10,
            self.coordination_of_clauses: 5,
            self.loose_clauses: 9,
            self.request: 4,
            self.exclamation: 3,
            self.heading: 3,
            self.reported_clause: 4,
            self.announced_list: 4,
            self.verdict: 3,
            self.foreign_word: 3,
        }
        return to_tree(self._weighted(kinds)())

    # Subjects

    def _subject(self) -> Node:
        """A subject that may carry an apposition, a relative clause, a nickname or an acronym."""
        kinds: dict[Callable[[], Node], float] = {
            self._plain_subject: 52,
            self._name_with_role: 13,
            self._name_with_relative_clause: 9,
            self._relative_with_relative_clause: 6,
            self._person_with_relative_clause: 8,
            self._relative_with_name: 6,
            self._nicknamed: 7,
            self._pair_of_people: 5,
        }
        return self._weighted(kinds)()

    def _name_with_relative_clause(self) -> Node:
        return self._name().after("acl:relcl", self._subject_relative_clause("who"))

    def _relative_with_relative_clause(self) -> Node:
        return self._relative().after("acl:relcl", self._subject_relative_clause("who"))

    def _person_with_relative_clause(self) -> Node:
        return self._person().after("acl:relcl", self._subject_relative_clause("who"))

    def _pair_of_people(self) -> Node:
        other = self._plain_person().before("cc", Node("and", "CCONJ"))
        return self._weighted({self._name: 1, self._plain_person: 1})().after("conj", other)

    # Verb phrases

    def _verb_phrase(self, form: str, plain: bool) -> Node:
        """A verb in a form of `Verb` with its objects; ``plain`` has no titles and relative clauses."""
        kinds = {"thing": 6.0, "food": 4, "person": 3, "place": 2.5, "goal": 3, "gift": 3, "wish": 2}
        if not plain:
            kinds |= {"work": 5, "described thing": 3}
        kind = self._weighted(kinds)
        if kind == "wish":
            wish = Node(getattr(self._one_of(lex.WANTS), form), "VERB")
            return wish.after("xcomp", self._infinitive(plain))
        return self._simple_verb_phrase(kind, form)

    def _simple_verb_phrase(self, kind: str, form: str) -> Node:
        verbs, objects = {
            "thing": (lex.ACTS_ON_THINGS, self._thing),
            "described thing": (lex.ACTS_ON_THINGS, self._thing_with_relative_clause),
            "food": (lex.ACTS_ON_FOOD, self._foods),
            "person": (lex.ACTS_ON_PEOPLE, self._plain_person),
            "work": (lex.ACTS_ON_WORKS, self._work),
            "place": (lex.STAYS, self._place),
            "goal": (lex.GOES, self._destination),
            "gift": (lex.GIVES, self._thing),
        }[kind]
        verb = Node(getattr(self._one_of(verbs), form), "VERB")
        if kind == "gift":
            verb.after("iobj", Node(self._one_of(lex.OBJECT_PRONOUNS), "PRON"))
        return verb.after("obl" if kind in {"place", "goal"} else "obj", objects())

    def _command(self) -> Node:
        """Clean the window; give her the key."""
        kind = self._weighted({"thing": 4, "food": 2, "person": 2, "goal": 1, "gift": 3})
        return self._simple_verb_phrase(kind, "base")

    def _infinitive(self, plain: bool) -> Node:
        kinds = {"thing": 3.0, "food": 2, "person": 2, "goal": 2} | ({} if plain else {"work": 2})
        return self._simple_verb_phrase(self._weighted(kinds), "base").before("mark", Node("to", "PART"))

    def _staying(self, verb: str) -> Node:
        return Node(verb, "VERB").after("obl", self._place())

    def _subject_relative_clause(self, pronoun: str) -> Node:
        kind = self._weighted({"thing": 3, "person": 2, "place": 2, "goal": 2})
        return self._simple_verb_phrase(kind, "past").before("nsubj", Node(pronoun, "PRON"))

    # Clauses

    def _finite(self, tense: str, subject: Node, plain: bool, middle: Sequence[Node] = ()) -> Node:
        """A statement in a simple, perfect, progressive or modal tense; ``middle`` follows the subject."""
        auxiliary, form = self._auxiliary(tense, subject)
        clause = self._verb_phrase(form, plain)
        if self._chance(0.1):
            clause.before("advmod", Node(self._one_of(lex.FREQUENCIES), "ADV"))
        if auxiliary:
            clause.before("aux", Node(auxiliary, "AUX"))
        for node in middle:
            clause.before(node.relation, node)
        return clause.before("nsubj", subject)

    def _auxiliary(self, tense: str, subject: Node) -> tuple[str, str]:
        """The auxiliary of a tense, if it has one, and the form of the verb after it."""
        if tense == "perfect":
            return "had", "participle"
        if tense == "progressive":
            return ("were" if subject.plural else "was"), "gerund"
        if tense == "modal":
            return self._one_of(("could", "must", "might", "would")), "base"
        return "", "past"

    def _copular(self, subject: Node, middle: Sequence[Node] = ()) -> Node:
        """Anna was tired; Anna was a stubborn lawyer."""
        if subject.plural or subject.form == "I" or self._chance(0.5):
            clause = Node(self._one_of(lex.MOODS), "ADJ")
        else:
            clause = Node(self._one_of(lex.PEOPLE), "NOUN")
            clause.before("amod", Node(self._one_of(lex.QUALITIES_OF_PEOPLE), "ADJ"))
            clause.before("det", Node("a", "DET"))
        clause.before("cop", Node("were" if subject.plural else "was", "AUX"))
        for node in middle:
            clause.before(node.relation, node)
        return clause.before("nsubj", subject)

    def _passive(self) -> Node:
        """The lamp was repaired by Anna."""
        subject = self._thing()
        agent = self._weighted({self._name: 1, self._plain_person: 1, self._name_with_role: 1})()
        clause = Node(self._one_of(lex.ACTS_ON_THINGS).participle, "VERB")
        clause.after("obl", agent.before("case", Node("by", "ADP")))
        return clause.before("aux:pass", Node("was", "AUX")).before("nsubj:pass", subject)

    def _interruption(self) -> list[Node]:
        """What may stand between subject and auxiliary: usually nothing."""
        kind = self._weighted({"nothing": 14, "adverb": 5, "aside": 3, "remark": 17})
        if kind == "adverb":
            return [Node(self._one_of(lex.PARENTHETICAL_ADVERBS), "ADV", "advmod")]
        if kind == "aside":
            aside = self._aside()
            aside.relation = "parataxis"
            return [aside]
        if kind == "remark":
            remark = self._remark()
            remark.relation = "parataxis"
            return [remark]
        return []

    def _remark(self) -> Node:
        """A comment in the middle of a sentence: nobody noticed; fortunately the price was low."""
        if self._chance(0.5):
            subject, verb = self._one_of(lex.EVERYBODY)
            remark = Node(verb, "VERB").before("nsubj", Node(subject, "PRON"))
            return remark.before("advmod", self._sentence_adverb())
        remark = self._state()
        return remark.before("advmod", self._sentence_adverb()) if self._chance(0.3) else remark

    def _statement(self, kind: str) -> Node:
        """An active, copular, passive or institutional statement that nothing opens or ends."""
        if kind == "passive":
            return self._passive()
        if kind == "institutional":
            return self._institutional()
        subject = self._subject()
        middle = [] if subject.right or subject.tag == "PRON" else self._interruption()
        if kind == "copular":
            return self._copular(subject, middle)
        tenses = {"simple": 6.0, "perfect": 1.5, "progressive": 1, "modal": 1.5}
        if middle:
            del tenses["simple"]
        return self._finite(self._weighted(tenses), subject, plain=False, middle=middle)

    def _bare_statement(self) -> Node:
        return self._statement(self._weighted(KINDS_OF_STATEMENT))

    def _institutional(self) -> Node:
        """Holloway Inc. bought the castle."""
        verb = self._one_of(lex.ACTS_OF_INSTITUTIONS)
        estate = self._definite(self._one_of(lex.PLACES)[1])
        clause = Node(verb.past, "VERB").after("obj", estate)
        return clause.before("nsubj", self._weighted({self._organisation: 1, self._company: 1})())

    def _plain_statement(self) -> Node:
        return self._finite(self._one_of(("simple", "perfect", "modal")), self._plain_subject(), plain=True)

    # Adjuncts that are clauses

    def _adverbial_clause(self, subordinators: Sequence[str]) -> Node:
        subordinator = self._one_of(subordinators)
        if self._chance(0.6):
            clause = self._background() if subordinator in lex.REASONS else self._event()
        else:
            kind = self._weighted({"thing": 3, "food": 2, "person": 2, "goal": 2})
            clause = self._simple_verb_phrase(kind, "past").before("nsubj", self._pronoun())
        return clause.before("mark", Node(subordinator, "SCONJ"))

    def _coming_event(self) -> Node:
        """Before the guests arrive."""
        subject, verb = self._one_of(lex.COMING_EVENTS)
        clause = Node(verb, "VERB").before("nsubj", self._definite(subject))
        return clause.before("mark", Node(self._one_of(("before", "when", "until")), "SCONJ"))

    def _add_opening(self, clause: Node, kinds: dict[str, float]) -> None:
        """Put an adjunct before the subject, of a kind drawn by weight."""
        kind = self._weighted(kinds)
        if kind == "adverb":
            clause.before("advmod", self._sentence_adverb())
        elif kind == "clause":
            clause.before("advcl", self._adverbial_clause(lex.INITIAL_SUBORDINATORS))
        elif kind == "reason":
            clause.before("advcl", self._adverbial_clause(lex.REASONS))
        elif kind == "time":
            clause.before("obl", self._time())
        elif kind == "participle":
            clause.before("advcl", self._staying(self._one_of(lex.STAYS).gerund))
        else:
            clause.before("discourse", Node(self._one_of(lex.ANSWERS), "INTJ"))

    def _add_ending(self, clause: Node, kinds: dict[str, float]) -> None:
        """Put an adjunct at the end of a clause, of a kind drawn by weight."""
        kind = self._weighted(kinds)
        if kind == "time":
            clause.after("obl", self._time())
        elif kind == "clause":
            clause.after("advcl", self._adverbial_clause(lex.SUBORDINATORS))
        elif kind == "reason":
            clause.after("advcl", self._adverbial_clause(lex.REASONS))
        elif kind == "gesture":
            clause.after("advcl", self._gesture())
        else:
            clause.after("parataxis", self._aside())

    # Sentences

    def declarative(self) -> Node:
        """A statement, perhaps with an opening and an ending."""
        kind = self._weighted(KINDS_OF_STATEMENT)
        clause = self._statement(kind)
        if self._chance(0.45):
            self._add_opening(clause, OPENINGS[kind])
        if self._chance(0.4):
            self._add_ending(clause, ENDINGS[kind])
        return clause

    def reported_clause(self) -> Node:
        """Anna said that the shop was closed."""
        verb = Node(self._one_of(lex.THINKS), "VERB").before("nsubj", self._subject())
        clause = self._one_of((self._background, self._plain_statement, self._bare_statement))()
        return verb.after("ccomp", clause.before("mark", Node("that", "SCONJ")))

    def coordination_of_clauses(self) -> Node:
        """The rain stopped, and we walked to the park."""
        second = self._weighted({self._plain_statement: 2, self._background: 1})()
        conjunction = Node(self._one_of(("and", "but")), "CCONJ")
        first = self._weighted({self._background: 1, self._bare_statement: 2})()
        if self._chance(0.3):
            second = self._verb_phrase("past", plain=True)
            conjunction = Node("and", "CCONJ")
            first = self._finite("simple", self._subject(), plain=True)
        return first.after("conj", second.before("cc", conjunction))

    def loose_clauses(self) -> Node:
        """The shop was closed; however, nobody complained."""
        second = self._weighted({self._plain_statement: 2, self._background: 2, self._remark: 1})()
        if second.left[0].relation == "nsubj" and self._chance(0.35):
            second.before("advmod", self._sentence_adverb())
        return self._weighted({self._background: 1, self._bare_statement: 2})().after("parataxis", second)

    def announced_list(self) -> Node:
        """She bought three things: bread, milk and honey."""
        count = self._one_of((3, 4))
        things = Node("things", "NOUN").before("nummod", Node({3: "three", 4: "four"}[count], "NUM"))
        things.after("appos", self._list_of(lex.FOODS + lex.PLURAL_FOODS, count))
        verb = Node(self._one_of(lex.ACTS_ON_FOOD).past, "VERB").after("obj", things)
        clause = verb.before("nsubj", self._subject())
        if self._chance(0.25):
            self._add_opening(clause, OPENINGS["active"])
        return clause

    def verdict(self) -> Node:
        """The mayor called the plan a complete disaster, which American editors put in quotes."""
        opinion = Node(self._one_of(lex.VERDICTS), "NOUN")
        opinion.before("amod", Node(self._one_of(lex.VERDICT_QUALITIES), "ADJ"))
        opinion.before("det", Node("a", "DET"))
        verb = Node(self._one_of(lex.CALLS), "VERB").after("obj", self._definite(self._one_of(lex.JUDGED)))
        clause = verb.after("xcomp", opinion).before("nsubj", self._subject())
        if self._chance(0.4):
            self._add_ending(clause, ENDINGS["institutional"])
        return clause

    def foreign_word(self) -> Node:
        """The Dutch word gezellig puzzled the students."""
        word, language = self._one_of(lex.FOREIGN_WORDS)
        term = Node("word", "NOUN").after("appos", Node(word, "X"))
        term.before("amod", Node(language, "ADJ")).before("det", Node("the", "DET"))
        if self._chance(0.5):
            verb = Node(self._one_of(("puzzled", "pleased", "surprised")), "VERB")
            return verb.before("nsubj", term).after("obj", self._plain_person())
        verb = Node(self._one_of(("explained", "used", "taught", "translated")), "VERB")
        return verb.before("nsubj", self._subject()).after("obj", term)

    def heading(self) -> Node:
        """New Plans for the Old Harbor."""
        head = Node(self._one_of(("plans", "prices", "questions", "letters", "rules", "lessons")), "NOUN")
        head.before(
            "amod", Node(self._one_of(("new", "strange", "simple", "old", "secret", "difficult")), "ADJ")
        )
        place = Node(self._one_of(lex.PLACES)[1], "NOUN")
        if self._chance(0.5):
            place.before("amod", Node(self._one_of(("old", "small", "empty", "new", "famous")), "ADJ"))
        place.before("det", Node("the", "DET"))
        return in_title_case(
            head.after("nmod", place.before("case", Node(self._one_of(("for", "from")), "ADP")))
        )

    def exclamation(self) -> Node:
        """What a beautiful clock; wow, the lights were bright."""
        if self._chance(0.5):
            noun = Node(self._one_of(lex.THINGS), "NOUN")
            noun.before("amod", Node(self._one_of(lex.QUALITIES_OF_THINGS), "ADJ"))
            return noun.before("det", Node("a", "DET")).before("det:predet", Node("what", "DET"))
        clause = self._one_of((self._state, self._plain_statement))()
        return clause.before("discourse", Node(self._one_of(lex.INTERJECTIONS), "INTJ"))

    def request(self) -> Node:
        """Clean the window before the guests arrive."""
        clause = self._command()
        if self._chance(0.25):
            clause.after("advcl", self._coming_event())
        return self._with_vocative(clause, 0.35)

    def _with_vocative(self, clause: Node, probability: float) -> Node:
        if self._chance(probability):
            name = Node(self._one_of(lex.FIRST_NAMES), "PROPN")
            (clause.before if self._chance(0.5) else clause.after)("vocative", name)
        return clause

    # Questions

    def question(self) -> Node:
        """A question, perhaps about a book, perhaps to somebody."""
        return self._with_vocative(self._question(plain=False), 0.2)

    def _question(self, plain: bool) -> Node:
        kinds: dict[Callable[[bool], Node], float] = {
            self._polar_question: 6,
            self._object_question: 2,
            self._subject_question: 1.5,
            self._adverb_question: 1.5,
        }
        return self._weighted(kinds)(plain)

    def _polar_question(self, plain: bool) -> Node:
        """Did you sell the lamp? Were the streets empty?"""
        if self._chance(0.25):
            clause = self._state()
            clause.left.reverse()
            return clause
        subject = self._asked_about()
        auxiliary, form = self._asking_auxiliary(subject)
        clause = self._verb_phrase(form, plain)
        return clause.before("nsubj", subject).before("aux", Node(auxiliary, "AUX"))

    def _asked_about(self) -> Node:
        addressee = Node("you", "PRON")
        return addressee if self._chance(0.4) else self._weighted({self._name: 1, self._plain_person: 1})()

    def _asking_auxiliary(self, subject: Node) -> tuple[str, str]:
        if self._chance(0.25):
            return ("have" if subject.plural else "has"), "participle"
        return self._one_of(("did", "did", "will", "could")), "base"

    def _object_question(self, plain: bool) -> Node:
        """What did Anna buy? Which lamp did you sell?"""
        if self._chance(0.5):
            asked = Node("what", "PRON")
        else:
            asked = Node(self._one_of(lex.THINGS), "NOUN").before("det", Node("which", "DET"))
        clause = Node(self._one_of(lex.ACTS_ON_THINGS).base, "VERB").before("nsubj", self._asked_about())
        if not plain and self._chance(0.3):
            clause.after("obl", self._time())
        return clause.before("aux", Node("did", "AUX")).before("obj", asked)

    def _subject_question(self, plain: bool) -> Node:
        """Who repaired the clock?"""
        return self._verb_phrase("past", plain).before("nsubj", Node("who", "PRON"))

    def _adverb_question(self, plain: bool) -> Node:
        """Why did the teacher sell the lamp?"""
        clause = self._verb_phrase("base", plain).before("nsubj", self._asked_about())
        adverb = Node(self._one_of(("why", "when", "where")), "ADV")
        return clause.before("aux", Node("did", "AUX")).before("advmod", adverb)

    # Direct speech

    def speech_last(self) -> Node:
        """Anna said quietly, We have lost the key."""
        speech, verbs = self._speech()
        verb = Node(self._one_of(verbs), "VERB").before("nsubj", self._subject())
        if self._chance(0.3):
            verb.after("advmod", self._way_of_speaking())
        if self._chance(0.2):
            self._add_opening(verb, OPENINGS["institutional"])
        return verb.after("ccomp", speech)

    def speech_first(self) -> Node:
        """We have lost the key, said Anna."""
        speech, verbs = self._speech()
        verb = Node(self._one_of(verbs), "VERB")
        speaker = self._weighted({self._name: 3, self._plain_person: 2, self._name_with_role: 1})()
        if self._chance(0.35):
            verb.after("nsubj", speaker)
        else:
            verb.before("nsubj", self._pronoun() if self._chance(0.3) else speaker)
        if self._chance(0.3):
            verb.after(*self._one_of((("advmod", self._way_of_speaking()), ("obl", self._place()))))
        return verb.before("ccomp", speech)

    def _speech(self) -> tuple[Node, Sequence[str]]:
        """Something that somebody says, and the verbs that can introduce it."""
        kind = self._weighted({"statement": 5, "question": 3, "request": 2})
        if kind == "question":
            speech, verbs = self._question(plain=True), lex.ASKS
        elif kind == "request":
            speech, verbs = self._command(), lex.COMMANDS + lex.SHOUTS
        else:
            speech, verbs = self._said_statement(), lex.SAYS
        speech.opens = True
        return self._with_vocative(speech, 0.25), verbs

    def _said_statement(self) -> Node:
        clause = self._background() if self._chance(0.25) else self._plain_statement()
        if self._chance(0.3):
            opening = self._weighted({"answer": 2, "adverb": 2, "clause": 1})
            if opening == "answer":
                clause.before("discourse", Node(self._one_of(lex.ANSWERS), "INTJ"))
            elif opening == "adverb":
                clause.before("advmod", self._sentence_adverb())
            else:
                clause.before("advcl", self._adverbial_clause(lex.INITIAL_SUBORDINATORS))
        return clause
