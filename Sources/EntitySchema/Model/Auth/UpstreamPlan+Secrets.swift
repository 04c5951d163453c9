/// The stored credentials in the schema's headers.
extension UpstreamPlan {
    /// Those that every request needs, each once.
    package var headerSecrets: [String] {
        headers.flatMap(\.secretNames).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
}

extension UpstreamPlan.Header {
    private static let opening = "{$secret."

    /// The credentials that stand in its text.
    package var secretNames: [String] {
        value.ranges(of: Self.opening).compactMap { range in
            let name = value[range.upperBound...].prefix { $0 != "}" }
            return name.endIndex == value.endIndex ? nil : String(name)
        }
    }

    /// The header with these credentials in their places.
    package func filled(with secrets: [String: String]) -> UpstreamPlan.Header {
        var header = self
        var rest = value[...]
        header.value = ""
        // From the left, so that braces in a credential stand for themselves.
        while let opening = rest.firstRange(of: Self.opening), let end = rest[opening.upperBound...].firstIndex(of: "}")
        {
            header.value += rest[..<opening.lowerBound] + (secrets[String(rest[opening.upperBound..<end])] ?? "")
            rest = rest[rest.index(after: end)...]
        }
        header.value += rest
        return header
    }
}
