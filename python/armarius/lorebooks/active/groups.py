"""One of each group: sticky members keep it, then the most keys found, an earlier winner, the preferred, a draw."""

from collections.abc import Callable, Iterable, Sequence

from armarius.lorebooks.active.entries import Lore
from armarius.lorebooks.active.scan import Random
from armarius.lorebooks.active.timed import Timed


def winners(
    new: Sequence[Lore],
    active: Iterable[Lore],
    timed: Timed,
    luck: Random,
    score: Callable[[Lore], int],
    *,
    scoring: bool,
    lost: Callable[[Lore, str], None],
) -> list[Lore]:
    """Those of a round that keep their groups, in their order; `lost` is told of the others."""
    groups: dict[str, list[Lore]] = {}
    for one in new:
        for group in one.groups:
            groups.setdefault(group, []).append(one)
    if not groups:
        return list(new)
    gone: set[int] = set()

    def remove(one: Lore, why: str) -> None:
        if one.rank not in gone:
            gone.add(one.rank)
            lost(one, why)

    sticky = set()
    for group, members in groups.items():
        if any(one.address in timed.sticking for one in members):
            sticky.add(group)
            for one in members:
                if one.address not in timed.sticking:
                    remove(one, f"lost its group {group} to one that is sticky")
    for group, members in groups.items():
        if group not in sticky:
            members[:] = _scored(group, members, score, scoring, remove)
    held = [one for one in active if one.groups]
    for group, members in groups.items():
        if group in sticky:
            continue
        # The winner of an earlier round is known by its whole group text: one of two groups keeps nobody out.
        earlier = next((one for one in held if one.groups == (group,)), None)
        if earlier is not None:
            for one in members:
                remove(one, f"lost its group {group} to {_name(earlier)}, active before")
        elif len(members) > 1:
            winner = _winner(group, members, luck)
            for one in members:
                if one is not winner:
                    remove(one, f"lost its group {group} to {_name(winner)}")
    return [one for one in new if one.rank not in gone]


def _scored(
    group: str, members: list[Lore], score: Callable[[Lore], int], scoring: bool, remove: Callable[[Lore, str], None]
) -> list[Lore]:
    if not scoring and not any(one.scored for one in members):
        return members
    scores = [score(one) for one in members]
    best = max(scores)
    kept = []
    for one, points in zip(members, scores, strict=True):
        if points < best and (scoring if one.scored is None else one.scored):
            remove(one, f"lost its group {group}: {points} keys found, {best} by another")
        else:
            kept.append(one)
    return kept


def _winner(group: str, members: Sequence[Lore], luck: Random) -> Lore:
    preferred = [one for one in members if one.entry.chance.preferred]
    if preferred:
        return max(preferred, key=lambda one: one.entry.share.order)
    total = sum(one.entry.chance.weight for one in members)
    roll = luck.roll("group", members[0].book.id, group) * total
    passed = 0.0
    for one in members:
        passed += one.entry.chance.weight
        if roll <= passed:
            return one
    return members[-1]


def _name(one: Lore) -> str:
    return one.entry.name or one.entry.id
