"""The words of the embedded treebank; those of one list can stand for each other everywhere."""

from typing import NamedTuple


class Verb(NamedTuple):
    """The four forms of a verb that the grammar uses."""

    base: str
    past: str
    participle: str
    gerund: str


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _phrases(text: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(phrase.split()) for phrase in text.split(","))


def _verbs(text: str) -> tuple[Verb, ...]:
    return tuple(Verb(*forms) for forms in _phrases(text))


def _pairs(text: str) -> tuple[tuple[str, str], ...]:
    return tuple((first, second) for first, second in _phrases(text))


NAMES_OF_WOMEN = _words(
    "Anna Clara Helen Laura Maria Julia Emma Sofia Nora Alice Ruth Irene Grace Hannah Eva"
)
NAMES_OF_MEN = _words("""
    Robert Thomas Arthur Daniel Samuel Victor Henry Oscar Felix Martin Peter Simon Leo Walter George
""")
FIRST_NAMES = NAMES_OF_WOMEN + NAMES_OF_MEN
LAST_NAMES = _words("""
    Miller Carter Novak Hughes Bennett Lindgren Foster Moreau Hayes Keller Barnes Rossi Porter Quinn
    Sullivan Weber Harper Coleman Dawson Ortega Fischer Palmer Whitaker Jensen Doyle Marsh
""")
NICKNAMES = _words("Duke Tiger Doc Ace Bear Rocket Captain Sparrow Hammer Fox")
PERSONAL_TITLES = _words("Dr Mr Mrs Prof")
SUBJECT_PRONOUNS = _words("he she they we I")
OBJECT_PRONOUNS = _words("him her them us")

PEOPLE = _words("""
    teacher doctor farmer nurse painter pilot lawyer baker captain student singer engineer gardener
    librarian journalist carpenter detective waiter poet sailor clerk guide coach tailor photographer
    plumber historian violinist fisherman
""")
FEMALE_RELATIVES = _words("sister mother aunt daughter grandmother niece")
MALE_RELATIVES = _words("brother father uncle son grandfather nephew")
OTHER_RELATIONS = _words("cousin neighbor friend colleague landlord boss")
RELATIVES = FEMALE_RELATIVES + MALE_RELATIVES + OTHER_RELATIONS
MOODS = _words("tired cheerful quiet nervous patient polite lonely generous happy angry proud hungry")
POSSESSIVES = _words("my her his our their")
PLURAL_PEOPLE = _words("children twins visitors students workers tourists neighbors sailors")
QUALITIES_OF_PEOPLE = _words("""
    young tired clever cheerful famous retired quiet stubborn kind nervous patient elderly polite lonely
    generous brave
""")
ROLES_IN_A_CITY = _words("mayor bishop governor")
ROLES_IN_A_HOUSE = _words("director owner manager architect caretaker cook")
HOUSES = _words("museum hotel library theater school hospital castle")

THINGS = _words("""
    letter lamp bicycle window clock map piano camera ladder basket boat umbrella radio mirror suitcase
    painting notebook key blanket chair guitar ring lantern kettle carpet statue compass wallet parcel
    telescope
""")
QUALITIES_OF_THINGS = _words("""
    old heavy broken wooden expensive small beautiful rusty strange new cheap dusty enormous fragile
    famous simple ugly elegant
""")
FIRST_OF_TWO_QUALITIES = _words("strange heavy plain curious battered clumsy cheap shabby")
SECOND_OF_TWO_QUALITIES = _words("ugly dusty rusty faded fragile dirty useless shapeless")

FOODS = _words("""
    bread cheese butter honey rice soup fish salad fruit chocolate tea coffee milk sugar pepper ham
    mustard jam
""")
PLURAL_FOODS = _words("apples pears onions carrots tomatoes potatoes eggs mushrooms olives beans cherries")

PLACES = _pairs("""
    in garden, at station, in library, near harbor, in kitchen, at museum, near church, on bridge,
    in square, at hotel, at school, in park, in village, at market, behind barn, in theater, at office,
    near river, on beach, in cellar, at hospital, in castle
""")
CITIES = _pairs("""
    Salzburg Austria, Lyon France, Boston Massachusetts, Porto Portugal, Krakow Poland, Bergen Norway,
    Austin Texas, Leeds England, Verona Italy, Seville Spain, Portland Oregon, Ghent Belgium,
    Memphis Tennessee, Cork Ireland, Basel Switzerland, Denver Colorado
""")
COMPANIES = _words("Holloway Brightwater Stanfield Northgate Ashford Merriweather Oakley Redfern")
COMPANY_ENDINGS = _words("Inc Corp Ltd Co")
ORGANISATIONS = _phrases("""
    River Transport Authority, Harbor Safety Council, Mountain Rescue Service, City Garden Society,
    World Music Foundation, Railway Workers Union, Island Water Board, National Library Trust
""")

MONTHS = _words("January March April June July September October November December")
DAYS = _words("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")
PARTS_OF_DAY = _words("morning afternoon evening")
HALVES_OF_DAY = _words("a.m p.m")

TITLE_QUALITIES = _words("Silent Broken Golden Last Secret Crimson Lonely Northern Forgotten Hidden Burning")
TITLE_NOUNS = _words("""
    River Winter Garden Mirror Kingdom Harbor Journey Island Orchard Letter Lighthouse Mountain Forest
""")
TITLE_COMPLEMENTS = _words("Glass Snow Silver Dust Roses Stone Shadows Salt")

FOREIGN_WORDS = _pairs("""
    Fernweh German, saudade Portuguese, dolce Italian, bonjour French, fika Swedish, siesta Spanish,
    hygge Danish, Heimat German, flâneur French, gezellig Dutch
""")

VERDICTS = _words("disaster triumph miracle mistake joke masterpiece scandal waste dream failure")
VERDICT_QUALITIES = _words("complete total small great terrible perfect real expensive")
JUDGED = _words("plan concert project bridge contract proposal design decision building report")

ACTS_ON_THINGS = _verbs("""
    repair repaired repaired repairing, clean cleaned cleaned cleaning, sell sold sold selling,
    buy bought bought buying, find found found finding, lose lost lost losing,
    borrow borrowed borrowed borrowing, hide hid hidden hiding, carry carried carried carrying,
    paint painted painted painting, steal stole stolen stealing, admire admired admired admiring,
    inspect inspected inspected inspecting, deliver delivered delivered delivering,
    wrap wrapped wrapped wrapping, examine examined examined examining, forget forgot forgotten forgetting,
    keep kept kept keeping, move moved moved moving, return returned returned returning
""")
ACTS_ON_FOOD = _verbs("""
    taste tasted tasted tasting, serve served served serving, order ordered ordered ordering,
    share shared shared sharing, prepare prepared prepared preparing, buy bought bought buying,
    bring brought brought bringing
""")
ACTS_ON_PEOPLE = _verbs("""
    thank thanked thanked thanking, follow followed followed following, help helped helped helping,
    visit visited visited visiting, meet met met meeting, invite invited invited inviting,
    greet greeted greeted greeting, warn warned warned warning, trust trusted trusted trusting,
    interview interviewed interviewed interviewing, hire hired hired hiring, call called called calling
""")
ACTS_ON_WORKS = _verbs("""
    read read read reading, review reviewed reviewed reviewing, publish published published publishing,
    translate translated translated translating, write wrote written writing,
    recommend recommended recommended recommending, praise praised praised praising,
    finish finished finished finishing
""")
STAYS = _verbs("""
    wait waited waited waiting, work worked worked working, rest rested rested resting,
    sleep slept slept sleeping, sing sang sung singing, sit sat sat sitting, dance danced danced dancing,
    stand stood stood standing
""")
GOES = _verbs("""
    walk walked walked walking, hurry hurried hurried hurrying, run ran run running,
    drive drove driven driving, return returned returned returning, travel traveled traveled traveling,
    move moved moved moving
""")
GIVES = _verbs("""
    give gave given giving, show showed shown showing, lend lent lent lending, send sent sent sending,
    offer offered offered offering, bring brought brought bringing
""")
ACTS_OF_INSTITUTIONS = _verbs("""
    close closed closed closing, buy bought bought buying, sell sold sold selling,
    inspect inspected inspected inspecting, rebuild rebuilt rebuilt rebuilding,
    restore restored restored restoring, photograph photographed photographed photographing
""")
WANTS = _verbs("""
    want wanted wanted wanting, decide decided decided deciding, try tried tried trying,
    hope hoped hoped hoping, promise promised promised promising, plan planned planned planning,
    refuse refused refused refusing
""")
THINKS = _words("thought knew believed hoped admitted claimed said insisted feared")
SAYS = _words("said replied explained answered whispered added remarked announced")
ASKS = _words("asked wondered inquired")
SHOUTS = _words("shouted cried called")
COMMANDS = _words("said answered whispered added ordered")
CALLS = _words("called considered declared")

EVENTS = _pairs("""
    rain stopped, sun rose, bell rang, train left, shop closed, music began, snow melted, guests arrived,
    meeting ended, phone rang, storm passed, bus stopped, concert ended, crowd cheered, ship sank,
    fire spread, river rose, dog barked, door opened, bank closed
""")
COMING_EVENTS = _pairs("""
    guests arrive, bell rings, train leaves, sun sets, shop closes, music begins, children return,
    meeting ends, rain stops
""")
STATES = _pairs("""
    streets empty, house quiet, garden green, price low, room cold, roof wet, tickets expensive,
    windows dirty, questions difficult, sky clear, answer simple, reason obvious, lights bright,
    shops full, rooms small, journey long
""")
PLURAL_NOUNS = frozenset(
    {*PLURAL_PEOPLE, *PLURAL_FOODS, "streets", "tickets", "windows", "questions", "lights", "shops", "rooms"}
)
EVERYBODY = _pairs("nobody noticed, everyone laughed, nobody complained, everybody applauded, nobody moved")

SUBORDINATORS = _words("when before after because although while since until")
INITIAL_SUBORDINATORS = _words("when after because although while since if")
REASONS = _words("because although since")
"""What can introduce the reason, or the lack of one, of a state."""
SENTENCE_ADVERBS = _words("""
    however therefore meanwhile fortunately unfortunately eventually surprisingly nevertheless moreover
    finally later suddenly yesterday apparently
""")
PARENTHETICAL_ADVERBS = _words("however therefore unfortunately apparently surprisingly nevertheless")
WAYS_OF_SPEAKING = _words("slowly politely firmly patiently sadly proudly")
MANNERS = _words("quietly slowly carefully quickly proudly gently eagerly reluctantly")
FREQUENCIES = _words("always often never rarely sometimes")
GESTURES = _words("smiling whistling humming laughing sighing trembling grinning yawning")
INTERJECTIONS = _words("oh wow ah hey")
ANSWERS = _words("yes no well")
ASIDES = _pairs("I think, I believe, I suppose, we hope, they say, I guess")
