import TestSupport
import Testing

@testable import EntitySchema

/// Compares the sections of docs/guides/your-own-api.md with the example schemas that they explain.
@Suite("The guide to a schema for one's own API") struct GuideTests {
    private static let sections = [
        ("Django REST Framework", "drf"), ("Rails", "rails"), ("JSON:API", "jsonapi"),
        ("An API key and forms", "api-key"),
        ("GraphQL", "graphql"), ("OData", "odata"), ("Elasticsearch", "elasticsearch"), ("PocketBase", "pocketbase"),
    ]
    private static let shared = "What all examples share"

    /// A section of the guide: the lines of YAML that it shows of an example, and the lines around them.
    private struct Section {
        var shown: [Substring] = []
        var explained: [Substring] = []

        init(_ title: String, _ example: String) throws {
            let known = try GuideTests.lines(of: example)
            let page = try ProjectFiles.text("docs/guides/your-own-api.md")
            let after = try #require(page.split(separator: "\n## \(title)\n", maxSplits: 1).dropFirst().first)
            var block: [Substring]?
            for line in try #require(after.split(separator: "\n## ", maxSplits: 1).first).split(separator: "\n") {
                switch (block, line) {
                case (nil, "```yaml"): block = []
                case (nil, _): explained.append(line)
                case (let lines?, "```"):
                    // Other blocks begin with a key of their own: the configuration, and what an example can have besides.
                    if let first = lines.first, first.hasPrefix(" ") || known.contains(first) { shown += lines }
                    block = nil
                case (let lines?, _): block = lines + [line]
                }
            }
        }

        /// Whether a word stands between backticks.
        func names(_ word: String) -> Bool {
            explained.contains { line in
                line.split(separator: "`", omittingEmptySubsequences: false).enumerated().contains { index, part in
                    index % 2 == 1 && part.split { !$0.isLetter && $0 != "_" }.contains { $0 == word }
                }
            }
        }
    }

    private static func lines(of example: String) throws -> [Substring] {
        try ProjectFiles.text("config/schemas/examples/\(example).yaml").split(separator: "\n")
    }

    @Test("a section shows its example as it is", arguments: sections + [(shared, "drf")])
    func same(_ title: String, _ example: String) throws {
        let (shown, lines) = (try Section(title, example).shown, try Self.lines(of: example))
        #expect(!shown.isEmpty)
        for line in shown { #expect(lines.contains(line), "the example has no such line: \(line)") }
    }

    @Test("a section shows all that its example says about the API", arguments: sections)
    func whole(_ title: String, _ example: String) throws {
        let shown = try Section(title, example).shown
        let upstream = try Self.lines(of: example).drop { $0 != "upstream:" }.prefix { $0 != "entities:" }.dropFirst()
        #expect(!upstream.isEmpty)
        for line in upstream { #expect(shown.contains(line), "the guide does not show: \(line)") }
    }

    @Test("each key of an example is explained, in its section or for all", arguments: sections)
    func explained(_ title: String, _ example: String) throws {
        let (section, shared) = (try Section(title, example), try Section(Self.shared, "drf"))
        let document = try YAMLValue(parsing: ProjectFiles.text("config/schemas/examples/\(example).yaml"))
        for key in Self.keys(of: try #require(document)).sorted() {
            #expect(section.names(key) || shared.names(key), "the guide does not explain \(key)")
        }
    }

    /// The words of the language in a document.
    private static func keys(of value: YAMLValue) -> Set<String> {
        var keys: Set<String> = []
        for element in value.elements ?? [] { keys.formUnion(Self.keys(of: element)) }
        for (key, value) in value.members ?? [] {
            let key = key.text ?? ""
            keys.insert(key)
            switch key {
            case "entities", "fields", "many":
                // Names, each with keys of the language.
                for (_, definition) in value.members ?? [] { keys.formUnion(Self.keys(of: definition)) }
            case "headers", "body", "query", "values", "when": break
            default: keys.formUnion(Self.keys(of: value))
            }
        }
        return keys
    }
}
