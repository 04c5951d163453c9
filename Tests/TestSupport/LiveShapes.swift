package import JSONText

/// What is known of the real Repair Minder: one file for each request or answer, with sample values (`index.json`).
package struct LiveShapes: Sendable {
    private let index: [String: JSONText]

    package init() throws {
        let files = try Self.read("index")["files"]?.elements ?? []
        index = Dictionary(files.map { ($0["file"]?.string ?? "", $0) }) { first, _ in first }
    }

    package subscript(name: String) -> JSONText {
        get throws { try Self.read(name) }
    }

    private static func read(_ name: String) throws -> JSONText {
        try JSONText(parsing: ProjectFiles.text("Tests/live-shapes/\(name).json"))
    }

    /// The places in `answer` that the file does not know, or where it has a value of another type. Null fits everywhere.
    package func strangers(in answer: JSONText, against name: String) throws -> [String] {
        let typed = index["\(name).json"]?["also_typed"]?.members.map(\.key) ?? []
        return Set(Self.differences(answer, try self[name], "", Set(typed))).sorted()
    }

    private static func differences(
        _ found: JSONText, _ known: JSONText, _ path: String, _ typed: Set<String>
    ) -> [String] {
        guard found.kind != .null, known.kind != .null, !typed.contains(path) else { return [] }
        switch (found.kind, known.kind) {
        case (.object, .object):
            return found.members.flatMap { name, value in
                let place = path.isEmpty ? name : "\(path).\(name)"
                return known[name].map { differences(value, $0, place, typed) } ?? [place]
            }
        case (.array, .array):
            guard let element = known.elements.first else { return [] }
            return found.elements.flatMap { differences($0, element, "\(path)[]", typed) }
        // Money is a number or text, and a boolean is sometimes 0 or 1.
        case (.string, .number), (.number, .string), (.number, .boolean), (.boolean, .number): return []
        default: return found.kind == known.kind ? [] : ["\(path) is \(found.kind), not \(known.kind)"]
        }
    }
}
