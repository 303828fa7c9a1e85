"""The noun phrases and adjuncts of the embedded treebank's grammar."""

from collections.abc import Sequence
from random import Random
from typing import TypeVar

from generator import lexicon as lex
from generator.nodes import Node

T = TypeVar("T")


class Phrases:
    """Draws noun phrases and adjuncts; equal states of ``random`` give equal ones."""

    def __init__(self, random: Random) -> None:
        self.random = random

    # Chance

    def _one_of(self, options: Sequence[T]) -> T:
        return self.random.choice(options)

    def _chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def _weighted(self, options: dict[T, float]) -> T:
        return self.random.choices(list(options), weights=list(options.values()))[0]

    def _several(self, options: Sequence[T], count: int) -> list[T]:
        return self.random.sample(options, count)

    # Noun phrases

    def _pronoun(self) -> Node:
        return Node(self._one_of(lex.SUBJECT_PRONOUNS), "PRON")

    def _plain_person(self) -> Node:
        """The teacher, my brother, the children: no modifier that punctuation could set off."""
        kind = self._weighted({"person": 5, "relative": 3, "plural": 2})
        if kind == "relative":
            return self._relative()
        if kind == "plural":
            return self._definite(self._one_of(lex.PLURAL_PEOPLE))
        return self._person()

    def _definite(self, noun: str) -> Node:
        return Node(noun, "NOUN").before("det", Node("the", "DET"))

    def _person(self) -> Node:
        noun = Node(self._one_of(lex.PEOPLE), "NOUN")
        if self._chance(0.4):
            noun.before("amod", Node(self._one_of(lex.QUALITIES_OF_PEOPLE), "ADJ"))
        return noun.before("det", Node(self._one_of(("the", "the", "a")), "DET"))

    def _relative(self) -> Node:
        """My brother, Anna's brother."""
        noun = Node(self._one_of(lex.RELATIVES), "NOUN")
        if self._chance(0.75):
            return noun.before("nmod:poss", Node(self._one_of(lex.POSSESSIVES), "PRON"))
        owner = Node(self._one_of(lex.FIRST_NAMES), "PROPN").after("case", Node("’s", "PART"))
        return noun.before("nmod:poss", owner)

    def _name(self) -> Node:
        """Anna, Anna Miller, Dr. Miller."""
        kind = self._weighted({"first": 3, "full": 5, "titled": 2})
        if kind == "titled":
            title = Node(self._one_of(lex.PERSONAL_TITLES), "PROPN")
            return Node(self._one_of(lex.LAST_NAMES), "PROPN").before("compound", title)
        name = Node(self._one_of(lex.FIRST_NAMES), "PROPN")
        return name.after("flat", self._last_name()) if kind == "full" else name

    def _last_name(self) -> Node:
        return Node(self._one_of(lex.LAST_NAMES), "PROPN")

    def _nicknamed(self) -> Node:
        name = Node(self._one_of(lex.FIRST_NAMES), "PROPN")
        return name.after("flat", Node(self._one_of(lex.NICKNAMES), "NOUN"), self._last_name())

    def _plain_subject(self) -> Node:
        return self._weighted({self._pronoun: 4, self._name: 3, self._plain_person: 3})()

    def _name_with_role(self) -> Node:
        """Anna Miller, the mayor of Salzburg."""
        return self._name().after("appos", self._role())

    def _role(self) -> Node:
        if self._chance(0.4):
            return self._person()
        if self._chance(0.5):
            role, place = self._one_of(lex.ROLES_IN_A_CITY), self._city()
        else:
            role, place = self._one_of(lex.ROLES_IN_A_HOUSE), self._definite(self._one_of(lex.HOUSES))
        return self._definite(role).after("nmod", place.before("case", Node("of", "ADP")))

    def _city(self) -> Node:
        """Salzburg; Salzburg, Austria."""
        city, country = self._one_of(lex.CITIES)
        node = Node(city, "PROPN")
        return node.after("nmod", Node(country, "PROPN")) if self._chance(0.35) else node

    def _relative_with_name(self) -> Node:
        """My brother Robert."""
        relatives, names = self._one_of(
            (
                (lex.FEMALE_RELATIVES, lex.NAMES_OF_WOMEN),
                (lex.MALE_RELATIVES, lex.NAMES_OF_MEN),
                (lex.OTHER_RELATIONS, lex.FIRST_NAMES),
            )
        )
        relative = Node(self._one_of(relatives), "NOUN").after("appos", Node(self._one_of(names), "PROPN"))
        return relative.before("nmod:poss", Node(self._one_of(lex.POSSESSIVES), "PRON"))

    def _organisation(self) -> Node:
        """The River Transport Authority (RTA)."""
        words = self._one_of(lex.ORGANISATIONS)
        acronym = Node("".join(word[0] for word in words), "PROPN")
        head = Node(words[-1], "PROPN").before("compound", *(Node(word, "PROPN") for word in words[:-1]))
        return head.before("det", Node("the", "DET")).after("appos", acronym)

    def _company(self) -> Node:
        """Holloway Inc."""
        name = Node(self._one_of(lex.COMPANIES), "PROPN")
        return name.after("flat", Node(self._one_of(lex.COMPANY_ENDINGS), "PROPN"))

    def _thing(self) -> Node:
        noun = Node(self._one_of(lex.THINGS), "NOUN")
        kind = self._weighted({"bare": 5, "one": 4, "two": 1.5})
        if kind == "one":
            noun.before("amod", Node(self._one_of(lex.QUALITIES_OF_THINGS), "ADJ"))
        if kind == "two":
            noun.before("amod", *self._two_qualities())
        return noun.before("det", Node(self._one_of(("the", "the", "a", "this")), "DET"))

    def _two_qualities(self) -> list[Node]:
        words = self._one_of(lex.FIRST_OF_TWO_QUALITIES), self._one_of(lex.SECOND_OF_TWO_QUALITIES)
        return [Node(word, "ADJ") for word in words]

    def _thing_with_relative_clause(self) -> Node:
        """The lamp that she had bought."""
        verb = self._one_of(lex.ACTS_ON_THINGS)
        clause = Node(verb.participle, "VERB").before("aux", Node("had", "AUX"))
        clause.before("nsubj", self._weighted({self._pronoun: 2, self._plain_person: 1})())
        return self._thing().after("acl:relcl", clause.before("obj", Node("that", "PRON")))

    def _list_of(self, words: Sequence[str], count: int) -> Node:
        """Bread, cheese and honey."""
        first, *others = (Node(word, "NOUN") for word in self._several(words, count))
        others[-1].before("cc", Node("and", "CCONJ"))
        return first.after("conj", *others)

    def _open_list_of(self, words: Sequence[str], count: int) -> Node:
        """Bread, cheese, etc."""
        first, *others = (Node(word, "NOUN") for word in self._several(words, count - 1))
        return first.after("conj", *others, Node("etc", "NOUN"))

    def _foods(self) -> Node:
        words = self._one_of((lex.FOODS, lex.PLURAL_FOODS))
        count = self._weighted({1: 2, 2: 2, 3: 4, 4: 3.5})
        if count == 1:
            return Node(self._one_of(words), "NOUN")
        return (self._open_list_of if count > 2 and self._chance(0.3) else self._list_of)(words, count)

    def _work(self) -> Node:
        """The title of a book: The Silent River, A Garden of Glass."""
        title = Node(self._one_of(lex.TITLE_NOUNS), "PROPN")
        if self._chance(0.3):
            complement = Node(self._one_of(lex.TITLE_COMPLEMENTS), "PROPN")
            title.after("nmod", complement.before("case", Node("of", "ADP")))
        else:
            title.before("amod", Node(self._one_of(lex.TITLE_QUALITIES), "ADJ"))
        return title.before("det", Node(self._one_of(("The", "The", "A")), "DET"))

    # Adjuncts

    def _place(self, preposition: str | None = None) -> Node:
        usual, noun = self._one_of(lex.PLACES)
        return self._definite(noun).before("case", Node(preposition or usual, "ADP"))

    def _destination(self) -> Node:
        if self._chance(0.5):
            return self._place("to")
        return self._city().before("case", Node("to", "ADP"))

    def _time(self) -> Node:
        kinds = {
            self._day: 3.0,
            self._part_of_day: 2,
            self._year: 2,
            self._date: 2.5,
            self._hour: 3,
        }
        return self._weighted(kinds)()

    def _day(self) -> Node:
        return Node(self._one_of(lex.DAYS), "PROPN").before("case", Node("on", "ADP"))

    def _part_of_day(self) -> Node:
        return self._definite(self._one_of(lex.PARTS_OF_DAY)).before("case", Node("in", "ADP"))

    def _year(self) -> Node:
        year = Node(self._some_year(), "NUM")
        if self._chance(0.5):
            return year.before("case", Node("in", "ADP"))
        month = Node(self._one_of(lex.MONTHS), "PROPN").after("nummod", year)
        return month.before("case", Node("in", "ADP"))

    def _some_year(self) -> str:
        return str(self.random.randint(1897, 2019))

    def _date(self) -> Node:
        """On June 4, 1998."""
        day = Node(str(self.random.randint(1, 28)), "NUM")
        month = Node(self._one_of(lex.MONTHS), "PROPN").after("nummod", day, Node(self._some_year(), "NUM"))
        return month.before("case", Node("on", "ADP"))

    def _hour(self) -> Node:
        """At 5 p.m."""
        half = Node(self._one_of(lex.HALVES_OF_DAY), "NOUN")
        half.before("nummod", Node(str(self.random.randint(1, 12)), "NUM"))
        return half.before("case", Node("at", "ADP"))

    def _background(self) -> Node:
        """A short clause that anything can follow: the rain stopped, the streets were empty."""
        return self._event() if self._chance(0.6) else self._state()

    def _event(self) -> Node:
        subject, verb = self._one_of(lex.EVENTS)
        return Node(verb, "VERB").before("nsubj", self._definite(subject))

    def _state(self) -> Node:
        subject, quality = self._one_of(lex.STATES)
        subject_node = self._definite(subject)
        copula = Node("were" if subject_node.plural else "was", "AUX")
        return Node(quality, "ADJ").before("cop", copula).before("nsubj", subject_node)

    def _gesture(self) -> Node:
        """Smiling quietly; laughing."""
        gesture = Node(self._one_of(lex.GESTURES), "VERB")
        return gesture.after("advmod", self._manner()) if self._chance(0.6) else gesture

    def _manner(self) -> Node:
        return Node(self._one_of(lex.MANNERS), "ADV")

    def _way_of_speaking(self) -> Node:
        return Node(self._one_of(lex.WAYS_OF_SPEAKING), "ADV")

    def _sentence_adverb(self) -> Node:
        return Node(self._one_of(lex.SENTENCE_ADVERBS), "ADV")

    def _aside(self) -> Node:
        """I think."""
        subject, verb = self._one_of(lex.ASIDES)
        return Node(verb, "VERB").before("nsubj", Node(subject, "PRON"))
