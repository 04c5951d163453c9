internal import EntitySchema

/// A piece of a page. Interpolated text is escaped, so nothing from a record or an error becomes markup.
struct HTML: ExpressibleByStringInterpolation {
    let source: String

    init(stringLiteral source: String) { self.source = source }
    init(stringInterpolation pieces: Interpolation) { source = pieces.source }

    struct Interpolation: StringInterpolationProtocol {
        fileprivate var source = ""

        init(literalCapacity: Int, interpolationCount: Int) { source.reserveCapacity(2 * literalCapacity) }

        mutating func appendLiteral(_ literal: String) { source += literal }
        mutating func appendInterpolation(_ part: HTML) { source += part.source }
        mutating func appendInterpolation(_ parts: [HTML]) { for part in parts { source += part.source } }
        mutating func appendInterpolation(_ number: Int) { source += String(number) }

        /// Safe in content and in double-quoted attributes.
        mutating func appendInterpolation(_ text: String) { source += HTMLText.escaped(text) }
    }
}
