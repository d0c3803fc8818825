"""What a pack was asked, in a few lines: above a table, at the head of a page."""

from armarius.assembly.report.account import Account

__all__ = ["asked"]


def asked(pack: Account) -> list[tuple[str, str]]:
    """What was asked, label and value: question, document with its cursor, task, model; nothing that is not there."""
    request = pack.request
    question = request.query or ("the last of the messages" if request.messages else "")
    cursor = "" if request.cursor is None else f", cursor at {request.cursor:,}"
    model = ", ".join(one for one in (request.model, request.provider) if one)
    rows = [("question", question), ("document", f"{request.document}{cursor}" if request.document else "")]
    rows += [("task", request.skill), ("model", model)]
    return [(label, value) for label, value in rows if value]
