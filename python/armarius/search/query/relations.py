"""How entities are related: from typed relations, and from the prose of profiles where nothing is typed.

"贾政与王夫人之子", "薛蟠之妹", "生贾赦、贾政", "后嫁蒋玉菡", "younger sister of Lin Mo", "Anna's daughter": a mention
next to a word for a role, in the profile of someone, says what that someone is. Prose that names people without
a role still says that they belong together.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import copy

from armarius.arguments import OPEN, Chapters
from armarius.codex import Entity, Relation
from armarius.codex.cards import holds
from armarius.codex.model import GraphEntities
from armarius.codex.people import stated_gender
from armarius.search.corpus import Corpus
from armarius.search.query.query import RelationEdge, Subjects, Understanding
from armarius.search.query.words import Role, pair_of, role_words
from armarius.text.matcher import Mention
from armarius.text.unicode import HAN_UNIFIED, WIDE_RUN

_JOINT = re.compile(r"\s*(?:、|与|與|和|及|跟|,\s*and\b|,|，|and|&)\s*$|^\s*$")
_LABEL = re.compile(r"^\s*+(?:[-*+]\s*+)?\**([^:：*\n]{1,24})\**\s*[:：]\**")
_FAR = 200  # code points before a name that say what it is
_OWNED_ZH = re.compile(r"^(?:之|的)")
_OWNED_EN = re.compile(r"^(?:['’]s|['’])\s+")
_MARRIED = re.compile(
    r"(?:嫁给|嫁与|嫁|娶了|娶|\bmarried(?: to)?|\bmarries|\bwed(?:ded)?(?: to)?|\bengaged to|\bbetrothed to)\s*$",
    re.IGNORECASE,
)
_BORE = re.compile(r"(?:生下|生有|育有|生了|生|\b(?:mother|father|parent) (?:of|to))\s*$", re.IGNORECASE)


class RelationIndex:
    """The edges of every entity; built once per codex.

    Args:
        corpus: Sections give the prose, its codex the typed relations.
        chapter: Relations that end before or begin after this chapter are left out; None keeps all.
        chapters: So are relations that hold in none of these, inclusive.
    """

    def __init__(self, corpus: Corpus, *, chapter: int | None = None, chapters: Chapters = OPEN) -> None:
        self._corpus = corpus
        self._chapters = chapters
        self._entities: Mapping[str, Entity] = corpus.entities
        self._edges: dict[str, dict[tuple[str, str], RelationEdge]] = {}  # of an entity: other and role, the first edge
        self._near: dict[str, Counter[str]] = {}
        self._gender = {entity.id: _gender(entity) for entity in corpus.entities.values()}
        for relation in corpus.codex.relations:
            if holds(relation, chapter, self._chapters):
                self._add_relation(relation)
        for section in sorted(corpus.sections.values(), key=lambda section: (section.path, section.start)):
            for entity_id in section.entities:
                self._prose(entity_id, section.text, section.path)

    def with_graph(self, graph: GraphEntities, *, chapter: int | None = None) -> "RelationIndex":
        """These edges and those that a graph adds; what is stated here stays first."""
        index = copy(self)
        index._entities = {**{entity.id: entity for entity in graph.entities}, **self._entities}
        index._edges = {id_: dict(own) for id_, own in self._edges.items()}
        index._near = {id_: Counter(near) for id_, near in self._near.items()}
        index._gender = {**{entity.id: _gender(entity) for entity in graph.entities}, **self._gender}
        for relation in graph.relations:
            if holds(relation, chapter, self._chapters):
                index._add_relation(relation)
        return index

    def walk(self, entity_id: str, path: Sequence[Role]) -> list[tuple[RelationEdge, float]]:
        """Entities at the end of `path`, and on the way, with a factor below 1 for those on the way.

        The empty path gives the entities named most often with this one, three at most. Sorted by (-factor, id).
        """
        if not path:
            near = sorted(self._near.get(entity_id, Counter()).items(), key=lambda item: (-item[1], item[0]))[:3]
            return [(RelationEdge(other, Role("near"), "named together"), 0.6) for other, _ in near]
        result: dict[str, tuple[RelationEdge, float]] = {}
        for edge in self._edges_with_role(entity_id, path[0]):
            if len(path) == 1:
                result.setdefault(edge.other, (edge, 1.0))
                continue
            for end, factor in self.walk(edge.other, path[1:]):
                if end.other != entity_id:
                    result.setdefault(end.other, (end, factor))
                    result.setdefault(edge.other, (edge, 0.8 * factor))
        return sorted(result.values(), key=lambda item: (-item[1], item[0].other))

    def of(self, entity_id: str) -> tuple[RelationEdge, ...]:
        """Every edge of an entity, as found."""
        return tuple(self._edges.get(entity_id, {}).values())

    def neighbours(self, entity_id: str) -> Counter[str]:
        """Entities that relations or profiles name with this one, and how often."""
        return self._near.get(entity_id, Counter())

    def _edges_with_role(self, entity_id: str, role: Role) -> Iterator[RelationEdge]:
        for edge in self._edges.get(entity_id, {}).values():
            gender = edge.role.gender or self._gender.get(edge.other, "")
            if edge.role.name == role.name and (not role.gender or not gender or gender == role.gender):
                yield edge

    def _add(self, entity_id: str, edge: RelationEdge) -> None:
        if edge.other == entity_id:
            return
        back = RelationEdge(
            entity_id, Role(edge.role.inverse.name, self._gender.get(entity_id, "")), edge.said, edge.path
        )
        for owner, item in ((entity_id, edge), (edge.other, back)):
            self._edges.setdefault(owner, {}).setdefault((item.other, item.role.name), item)

    def _count_meeting(self, entity: str, other: str, weight: int) -> None:
        if entity != other:
            self._near.setdefault(entity, Counter())[other] += weight
            self._near.setdefault(other, Counter())[entity] += weight

    def _add_relation(self, relation: Relation) -> None:
        self._count_meeting(relation.source, relation.target, 2)
        roles = pair_of(relation.type)
        if roles is not None and self._person(relation.source) and self._person(relation.target):
            path = "" if relation.origin is None else relation.origin.path
            self._add(relation.target, RelationEdge(relation.source, roles[0], relation.type, path))

    def _person(self, entity_id: str) -> bool:
        return self._entities[entity_id].type in ("character", "other")

    def _prose(self, subject: str, text: str, path: str) -> None:
        for match in WIDE_RUN.finditer(text):
            sentence = match[0]
            mentions = [m for m in self._corpus.matcher.find_all(sentence) if m.entity_id in self._corpus.entities]
            for mention in mentions:
                self._count_meeting(subject, mention.entity_id, 1)
            if not self._person(subject):
                continue
            label = _LABEL.match(sentence)
            if label and (named := role_words().find(label[1])) and named[-1].end == len(label[1].rstrip()):
                for mention in mentions:
                    if mention.start >= label.end() and self._person(mention.entity_id):
                        self._add(subject, RelationEdge(mention.entity_id, named[-1].value, label[1].strip(), path))
                continue
            groups = _groups(sentence, mentions)
            for before, group, behind in zip(([], *groups), groups, (*groups[1:], []), strict=False):
                self._group(subject, sentence, before, group, behind, path)

    def _group(
        self, subject: str, sentence: str, earlier: list[Mention], group: list[Mention], later: list[Mention], path: str
    ) -> None:
        """People named together, and the words before and after them, up to the next name."""
        others = [m.entity_id for m in group if m.entity_id != subject and self._person(m.entity_id)]
        if not others:
            return
        start = max(0, group[0].start - _FAR)
        before = sentence[start : group[0].start]
        after = sentence[group[-1].end : later[0].start if later else len(sentence)]
        clause = start + 1 + max(before.rfind(stop) for stop in "，,；;：:、")
        actor = next((m.entity_id for m in reversed(earlier) if clause <= m.start and m.end <= group[0].start), subject)
        quote = sentence[max(0, group[0].start - 12) : group[-1].end + 12].strip(" -，,")
        role = _owned_role(after) or _role_before(before)
        for other in others:
            if role is not None:
                own = Role(role.name, role.gender or self._gender[subject])
                self._add(other, RelationEdge(subject, own, quote, path))
            elif _MARRIED.search(before):
                self._add(actor, RelationEdge(other, Role("spouse"), quote, path))
            elif _BORE.search(before):
                self._add(actor, RelationEdge(other, Role("child"), quote, path))


def _groups(sentence: str, mentions: Sequence[Mention]) -> list[list[Mention]]:
    groups: list[list[Mention]] = []
    for mention in mentions:
        last = groups[-1][-1] if groups else None
        if last is None or (mention.start >= last.end and not _JOINT.match(sentence[last.end : mention.start])):
            groups.append([])
        groups[-1].append(mention)
    return groups


def _owned_role(after: str) -> Role | None:
    """The role in "X之子", "X的贴身丫鬟", "X's younger sister": X owns it, the subject of the profile has it."""
    chinese = _OWNED_ZH.match(after)
    latin = _OWNED_EN.match(after)
    if chinese is None and latin is None and not re.match(f"[{HAN_UNIFIED}]", after):
        return None
    start = chinese.end() if chinese else latin.end() if latin else 0
    clause = re.match(r"[^，。、；,.;:：()（）之的与和]*", after[start:])
    words = clause[0] if clause else ""
    if latin is not None:
        words = " ".join(words.split()[:4])
    for match in role_words().find(words):
        rest = words[match.end :]
        near = match.start <= (40 if latin is not None else 5)
        # 侍女房里 is no servant: in Chinese the role ends the clause.
        if near and (latin is not None or not rest or not re.match(f"[{HAN_UNIFIED}]", rest)):
            return match.value
    return None


_OF_ROLE = re.compile(r"([\w' -]+?)\s+(?:of|to|for)\s+(?:the\s+|old\s+|late\s+)*$", re.IGNORECASE)


def _role_before(before: str) -> Role | None:
    """The role in "the younger daughter of X", "apprentice to X"."""
    match = _OF_ROLE.search(before[-60:])
    if match is None:
        return None
    words = " ".join(match[1].split()[-2:])
    roles = role_words().find(words)
    return roles[-1].value if roles and roles[-1].end == len(words) else None


def _gender(entity: Entity) -> str:
    return stated_gender(entity.attributes) or ""


def subjects_of(corpus: Corpus, index: RelationIndex, question: Understanding) -> Subjects:
    """Resolve the entities of a question."""
    related: dict[str, tuple[float, RelationEdge, str]] = {}
    external: dict[str, tuple[float, RelationEdge, str]] = {}
    for entity_id in question.entities:
        for word in question.relations:
            for edge, factor in index.walk(entity_id, word.path):
                target = related if edge.other in corpus.entities else external
                if edge.other not in question.entities and factor > target.get(edge.other, (0.0,))[0]:
                    target[edge.other] = (factor, edge, word.word)
    return Subjects(question.entities, related, external)
