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

    /// `: ` and the text at the schema's place; without one, the body's own words, or those of the headers. Empty when there
    /// are none. On one line, because a line of its own would look like one of this program's. `…` marks where the text was
    /// cut.
    func words(of response: HTTPResponse, _ body: JSONText?) -> String {
        let text: String
        if let body {
            text = stated(in: body) ?? Self.flattened(body)
        } else {
            text = response.isMarkup ? "" : String(decoding: response.text.prefix(4 * Self.longest), as: UTF8.self)
        }
        let words = Self.shortened(text.isEmpty ? Self.said(inHeadersOf: response) : text, to: Self.longest)
        return words.isEmpty ? "" : ": \(words)"
    }

    /// Headers in which servers say why, such as EspoCRM's, which answers errors without a body.
    private static let headers = ["X-Status-Reason", "X-Error-Message", "X-Error-Description"]

    private static func said(inHeadersOf response: HTTPResponse) -> String {
        if let words = headers.lazy.compactMap(response.filledHeader).first { return words }
        // `Bearer error="invalid_token", error_description="The token has expired"` (RFC 6750, 3).
        let description = response.header("WWW-Authenticate")?.firstMatch(of: #/error_description="([^"]*)"/#)
        return description.map { String($0.1) } ?? ""
    }

    /// The texts at the schema's places, each said once; a place with an object or a list is flattened.
    private func stated(in body: JSONText) -> String? {
        var texts: [String] = []
        for path in plan.errorMessage?.paths ?? [] {
            guard let value = body.at(path: path), value.kind != .null else { continue }
            let isNested = value.kind == .object || value.kind == .array
            let text = isNested ? Self.flattened(value) : value.plain.cut(toScalars: Self.longest)
            if !text.isEmpty, !texts.contains(text) { texts.append(text) }
        }
        return texts.isEmpty ? nil : texts.joined(separator: "; ")
    }

    /// On one line, cut to `length` Unicode scalars.
    static func shortened(_ text: String, to length: Int) -> String {
        var words = ""
        for part in text.split(whereSeparator: { $0.isWhitespace || $0.unicodeScalars.first?.value ?? 32 < 32 }) {
            words += words.isEmpty ? part : " \(part)"
            if words.isLonger(thanScalars: length) { break }
        }
        return words.cut(toScalars: length)
    }

    // MARK: Flattening

    /// The texts in a body with their places: `title: Ensure this field …; data.name.message: Cannot be blank.`
    ///
    /// Numbers, booleans and members that are only for programs are left out, except codes if there is nothing else. Of
    /// a large or deep body it has only the beginning, however long the names are: a little more than a message may
    /// have.
    static func flattened(_ body: JSONText) -> String {
        var texts = Texts()
        collect(body, at: "", into: &texts)
        if texts.isEmpty { collect(body, at: "", withCodes: true, into: &texts) }
        return texts.joined
    }

    /// Members whose place says nothing to a person.
    private static let plainNames: Set = ["message", "detail", "error", "error_description", "msg"]
    private static let leftOut: Set = [
        "code", "documentation_url", "instance", "jsonrpc", "meta", "path", "request_id", "requestId", "stack",
        "status", "statusCode", "timestamp", "trace", "traceId", "type", "url",
    ]
    private static let traces: Set = ["stack", "stackTrace", "trace"]
    /// The left-out members that are shown if there is no text.
    private static let codes: Set = ["code", "type"]
    /// The numbers that are shown if there is no text.
    private static let numericCodes: Set = ["code", "error", "error_code", "errorCode", "errno"]
    /// Of one object or list.
    private static let mostMembers = 200
    /// Counts objects and lists; messages are no deeper.
    private static let deepest = 8
    private static let longestName = 60
    private static let longestPlace = 200

    /// The texts found so far. Once they fill a message, no more are looked for.
    private struct Texts {
        private static let most = 50

        private var parts: [String] = []
        private var length = 0

        var isEmpty: Bool { parts.isEmpty }
        var isFull: Bool { parts.count >= Self.most || length > ErrorText.longest }
        var joined: String { parts.joined(separator: "; ") }

        mutating func add(_ text: String) {
            // What is space in it leaves the message.
            let part = text.cut(toScalars: 4 * ErrorText.longest)
            length += part.unicodeScalars.count
            parts.append(part)
        }
    }

    /// The texts in an answer whose names say that they are for a person, such as `message`; nothing else of it.
    static func messages(in body: JSONText) -> String {
        var texts = Texts()
        collectMessages(body, into: &texts)
        return texts.joined
    }

    private static func collectMessages(_ value: JSONText, depth: Int = 0, into texts: inout Texts) {
        guard depth <= deepest, !texts.isFull else { return }
        for element in value.elements(atMost: mostMembers) { collectMessages(element, depth: depth + 1, into: &texts) }
        for (name, member) in value.members(atMost: mostMembers) {
            guard member.kind == .string else {
                collectMessages(member, depth: depth + 1, into: &texts)
                continue
            }
            if plainNames.contains(name), !texts.isFull { texts.add(member.plain) }
        }
    }

    private static func collect(
        _ value: JSONText, at place: String, depth: Int = 0, withCodes: Bool = false, into texts: inout Texts
    ) {
        guard depth <= deepest, !texts.isFull else { return }
        switch value.kind {
        case .string:
            guard let text = value.string, !text.isEmpty else { return }
            texts.add(place.isEmpty || plainNames.contains(place) ? text : "\(place): \(text)")
        case .array:
            let elements = value.elements(atMost: mostMembers)
            let strings = elements.compactMap(\.string).filter { !$0.isEmpty }
            if !strings.isEmpty {
                collect(
                    .string(strings.joined(separator: " ")), at: place, depth: depth, withCodes: withCodes, into: &texts
                )
            }
            for element in elements where element.kind != .string {
                collect(element, at: place, depth: depth + 1, withCodes: withCodes, into: &texts)
            }
        case .object:
            for (name, member) in value.members(atMost: mostMembers) where !isForPrograms(name, member, withCodes) {
                let inner = Self.place(of: name, in: place)
                collect(member, at: inner, depth: depth + 1, withCodes: withCodes, into: &texts)
            }
        case .number where withCodes && isCode(place): texts.add("\(place): \(value.plain.cut(toScalars: longestName))")
        case .number, .boolean, .null: return
        }
    }

    private static func isCode(_ place: String) -> Bool {
        numericCodes.contains(String(place.split(separator: ".").last ?? ""))
    }

    /// Names with `@` are of JSON-LD: `@context`, `@type`. A trace is a list of places in the server's program; any other
    /// of these names may also be a field's, with a list of texts about it.
    private static func isForPrograms(_ name: String, _ member: JSONText, _ withCodes: Bool) -> Bool {
        if name.hasPrefix("@") || traces.contains(name) { return true }
        return member.kind == .string && leftOut.contains(name) && !(withCodes && codes.contains(name))
    }

    /// Names are cut before they are put together: a deep body of long names would have long places at each level.
    private static func place(of name: String, in place: String) -> String {
        let name = name.cut(toScalars: longestName)
        return place.isEmpty ? name : "\(place).\(name)".cut(toScalars: longestPlace)
    }
}
