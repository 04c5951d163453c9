package import JSONText

/// A text with named values that a request fills in: `updated>='{$since:iso}'`, `{$now-90d:date}`, `{status}`.
///
/// The one notion of a template outside of paths: in queries, headers and bodies of lists, of sign-ins and of windows.
/// Which names may stand at a place is checked when the schema is read.
package struct ValueTemplate: Sendable, Equatable {
    /// What stands inside the braces.
    package enum Name: Sendable, Hashable {
        /// `$since`, `$page`, `$cursor`, `$token`, `$account`: a value that belongs to the request.
        case value(String)
        /// `$secret.NAME`: a stored credential.
        case secret(String)
        /// `$now`, `$now-90d`, `$now+1h`: the upstream's time, moved by this much.
        case now(Duration)
        /// `name`: a field of the record.
        case field(String)
    }

    package struct Placeholder: Sendable, Equatable {
        package var name: Name
        /// How a time is written; nil for how the value is.
        package var format: TimeFormat?
        /// Written as a JSON string, quotes included.
        package var isQuoted = false
        /// Without the braces, as written in the schema.
        package var source: String
    }

    package enum Part: Sendable, Equatable {
        case text(String)
        case placeholder(Placeholder)
    }

    package let parts: [Part]

    init(parts: [Part]) { self.parts = parts }

    /// Nil when a brace is left open, a name is empty, or a format does not exist.
    package init?(_ source: String) {
        guard let template = Template(source) else { return nil }
        var parts: [Part] = []
        for part in template.parts {
            switch part {
            case .text(let text): parts.append(.text(text))
            case .placeholder(let source):
                guard let placeholder = Placeholder(source) else { return nil }
                parts.append(.placeholder(placeholder))
            }
        }
        self.parts = parts
    }

    /// A text in which only `{$…}` is a placeholder: all other braces stand for themselves, as in queries of GraphQL.
    package init?(values source: String) {
        var parts: [Part] = []
        var rest = source[...]
        while let open = rest.firstRange(of: "{$") {
            let inside = rest[rest.index(after: open.lowerBound)...]
            guard let close = inside.firstIndex(of: "}"), let placeholder = Placeholder(String(inside[..<close])) else {
                return nil
            }
            if open.lowerBound > rest.startIndex { parts.append(.text(String(rest[..<open.lowerBound]))) }
            parts.append(.placeholder(placeholder))
            rest = inside[inside.index(after: close)...]
        }
        if !rest.isEmpty { parts.append(.text(String(rest))) }
        self.parts = parts
    }

    /// Whether a setting or a stored credential can have this name: lower-case letters, digits and `_`.
    package static func isStoredName(_ name: String) -> Bool {
        !name.isEmpty
            && name.utf8.allSatisfy { byte in
                byte == UInt8(ascii: "_") || (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte)
            }
    }

    /// The same with this format where `value` is named without one.
    func formatting(_ value: String, as format: TimeFormat) -> ValueTemplate {
        ValueTemplate(
            parts: parts.map { part in
                guard case .placeholder(var placeholder) = part, placeholder.name == .value(value),
                    placeholder.format == nil, !placeholder.isQuoted
                else { return part }
                placeholder.format = format
                return .placeholder(placeholder)
            })
    }

    package var placeholders: [Placeholder] {
        parts.compactMap { if case .placeholder(let placeholder) = $0 { placeholder } else { nil } }
    }

    /// The text with every value; nil when `value` has none for one of the names.
    package func text(_ value: (Name) -> JSONText?) -> String? {
        var result = ""
        for part in parts {
            switch part {
            case .text(let text): result += text
            case .placeholder(let placeholder):
                guard let json = value(placeholder.name) else { return nil }
                result += placeholder.written(json).plain
            }
        }
        return result
    }

    /// The same as JSON: a text, or the value with its own type if the template is one placeholder and nothing else.
    package func json(_ value: (Name) -> JSONText?) -> JSONText? {
        if case .placeholder(let placeholder)? = parts.first, parts.count == 1 {
            return value(placeholder.name).map(placeholder.written)
        }
        return text(value).map(JSONText.string)
    }
}

extension ValueTemplate.Placeholder {
    /// `$since:epoch`, `$now-90d`, `status:quoted`.
    fileprivate init?(_ source: String) {
        let halves = source.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let name = ValueTemplate.Name(halves[0]) else { return nil }
        self.init(name: name, source: source)
        guard halves.count == 2 else { return }
        isQuoted = halves[1] == "quoted"
        format = isQuoted ? nil : TimeFormat(halves[1])
        if !isQuoted, format == nil { return nil }
    }

    /// The value in this placeholder's format. A text that is no time stays as it is.
    fileprivate func written(_ value: JSONText) -> JSONText {
        if isQuoted { return .string(JSONText.string(value.plain).text) }
        guard let format, let time = value.changeTime else { return value }
        let text = format.text(time)
        return format.isNumber ? (try? JSONText(parsing: text)) ?? .string(text) : .string(text)
    }
}

extension ValueTemplate.Name {
    fileprivate init?(_ source: String) {
        guard !source.isEmpty else { return nil }
        guard source.hasPrefix("$") else {
            self = .field(source)
            return
        }
        let name = source.dropFirst()
        if name.hasPrefix("secret.") {
            self = .secret(String(name.dropFirst("secret.".count)))
        } else if name == "now" {
            self = .now(.zero)
        } else if let sign = name.first(where: { $0 == "-" || $0 == "+" }), name.hasPrefix("now\(sign)") {
            guard let span = Duration(text: String(name.dropFirst("now".count + 1))) else { return nil }
            self = .now(sign == "-" ? .zero - span : span)
        } else {
            self = .value(String(name))
        }
    }
}
