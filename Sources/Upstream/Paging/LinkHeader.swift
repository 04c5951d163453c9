/// The `Link` field (RFC 8288, 3): what a response links to, and the relation of each link.
struct LinkHeader {
    struct Malformed: Error {}

    struct Link: Equatable {
        var target: String
        /// In lower case; the link's relations to the response.
        var relations: [String] = []
        /// Whether it describes something other than the response (`anchor`).
        var isForeign = false
        /// Whether it leads to a page without records, as Sentry says behind the last one.
        var isEmpty = false
    }

    private(set) var links: [Link] = []

    /// Takes all fields of that name. Throws when one cannot be read, because it might hide the next page.
    init(_ fields: [String]) throws(Malformed) {
        for field in fields {
            var rest = field.utf8[...]
            while Self.skip(" \t,", &rest) { links.append(try Self.link(&rest)) }
        }
    }

    init(of response: HTTPResponse) throws(Malformed) { try self.init(response.headers(named: "Link")) }

    /// Where the next page is; nil if no link says so.
    var next: String? { links.first { !$0.isForeign && !$0.isEmpty && $0.relations.contains("next") }?.target }

    private static func link(_ rest: inout Substring.UTF8View) throws(Malformed) -> Link {
        guard rest.popFirst() == UInt8(ascii: "<"), let end = rest.firstIndex(of: UInt8(ascii: ">")) else {
            throw Malformed()
        }
        var link = Link(target: String(Substring(rest[..<end])))
        rest = rest[end...].dropFirst()
        var hasRelation = false
        while skip(" \t", &rest), rest.first != UInt8(ascii: ",") {
            guard rest.popFirst() == UInt8(ascii: ";") else { throw Malformed() }
            guard skip(" \t", &rest), rest.first != UInt8(ascii: ";"), rest.first != UInt8(ascii: ",") else { continue }
            let (name, value) = try parameter(&rest)
            switch name {
            case "anchor": link.isForeign = true
            // Only the first one counts (RFC 8288, 3.3).
            case "rel" where !hasRelation:
                hasRelation = true
                // Some servers write `rel='next'`.
                link.relations = value.lowercased().split { $0 == " " || $0 == "'" }.map(String.init)
            case "results": link.isEmpty = value == "false"
            default: break
            }
        }
        return link
    }

    private static func parameter(
        _ rest: inout Substring.UTF8View
    ) throws(Malformed) -> (name: String, value: String) {
        let name = Substring(rest.prefix { !" \t=;,".utf8.contains($0) })
        guard !name.isEmpty else { throw Malformed() }
        rest = rest.dropFirst(name.utf8.count)
        _ = skip(" \t", &rest)
        guard rest.first == UInt8(ascii: "=") else { return (name.lowercased(), "") }
        rest = rest.dropFirst()
        _ = skip(" \t", &rest)
        guard rest.first == UInt8(ascii: "\"") else {
            let value = Substring(rest.prefix { !" \t;,".utf8.contains($0) })
            rest = rest.dropFirst(value.utf8.count)
            return (name.lowercased(), String(value))
        }
        return (name.lowercased(), try quoted(&rest))
    }

    /// RFC 9110, 5.6.4.
    private static func quoted(_ rest: inout Substring.UTF8View) throws(Malformed) -> String {
        rest = rest.dropFirst()
        var value: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: value, as: UTF8.self)
            case UInt8(ascii: "\\"): if let next = rest.popFirst() { value.append(next) }
            default: value.append(byte)
            }
        }
        throw Malformed()
    }

    /// Moves past these characters; false at the end.
    private static func skip(_ characters: String, _ rest: inout Substring.UTF8View) -> Bool {
        rest = rest.drop { characters.utf8.contains($0) }
        return !rest.isEmpty
    }
}
