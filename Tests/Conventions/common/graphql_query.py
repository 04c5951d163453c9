"""Reads GraphQL documents as far as graphql.py needs: one operation, variables, arguments, aliases, nested fields.

https://spec.graphql.org/October2021/#sec-Appendix-Grammar-Summary; fragments and directives are refused.
"""
import re
from dataclasses import dataclass, field

_TOKEN = re.compile(r'[\s,﻿]+|\#[^\n]*|(?P<token>"(?:[^"\\\n]|\\.)*"|-?\d+\.\d+(?:[eE][+-]?\d+)?|-?\d+|[_A-Za-z]\w*|\.\.\.|[!$():=@\[\]{|}])')


class QueryError(Exception):
    """The document is not valid."""


@dataclass
class Field:
    name: str
    alias: str
    arguments: dict = field(default_factory=dict)
    selection: list = field(default_factory=list)


@dataclass
class Variable:
    name: str


@dataclass
class Operation:
    kind: str
    variables: dict  # name -> (type, default)
    selection: list


class Enum(str):
    """A value without quotes."""


def parsed(text):
    return _Parser(text).operation()


class _Parser:
    def __init__(self, text):
        self.tokens, position = [], 0
        while position < len(text):
            found = _TOKEN.match(text, position)
            if not found:
                raise QueryError(f"Syntax Error: Unexpected character: \"{text[position]}\".")
            if found["token"]:
                self.tokens.append(found["token"])
            position = found.end()
        self.tokens.append("<EOF>")

    def take(self, expected=None):
        token = self.tokens.pop(0)
        if expected and token != expected:
            raise QueryError(f"Syntax Error: Expected \"{expected}\", found \"{token}\".")
        return token

    def name(self):
        token = self.take()
        if not re.fullmatch(r"[_A-Za-z]\w*", token):
            raise QueryError(f"Syntax Error: Expected Name, found \"{token}\".")
        return token

    def at(self, token):
        return self.tokens[0] == token

    def operation(self):
        kind, variables = "query", {}
        if not self.at("{"):
            kind = self.name()
            if kind not in ("query", "mutation"):
                raise QueryError(f"Syntax Error: Unexpected Name \"{kind}\".")
            if not self.at("{") and not self.at("("):
                self.name()
            if self.at("("):
                variables = self.variables()
        selection = self.selection()
        self.take("<EOF>")
        return Operation(kind, variables, selection)

    def variables(self):
        found = {}
        self.take("(")
        while not self.at(")"):
            self.take("$")
            name = self.name()
            self.take(":")
            kind, default = self.type(), None
            if self.at("="):
                self.take()
                default = self.value()
            found[name] = (kind, default)
        self.take(")")
        return found

    def type(self):
        if self.at("["):
            self.take()
            kind = f"[{self.type()}]"
            self.take("]")
        else:
            kind = self.name()
        return kind + self.take() if self.at("!") else kind

    def selection(self):
        fields = []
        self.take("{")
        while not self.at("}"):
            if self.at("..."):
                raise QueryError("Fragments are not supported.")
            alias = name = self.name()
            if self.at(":"):
                self.take()
                name = self.name()
            one = Field(name, alias)
            if self.at("("):
                self.take()
                while not self.at(")"):
                    argument = self.name()
                    self.take(":")
                    one.arguments[argument] = self.value()
                self.take(")")
            if self.at("@"):
                raise QueryError("Directives are not supported.")
            if self.at("{"):
                one.selection = self.selection()
            fields.append(one)
        self.take("}")
        if not fields:
            raise QueryError("Syntax Error: Expected Name, found \"}\".")
        return fields

    def value(self):
        token = self.take()
        if token == "$":
            return Variable(self.name())
        if token[0] == '"':
            return token[1:-1].encode().decode("unicode_escape") if "\\" in token else token[1:-1]
        if re.fullmatch(r"-?\d+", token):
            return int(token)
        if token in ("true", "false", "null"):
            return {"true": True, "false": False, "null": None}[token]
        if token == "{":
            found = {}
            while not self.at("}"):
                name = self.name()
                self.take(":")
                found[name] = self.value()
            self.take("}")
            return found
        if token == "[":
            found = []
            while not self.at("]"):
                found.append(self.value())
            self.take("]")
            return found
        if re.fullmatch(r"[_A-Za-z]\w*", token):
            return Enum(token)
        try:
            return float(token)
        except ValueError:
            raise QueryError(f"Syntax Error: Unexpected \"{token}\".") from None


def filled(value, variables):
    """The value with those of variables in their places; an argument whose variable is not given is left out."""
    if isinstance(value, Variable):
        return variables.get(value.name)
    if isinstance(value, dict):
        return {name: filled(one, variables) for name, one in value.items()
                if not (isinstance(one, Variable) and one.name not in variables)}
    return [filled(one, variables) for one in value] if isinstance(value, list) else value
