/// Text with placeholders: `/api/tickets/{ticket_id}/messages`, `#{order_number}`.
package struct Template: Sendable, Equatable {
    package enum Part: Sendable, Equatable {
        case text(String)
        case placeholder(String)
    }

    /// In the path of a write: the change's idempotency key. It stays as it is until the request is sent.
    package static let key = "$key"

    package let parts: [Part]

    package init(parts: [Part]) { self.parts = parts }

    /// Nil when a brace is left open or a placeholder has no name.
    package init?(_ source: String) {
        var parts: [Part] = []
        var rest = source[...]
        while let open = rest.firstIndex(of: "{") {
            guard let close = rest[open...].firstIndex(of: "}") else { return nil }
            let name = rest[rest.index(after: open)..<close]
            guard !name.isEmpty, !name.contains("{") else { return nil }
            if open > rest.startIndex { parts.append(.text(String(rest[..<open]))) }
            parts.append(.placeholder(String(name)))
            rest = rest[rest.index(after: close)...]
        }
        guard !rest.contains("}") else { return nil }
        if !rest.isEmpty { parts.append(.text(String(rest))) }
        self.parts = parts
    }

    /// The text that it was read from.
    package var source: String {
        parts.map { part in
            switch part {
            case .text(let text): text
            case .placeholder(let name): "{\(name)}"
            }
        }.joined()
    }

    package var placeholders: [String] {
        parts.compactMap { if case .placeholder(let name) = $0 { name } else { nil } }
    }

    /// Those of a write's path that name fields.
    var fields: [String] { placeholders.filter { $0 != Self.key } }

    /// The text with every placeholder filled; nil when `value` returns nil or an empty text for one of them.
    package func filled(_ value: (String) -> String?) -> String? {
        var result = ""
        for part in parts {
            switch part {
            case .text(let text): result += text
            case .placeholder(let name):
                guard let filling = value(name), !filling.isEmpty else { return nil }
                result += filling
            }
        }
        return result
    }
}
