/// The form of the addresses of an entity's records, to find the key in one of them.
struct RecordAddress {
    /// Those of the query too, if the key stands there.
    private let separators: Set<Character>
    private let parts: [[Template.Part]]
    private let place: Int
    /// Around the key in its own part, as in `Orders(17)` and `17.json`.
    private let prefix: String
    private let suffix: String

    /// Nil if the key has no place of its own in the template.
    init?(_ template: Template, key: String) {
        let source = template.source
        let isInQuery = source.firstRange(of: "{\(key)}").map { source[..<$0.lowerBound].contains("?") } ?? false
        separators = isInQuery ? ["/", "?", "&"] : ["/"]
        let parts = Self.split(isInQuery ? source[...] : source.prefix { $0 != "?" }, at: separators)
            .map { Template(String($0))?.parts ?? [.text(String($0))] }
        guard let place = parts.lastIndex(where: { $0.contains(.placeholder(key)) }) else { return nil }
        let around = parts[place].split(separator: .placeholder(key), omittingEmptySubsequences: false)
        guard around.count == 2, around.allSatisfy({ $0.allSatisfy(\.isText) }) else { return nil }
        (self.parts, self.place) = (parts, place)
        (prefix, suffix) = (Self.text(around[0]), Self.text(around[1]))
    }

    /// Nil if the address is not that of such a record. `location` is absolute or relative, as a `Location` header has it.
    ///
    /// Other hosts, other or missing beginnings of the path, other versions in it and `.json` at its end are allowed, but
    /// what names the kind of record must be there.
    func key(at location: String) -> String? {
        var address = Self.withoutHost(location.prefix { $0 != "#" })
        if !separators.contains("?") { address = address.prefix { $0 != "?" } }
        var found = Self.split(address, at: separators).filter { $0 != "." }[...]
        if let step = found.lastIndex(of: "..") { found = found[(step + 1)...] }
        for part in parts[(place + 1)...].reversed() {
            guard let last = found.popLast(), Self.matches(last, part) else { return nil }
        }
        guard let key = found.popLast().flatMap(key), isBefore(found) else { return nil }
        return key
    }

    private func key(in part: Substring) -> String? {
        guard Self.isSame(part.prefix(prefix.count), prefix) else { return nil }
        var key = part.dropFirst(prefix.count)
        if key.hasSuffix(suffix) {
            key = key.dropLast(suffix.count)
        } else if !suffix.hasPrefix(".") {
            return nil
        }
        if suffix.isEmpty, prefix.isEmpty, key.hasSuffix(".json") { key = key.dropLast(5) }
        let found = Entity.percentDecoded(key)
        return found.isEmpty ? nil : found
    }

    /// Whether these parts may stand before the key.
    private func isBefore(_ found: ArraySlice<Substring>) -> Bool {
        var found = found
        var namesKind = !prefix.isEmpty
        for part in parts[..<place].reversed() {
            let isText = part.allSatisfy(\.isText)
            if isText, Self.isVersion(Self.text(part[...])[...]) { continue }
            while isText, let last = found.last, Self.isVersion(last) { found.removeLast() }
            // A server need not know where a gateway has put it.
            guard let last = found.popLast() else { break }
            guard Self.matches(last, part) else { return false }
            namesKind = namesKind || part.contains(where: \.isText)
        }
        return namesKind
    }

    // MARK: Parts

    private static func split(_ text: Substring, at separators: Set<Character>) -> [Substring] {
        text.split { separators.contains($0) }
    }

    private static func withoutHost(_ address: Substring) -> Substring {
        let scheme = address.prefix { $0 != "/" && $0 != "?" }
        let rest = address[scheme.endIndex...]
        guard rest.hasPrefix("//"), scheme.isEmpty || scheme.hasSuffix(":") else { return address }
        return rest.dropFirst(2).drop { $0 != "/" && $0 != "?" }
    }

    /// Placeholders stand for anything.
    private static func matches(_ found: Substring, _ part: [Template.Part]) -> Bool {
        guard !part.allSatisfy(\.isText) else { return isSame(found, text(part[...])) }
        let (before, after) = (text(part.prefix(while: \.isText)), text(part.trailing(while: \.isText)))
        return found.count > before.count + after.count && isSame(found.prefix(before.count), before)
            && isSame(found.suffix(after.count), after)
    }

    private static func text(_ parts: ArraySlice<Template.Part>) -> String {
        parts.map { if case .text(let text) = $0 { text } else { "" } }.joined()
    }

    /// Some servers write paths in another case than they are asked for.
    private static func isSame(_ found: Substring, _ text: String) -> Bool {
        Entity.percentDecoded(found).lowercased() == Entity.percentDecoded(text[...]).lowercased()
    }

    /// `v2`, `v1.0`.
    private static func isVersion(_ part: Substring) -> Bool {
        guard let letter = part.first, letter == "v" || letter == "V", part.count > 1 else { return false }
        return part.dropFirst().allSatisfy { $0.isASCII && $0.isNumber || $0 == "." }
    }
}

extension Template.Part {
    fileprivate var isText: Bool { if case .text = self { true } else { false } }
}

extension BidirectionalCollection {
    fileprivate func trailing(while holds: (Element) -> Bool) -> SubSequence {
        let start = lastIndex { !holds($0) }.map { index(after: $0) } ?? startIndex
        return self[start...]
    }
}
