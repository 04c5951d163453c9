/// A path of the document, with names in braces.
package struct PathPattern: Sendable, Hashable {
    package let text: String
    /// Between slashes.
    let segments: [String]
    /// Whether its last name only says that it finds the records of the path before it: `/pet/findByStatus`.
    var findsParent = false

    /// Nil for what is no plain path: without a slash at the beginning, with a query, a space, an open brace, or a step out of
    /// the API, as in `/../admin`.
    init?(_ text: String) {
        guard text.hasPrefix("/"), text.utf8.count <= 1000,
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !"?#\"\\$".utf8.contains($0) })
        else { return nil }
        self.text = text
        segments = text.split(separator: "/").map(String.init)
        guard !segments.isEmpty, segments.allSatisfy({ Self.parts($0) != nil && !Self.isStep($0) }) else { return nil }
    }

    private static func isStep(_ segment: String) -> Bool {
        [".", ".."].contains(segment.lowercased().replacing("%2e", with: "."))
    }

    /// The names in braces, in order.
    var parameters: [String] { segments.flatMap(Self.parameters) }

    var lastSegment: String { segments[segments.count - 1] }
    var endsWithSlash: Bool { text.hasSuffix("/") && text.count > 1 }

    /// Without a slash at the end, in lower case and with one name for all parameters, so that paths compare by their
    /// form. Servers of ASP.NET take any case, and their documents mix them.
    var form: String { Self.form(segments) }

    static func form(_ segments: some Sequence<String>) -> String {
        segments.map { "/" + (parts($0) ?? []).map { $0.isParameter ? "{}" : $0.text.lowercased() }.joined() }.joined()
    }

    /// `/orders.{format}` as `/orders.json`, and `/orders{.format}` without it: a draft speaks JSON.
    static func asJSON(_ text: String) -> String {
        guard text.contains("{") else { return text }
        return text.replacing(#/\(?\.\{_?(format|ext|extension)\}\)?$/#, with: ".json")
            .replacing(#/\(?\{\.(format|ext|extension)\}\)?$/#, with: "")
    }

    /// Without `.json` at the end of the last one.
    static func withoutJSON(_ segments: [String]) -> [String] {
        guard let last = segments.last, last.hasSuffix(".json"), last.count > 5 else { return segments }
        return segments.dropLast() + [String(last.dropLast(5))]
    }

    static func parameters(_ segment: String) -> [String] {
        (parts(segment) ?? []).filter(\.isParameter).map(\.text)
    }

    /// The path with other texts in the place of names in braces.
    package func filled(_ value: (String) -> String) -> String {
        let filled = segments.map { segment in
            (Self.parts(segment) ?? []).map { $0.isParameter ? value($0.text) : $0.text }.joined()
        }
        return "/" + filled.joined(separator: "/") + (endsWithSlash ? "/" : "")
    }

    /// Nil if a brace is left open or a name is empty or odd.
    private static func parts(_ segment: String) -> [(text: String, isParameter: Bool)]? {
        var parts: [(text: String, isParameter: Bool)] = []
        var rest = segment[...]
        while let open = rest.firstIndex(of: "{") {
            guard let close = rest[open...].firstIndex(of: "}") else { return nil }
            let name = String(rest[rest.index(after: open)..<close])
            guard !name.isEmpty, name.utf8.count <= 100,
                name.allSatisfy({ $0.isLetter || $0.isNumber || "_-.@:".contains($0) })
            else { return nil }
            let before = String(rest[..<open])
            guard !before.contains("}") else { return nil }
            if !before.isEmpty { parts.append((before, false)) }
            parts.append((name, true))
            rest = rest[rest.index(after: close)...]
        }
        guard !rest.contains("}") else { return nil }
        if !rest.isEmpty { parts.append((String(rest), false)) }
        return parts
    }
}
