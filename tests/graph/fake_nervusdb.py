"""A stand-in for `nervusdb`, to exercise the adapter across a real process boundary where the program is not.

Written from the documentation of NervusDB 0.0.8 (its CLI page and its Mini-Cypher reference); nothing of it is a
recording of the real program. It is stricter than that program: whatever the reference does not list is refused, and
so is a string literal that needs any escape, since the real lexer does not give back what an escape was meant to say.

    v2 write --db DIR (--cypher TEXT | --file PATH)      {"count":3}
    v2 query --db DIR (--cypher TEXT | --file PATH)      {"n.name":"Alice"}, one line per row

Only the standard library, and only what starts fast: pathlib alone takes longer than all the rest.
"""

import json
import os
import re
import sys

KEYWORDS = {
    "MATCH", "CREATE", "RETURN", "WHERE", "WITH", "OPTIONAL", "ORDER", "BY", "ASC", "DESC", "LIMIT", "SKIP", "DISTINCT",
    "AND", "OR", "NOT", "XOR", "IS", "IN", "STARTS", "ENDS", "CONTAINS", "SET", "DELETE", "DETACH", "REMOVE", "MERGE",
    "UNION", "ALL", "UNWIND", "AS", "CASE", "WHEN", "THEN", "ELSE", "END", "CALL", "YIELD", "FOREACH", "ON", "EXISTS",
    "TRUE", "FALSE", "NULL",
}  # fmt: skip
TOKEN = re.compile(
    r"\s*(?:(?P<string>'[^'\"\\]*')|(?P<number>[0-9]+)|(?P<word>[^\W\d]\w*)|(?P<sign>->|[-(){}\[\]:,.=]))", re.DOTALL
)


class Refused(Exception):
    """The message goes to standard error."""


def tokens(text):
    at, found = 0, []
    while text[at:].strip():
        match = TOKEN.match(text, at)
        if match is None:
            raise Refused(f"Unexpected character at {at}")
        kind, value = match.lastgroup, match[match.lastgroup]
        if kind == "word" and value.upper() in KEYWORDS:
            kind, value = "keyword", value.upper()
        found.append((kind, value[1:-1] if kind == "string" else value))
        at = match.end()
    return [*found, ("end", "")]


class Parser:
    def __init__(self, text):
        self.tokens, self.at = tokens(text), 0

    def peek(self, *values):
        kind, value = self.tokens[self.at]
        return kind in ("keyword", "sign") and value in values

    def take(self, *values):
        if self.peek(*values):
            self.at += 1
            return True
        return False

    def need(self, value):
        if not self.take(value):
            raise Refused(f"syntax error: expected {value}, found {self.tokens[self.at][1]!r}")

    def kind(self, kind):
        found, value = self.tokens[self.at]
        if found != kind:
            raise Refused(f"syntax error: expected {kind}, found {value!r}")
        self.at += 1
        return value

    def scalar(self):
        if self.tokens[self.at][0] == "number":
            return int(self.kind("number"))
        return self.kind("string")

    def property(self):
        variable = self.kind("word")
        self.need(".")
        return variable, self.kind("word")

    def node(self):
        self.need("(")
        variable = self.kind("word") if self.tokens[self.at][0] == "word" else None
        label = self.kind("word") if self.take(":") else None
        properties = {}
        if self.take("{"):
            while not properties or self.take(","):
                key = self.kind("word")
                self.need(":")
                properties[key] = self.scalar()
            self.need("}")
        self.need(")")
        return variable, label, properties

    def pattern(self):
        nodes, types = [self.node()], []
        while self.take("-"):
            self.need("[")
            self.need(":")
            types.append(self.kind("word"))
            self.need("]")
            self.need("->")
            nodes.append(self.node())
        if len(types) > 2:
            raise Refused("syntax error: more than two hops is outside Mini-Cypher 0.1")
        return nodes, types

    def match(self):
        pattern = self.pattern()
        where = None
        if self.take("WHERE"):
            where = self.property()
            self.need("=")
            where = (*where, self.scalar())
        return pattern, where

    def statement(self):
        matches, write = [], None
        while self.take("MATCH"):
            matches.append(self.match())
        if self.take("RETURN"):
            items = [self.property()]
            while self.take(","):
                items.append(self.property())
            limit = int(self.kind("number")) if self.take("LIMIT") else None
            write = ("return", items, limit)
        elif self.take("CREATE"):
            write = ("create", self.pattern())
        elif matches and self.take("SET"):
            items = []
            while not items or self.take(","):
                target = self.property()
                self.need("=")
                items.append((*target, self.scalar()))
            write = ("set", items)
        elif matches and self.peek("DETACH", "DELETE"):
            detach = self.take("DETACH")
            self.need("DELETE")
            write = ("delete", detach, self.kind("word"))
        if write is None or self.tokens[self.at][0] != "end":
            raise Refused(f"syntax error: {self.tokens[self.at][1]!r} is outside Mini-Cypher 0.1")
        return matches, write


class Database:
    """Nodes by number with label and properties, edges as a set of (source, type, target): parallel ones are one."""

    def __init__(self, folder):
        os.makedirs(folder, exist_ok=True)
        self.path = os.path.join(folder, "graph.json")
        self.lock = os.path.join(folder, "lock")
        try:
            os.close(os.open(self.lock, os.O_CREAT | os.O_EXCL))  # like Fjall: one process at a time, others fail
        except FileExistsError:
            raise Refused(f"storage error: {folder} is locked by another process") from None
        self.nodes, self.edges, self.next = {}, set(), 1
        if os.path.exists(self.path):
            with open(self.path, encoding="utf-8") as file:
                whole = json.load(file)
            self.nodes = {int(key): (label, values) for key, (label, values) in whole["nodes"].items()}
            self.edges, self.next = {tuple(edge) for edge in whole["edges"]}, whole["next"]

    def save(self):
        whole = {"nodes": self.nodes, "edges": sorted(self.edges), "next": self.next}
        with open(self.path + ".new", "w", encoding="utf-8") as file:
            json.dump(whole, file)
        os.replace(self.path + ".new", self.path)

    def rows(self, matches):
        rows = [{}]
        for (nodes, types), where in matches:
            rows = [new for row in rows for new in self.paths(row, nodes, types)]
            if where is not None:
                variable, key, value = where
                if any(variable not in row for row in rows):
                    raise Refused(f"syntax error: UndefinedVariable ({variable})")
                rows = [row for row in rows if self.value(row[variable], key) == value]
        return rows

    def paths(self, row, nodes, types):
        found = [(dict(row), number) for number in self.fitting(row, nodes[0])]
        found = [(self.bound(row, nodes[0], number), number) for row, number in found]
        for type_, node in zip(types, nodes[1:], strict=True):
            found = [
                (self.bound(row, node, target), target)
                for row, number in found
                for source, kind, target in sorted(self.edges)
                if source == number and kind == type_ and target in self.fitting(row, node)
            ]
        return [row for row, _ in found]

    def fitting(self, row, node):
        variable, label, properties = node
        if variable in row:
            return [row[variable]]
        return [
            number
            for number, (own, values) in self.nodes.items()
            if label in (None, own) and all(values.get(key) == value for key, value in properties.items())
        ]

    def bound(self, row, node, number):
        return row if node[0] is None else {**row, node[0]: number}

    def value(self, number, key):
        return self.nodes[number][1].get(key)

    def create(self, rows, pattern):
        count, (nodes, types) = 0, pattern
        for row in rows:
            numbers = []
            for variable, label, properties in nodes:
                if variable in row:
                    if label or properties:
                        raise Refused(f"syntax error: VariableAlreadyBound ({variable})")
                    numbers.append(row[variable])
                    continue
                self.nodes[self.next] = (label, properties)
                numbers.append(self.next)
                row = self.bound(row, (variable,), self.next)
                self.next, count = self.next + 1, count + 1
            for number, type_ in enumerate(types):
                self.edges.add((numbers[number], type_, numbers[number + 1]))
                count += 1
        return count

    def set(self, rows, items):
        for row in rows:
            for variable, key, value in items:
                self.nodes[row[variable]][1][key] = value
        return len(rows) * len(items)

    def delete(self, rows, detach, variable):
        doomed = {row[variable] for row in rows}
        edges = {edge for edge in self.edges if edge[0] in doomed or edge[2] in doomed}
        if edges and not detach:
            raise Refused("execution error: Cannot delete node with relationships without DETACH DELETE")
        self.edges -= edges
        for number in doomed:
            del self.nodes[number]
        return len(doomed) + len(edges)


def answered(arguments):
    """Status, output and complaint of the program with these arguments."""
    if len(arguments) != 6 or arguments[0] != "v2" or arguments[1] not in ("query", "write") or arguments[2] != "--db":
        return 2, b"", "error: unexpected argument; Usage: nervusdb v2 <query|write> --db <DB>"
    verb, folder, source, text = arguments[1], arguments[3], arguments[4], arguments[5]
    database = None
    try:
        if source == "--file":
            with open(text, encoding="utf-8") as file:
                text = file.read()
        elif source != "--cypher":
            raise Refused("either --cypher or --file is required")
        matches, (kind, *rest) = Parser(text).statement()
        if (kind == "return") != (verb == "query"):
            raise Refused("query without RETURN" if verb == "query" else "a write needs CREATE, SET or DELETE")
        database = Database(folder)
        rows = database.rows(matches)
        if kind == "return":
            items, limit = rest
            lines = [{f"{v}.{key}": database.value(row[v], key) for v, key in items} for row in rows[:limit]]
            said = "".join(json.dumps(line, ensure_ascii=False, sort_keys=True) + "\n" for line in lines)
        else:
            count = getattr(database, kind)(rows, *rest)
            database.save()
            said = json.dumps({"count": count}, separators=(",", ":")) + "\n"
        return 0, said.encode(), ""
    except (Refused, KeyError, OSError) as error:
        return 1, b"", str(error)
    finally:
        if database is not None:
            os.remove(database.lock)


def main(arguments):
    status, said, complaint = answered(arguments)
    sys.stdout.buffer.write(said)
    if complaint:
        print(complaint, file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
