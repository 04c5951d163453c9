"""The places of the sources where one operator can be changed, found in their text."""

import hashlib
import re
from collections import Counter, namedtuple

# What syncs, and what writes records, queue and outcomes.
PLACES = ["SyncEngine"] + ["CacheStore/" + name for name in (
    "Records", "Outbox", "Push", "Pull", "Merge", "Settling", "API/CacheStore+DeletionSweep.swift",
    "API/CacheStore+Missing.swift", "API/CacheStore+Pull.swift", "API/CacheStore+Settling.swift", "API/Queue", "API/Writing")]

# One change: the characters from `start` to `end` of the file become `after`; `was` and `becomes` are the line without and with it.
Mutant = namedtuple("Mutant", "file line start end before after was becomes")

OTHER = {"==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "&&": "||", "||": "&&", "+": "-", "-": "+",
         "+=": "-=", "-=": "+=", "true": "false", "false": "true"}
OPERATOR = re.compile(r"(?<=\s)(==|!=|<=?|>=?|&&|\|\||[+-]=?)(?=\s)(?!\s*[\"\[])")
WORD = re.compile(r"(?<![\w.`])(?:true|false)(?![\w`])")
# Small numbers and statuses of HTTP. Others are sizes and times, where one more changes nothing that is promised.
NUMBER = re.compile(r"(?<![\w.$-])(?<!\w\[)(?:[0-3]|[1-5]\d\d)(?![\w.]*[\w])")
NOT = re.compile(r"(?<=[\s(\[{])!(?=[\w(])")
EMPTY = re.compile(r"(?<![\\\w])(?<!!)(?:[\w?]+\.)+isEmpty\b(?! [=!]=)")
CONDITION = re.compile(r"^ *(?:\} else )?(?:if|while) (.+) \{$|^ *guard (.+) else \{", re.M)
GUARD = re.compile(r"^ *(guard .+ else \{ .* \})$", re.M)
# A negated condition is no place of its own if it is the same as another change, and none if it is no single expression.
NO_CONDITION = re.compile(r"\b(?:let|var|case)\b|#|^!|[^&|]* [=!]= [^&|]*$|^[^&|]*isEmpty$")
LEFT_OUT = re.compile(r"^\s*(?:@|#|(?:\w+ )?import )|\blog(?:ger)?\.(?:trace|debug|info|notice|warning|error|critical)\(")
QUOTE = re.compile(r'//[^\n]*|/\*.*?\*/|#"|"""|"', re.S)


def drawn(root, seed):
    """All mutants of the sources, in the order of the seed. The place of one in that order depends on nothing but its own
    line, so that a seed draws nearly the same from edited sources."""
    files = sorted(file for place in PLACES for file in swift_files(root / "Sources" / place))
    mutants = [mutant for file in files for mutant in mutants_of(str(file.relative_to(root)), file.read_text())]
    equal, ranked = Counter(), []
    for mutant in mutants:
        text = mutant.file, mutant.was, mutant.becomes
        rank = hashlib.sha256("\0".join([str(seed), *text, str(equal[text])]).encode()).hexdigest()
        equal[text] += 1
        ranked.append((rank, mutant))
    return [mutant for _, mutant in sorted(ranked)]


def swift_files(path):
    return [path] if path.is_file() else path.rglob("*.swift")


def mutants_of(name, text):
    code = code_of(text)
    found = sorted({(start, end, after) for start, end, after in changes(code)})
    for start, end, after in found:
        line, begin, stop = code.count("\n", 0, start) + 1, code.rfind("\n", 0, start) + 1, code.find("\n", end)
        if not LEFT_OUT.search(code[begin:stop]):
            after = after.replace("\0", text[start:end])
            becomes = (text[begin:start] + after + text[end:stop]).strip()
            yield Mutant(name, line, start, end, text[start:end], after, text[begin:stop].strip(), becomes)


def changes(code):
    """Start, end and replacement of each change; a NUL in the replacement stands for the old text."""
    for pattern in (OPERATOR, WORD):
        yield from ((*match.span(), OTHER[match.group()]) for match in pattern.finditer(code))
    yield from ((*match.span(), "") for match in NOT.finditer(code))
    yield from ((*match.span(), str(int(match.group()) + 1)) for match in NUMBER.finditer(code))
    yield from ((*match.span(), "!\0") for match in EMPTY.finditer(code))
    yield from ((*match.span(1), "") for match in GUARD.finditer(code) if not re.search(r"\b(let|var|case)\b", match[1]))
    for match in CONDITION.finditer(code):
        group = 1 if match[1] else 2
        if not NO_CONDITION.search(match[group]) and not has_comma(match[group]):
            yield (*match.span(group), "!(\0)")


def has_comma(condition):
    """Whether these are several conditions."""
    depth = 0
    for character in condition:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            return True
    return False


def code_of(text):
    """The text with blanks for comments and for what literals contain, at the same length."""
    out, at = [], 0
    while match := QUOTE.search(text, at):
        opening = match.group()
        end = match.end() if opening[0] == "/" else end_of_literal(text, match.end(), opening[::-1])
        keep = 0 if opening[0] == "/" else len(opening)
        begin, stop = match.start() + keep, end - keep
        out += [text[at:begin], re.sub(r"[^\n]", " ", text[begin:stop]), text[stop:end]]
        at = end
    return "".join(out) + text[at:]


def end_of_literal(text, at, closing):
    """The index after a literal whose contents begin at `at`, over the literals in its interpolations."""
    while not text.startswith(closing, at):
        if text.startswith("\\(", at) and closing != '"#':
            at, depth = at + 2, 1
            while depth:
                if text[at] == '"':
                    opening = '"""' if text.startswith('"""', at) else '"'
                    at = end_of_literal(text, at + len(opening), opening)
                    continue
                depth += (text[at] == "(") - (text[at] == ")")
                at += 1
        else:
            at += 2 if text[at] == "\\" and closing != '"#' else 1
    return at + len(closing)
