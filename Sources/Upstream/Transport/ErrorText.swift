internal import EntitySchema
internal import JSONText

/// Finds the words for a person in an error response.
struct ErrorText {
    private let plan: AnswerPlan

    /// In Unicode scalars.
    static let longest = 500

    init(_ plan: AnswerPlan) {
        self.plan = plan
    }

    /// `: ` and the text at the schema's place; without one, the body's own words. Empty when there are none. `…` marks
    /// where the text was cut.
    func words(of response: HTTPResponse, _ body: JSONText?) -> String {
        if let body, let text = stated(in: body) {
            return ": \(text.isLonger(thanScalars: Self.longest) ? "\(text.start(scalars: Self.longest))…" : text)"
        }
        let text: String
        if let body {
            text = Self.flattened(body)
        } else {
            text = response.isMarkup ? "" : String(decoding: response.text.prefix(4 * Self.longest), as: UTF8.self)
        }
        let words = Self.shortened(text, to: Self.longest)
        return words.isEmpty ? "" : ": \(words)"
    }

    /// The texts at the schema's places, each said once; a place with an object or a list is flattened.
    private func stated(in body: JSONText) -> String? {
        var texts: [String] = []
        for path in plan.errorMessage?.paths ?? [] {
            guard let value = body.at(path: path), value.kind != .null else { continue }
            let text = value.kind == .object || value.kind == .array ? Self.flattened(value) : value.plain
            if !text.isEmpty, !texts.contains(text) { texts.append(text) }
        }
        return texts.isEmpty ? nil : texts.joined(separator: "; ")
    }

    /// On one line, cut after `length` Unicode scalars.
    static func shortened(_ text: String, to length: Int) -> String {
        var words = ""
        for part in text.split(whereSeparator: { $0.isWhitespace || $0.unicodeScalars.first?.value ?? 32 < 32 }) {
            words += words.isEmpty ? part : " \(part)"
            if words.isLonger(thanScalars: length) { return "\(words.start(scalars: length))…" }
        }
        return words
    }

    // MARK: Flattening

    /// The texts in a body with their places: `title: Ensure this field …; data.name.message: Cannot be blank.`
    ///
    /// Numbers, booleans and members that are only for programs are left out.
    static func flattened(_ body: JSONText) -> String {
        var parts: [String] = []
        collect(body, at: "", into: &parts)
        return parts.joined(separator: "; ")
    }

    /// Members whose place says nothing to a person.
    private static let plainNames: Set = ["message", "detail", "error", "error_description", "msg"]
    private static let leftOut: Set = [
        "code", "documentation_url", "instance", "meta", "path", "request_id", "requestId", "stack", "status",
        "statusCode", "timestamp", "trace", "traceId", "type", "url",
    ]
    private static let mostParts = 50

    /// The texts in an answer whose names say that they are for a person, such as `message`; nothing else of it.
    static func messages(in body: JSONText) -> String { spoken(body).joined(separator: "; ") }

    private static func spoken(_ value: JSONText) -> [String] {
        switch value.kind {
        case .array: return value.elements.flatMap { spoken($0) }
        case .object:
            return value.members.flatMap { name, member -> [String] in
                guard member.kind == .string else { return spoken(member) }
                return plainNames.contains(name) ? [member.plain] : []
            }
        default: return []
        }
    }

    private static func collect(_ value: JSONText, at place: String, into parts: inout [String]) {
        guard parts.count < mostParts else { return }
        switch value.kind {
        case .string:
            guard let text = value.string, !text.isEmpty else { return }
            parts.append(place.isEmpty || plainNames.contains(place) ? text : "\(place): \(text)")
        case .array:
            let texts = value.elements.compactMap(\.string).filter { !$0.isEmpty }
            if !texts.isEmpty { collect(.string(texts.joined(separator: " ")), at: place, into: &parts) }
            for element in value.elements where element.kind != .string { collect(element, at: place, into: &parts) }
        case .object:
            for (name, member) in value.members where member.kind != .string || !leftOut.contains(name) {
                collect(member, at: place.isEmpty ? name : "\(place).\(name)", into: &parts)
            }
        case .number, .boolean, .null: return
        }
    }
}
