"""Sources that contain many mutants at once: each changed place asks for the number of the mutant that the process runs.

`a == b` becomes `a ==† b`, where the operator `==†` compares with `!=` if its mutant runs and with `==` otherwise. So one
build is enough for all mutants, and a run can tell which of them it has reached.
"""

from collections import namedtuple

# Other code of a module that takes part sees these names.
SUPPORT = """\
import Glibc

/// The mutant that this process runs.
private let running = getenv("MUTANT").flatMap { Int(String(cString: $0)) } ?? -1

/// A file with a byte for each mutant, set once its place is reached; processes can share it.
nonisolated(unsafe) private let reached: UnsafeMutablePointer<UInt8>? = getenv("MUTANTS_REACHED").flatMap { path in
    let file = open(path, O_RDWR)
    return mmap(nil, %d, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)?.assumingMemoryBound(to: UInt8.self)
}

package func isMutant(_ number: Int) -> Bool {
    reached?[number] = 1
    return running == number
}
"""
# For each kind of binary operator: its precedence, and the head of the function.
COMPARISON = "ComparisonPrecedence", "<T: %s>(one: T, two: T) -> Bool"
KINDS = {
    **{name: (COMPARISON[0], COMPARISON[1] % "Equatable") for name in ("==", "!=")},
    **{name: (COMPARISON[0], COMPARISON[1] % "Comparable") for name in ("<", "<=", ">", ">=")},
    "&&": ("LogicalConjunctionPrecedence", "(one: Bool, two: @autoclosure () throws -> Bool) rethrows -> Bool"),
    "||": ("LogicalDisjunctionPrecedence", "(one: Bool, two: @autoclosure () throws -> Bool) rethrows -> Bool"),
    **{name: ("AdditionPrecedence", "<T: AdditiveArithmetic>(one: T, two: T) -> T") for name in "+-"},
    **{name: ("AssignmentPrecedence", "<T: AdditiveArithmetic>(one: inout T, two: T)") for name in ("+=", "-=")}}
DIGITS = "†‡•"

# What a mutant puts in place of `length` characters of the text; of pieces at one position the lowest rank comes first.
Piece = namedtuple("Piece", "at rank length text")


def combined(text, mutants):
    """The text with all these mutants of it, by number, and the operators that they need."""
    pieces, operators = [], []
    for number, mutant in mutants.items():
        own, operator = parts(number, mutant, text)
        pieces += own
        operators += [operator] if operator else []
    out, at = [], 0
    for piece in sorted(pieces):
        out += [text[at:piece.at], piece.text]
        at = piece.at + piece.length
    return "".join(out) + text[at:], operators


def parts(number, mutant, text):
    """The pieces of one mutant, and its operator."""
    start, end, before, after = mutant.start, mutant.end, mutant.before, mutant.after
    length, name = end - start, "".join(digits(number))
    # What encloses more begins earlier and ends later.
    opening, closing = (lambda words: Piece(start, -length, 0, words)), (lambda words: Piece(end, length - 1e9, 0, words))
    if before in KINDS:
        operator = binary(number, before, after, before + name, text[end:].lstrip().startswith("nil"))
        return [Piece(start, 0, length, before + name)], operator
    if before == "!":
        return [Piece(start, 0, 1, "!" + name)], prefix(number, "!" + name, "value", "!value")
    if after == "":
        return [opening(f"if !isMutant({number}) {{ "), closing(" }")], None
    if after == "!" + before:
        return [opening("¬" + name)], prefix(number, "¬" + name, "!value", "value")
    if after == f"!({before})":
        return [opening(f"¬{name}("), closing(")")], prefix(number, "¬" + name, "!value", "value")
    return [Piece(start, 0, length, f"(isMutant({number}) ? {after} : {before})")], None


def digits(number):
    while number:
        yield DIGITS[number % 3]
        number //= 3
    yield "‣"


def binary(number, before, after, name, takes_nil):
    precedence, head = KINDS[before]
    if takes_nil:
        head = "<T>(one: T?, two: _OptionalNilComparisonType) -> Bool"
    returns, two = "return " if "->" in head else "", "two()" if "rethrows" in head else "two"
    returns += "try " if "rethrows" in head else ""
    return (f"infix operator {name}: {precedence}\npackage func {name} {head} "
            f"{{ if isMutant({number}) {{ {returns}one {after} {two} }} else {{ {returns}one {before} {two} }} }}\n")


def prefix(number, name, mutated, usual):
    return (f"prefix operator {name}\npackage prefix func {name} (value: Bool) -> Bool "
            f"{{ isMutant({number}) ? {mutated} : {usual} }}\n")


def support(operators, most):
    """The file that the module needs besides."""
    return SUPPORT % most + "\n" + "\n".join(operators)
