import EntitySchema
import JSONText
import SQLiteStore
import Testing

@testable import CacheStore

@Suite("Full-text search")
struct SearchTests {
    private static let people = #"""
        [{"id":"a","name":"Zoë O'Brien","phone":"+44 7700 900-123","notes":"Smith's sister","pin":"4711"},
         {"id":"b","name":"Åsa Smith","phone":"020 7946 0999","notes":null,"extra":{"rank":"gold"}},
         {"id":"c","name":"Bob Smithers","phone":null,"notes":"pays in cash, Ünter den Linden 5"}]
        """#

    private func filled() async throws -> TestCache {
        let cache = try TestCache(schema: SearchShop.schema)
        _ = try await cache.pull("clients", Self.people)
        return cache
    }

    @Test(
        "words match in any field, ignoring accents and case, the last one by prefix",
        arguments: [
            ("zoe", ["a"]), ("ZOË", ["a"]), ("zoe\u{308}", ["a"]), ("u\u{308}nte\u{301}", ["c"]), ("asa", ["b"]),
            ("smith", ["a", "b", "c"]), ("smithe", ["c"]),
            ("smith bob", []), ("bob smith", ["c"]), ("o'brien", ["a"]), ("o'br", ["a"]), ("zoe sister", ["a"]),
            ("unter linden", ["c"]), ("den unter", ["c"]), ("gold", ["b"]), ("smith b", []), ("absent", []),
        ])
    func words(_ text: String, _ keys: [String]) async throws {
        #expect(try await filled().found(text) == keys)
    }

    @Test("the first 65,536 characters of a value are searched", arguments: [(65_530, ["d"]), (65_536, [])])
    func long(before: Int, keys: [String]) async throws {
        let cache = try await filled()
        let notes = String(repeating: "é ", count: before / 2) + "needle"
        _ = try await cache.pull("clients", #"[{"id":"d","notes":"\#(notes)"}]"#)
        #expect(try await cache.found("needle") == keys)
    }

    @Test(
        "a text of which only the beginning is searched can change, and leaves no word behind",
        arguments: ["notes", "phone"])
    func longChanges(_ field: String) async throws {
        let cache = try await filled()
        for word in ["1234quokka", "5678wombat", "9012numbat"] {
            let text = String(repeating: "\(word) ", count: 30_000)
            _ = try await cache.pull("clients", #"[{"id":"d","\#(field)":"\#(text)"}]"#)
            #expect(try await cache.found(word) == ["d"])
        }
        #expect(try await cache.found("1234quokka") == [])
        _ = try await cache.pull("clients", #"[{"id":"d","\#(field)":"short"}]"#)
        #expect(try await cache.found("9012numbat") == [])
    }

    @Test(
        "a number is found by any part of it, whatever the spacing of either",
        arguments: [
            ("900123", ["a"]), ("+44 7700 900-123", ["a"]), ("(7700) 900", ["a"]), ("7946", ["b"]),
            ("zoe 900123", ["a"]),
            ("900123 zoe", ["a"]), ("7700 0123", ["a"]), ("bob 900123", []), ("90", []), ("12", []),
        ])
    func numbers(_ text: String, _ keys: [String]) async throws {
        #expect(try await filled().found(text) == keys)
    }

    @Test(
        "a search text is never interpreted as syntax",
        arguments: [
            "\"smith\"", "smith*", "smith OR bob", "NEAR(smith bob)", "name:smith", "{name}:smith", "smith AND",
            "-smith",
            "^smith", "sm\"ith", "sm\"\u{308}ith", "'; DROP TABLE x", "smith\0bob", "👍 smith", "🇬🇧🇬🇧", "ab", "ß",
            "smi%", "((((", "\"\"\"\"",
            String(repeating: "smith ", count: 20), String(repeating: "x", count: 200), "e\u{301}e\u{301}", "½½ 一二",
        ])
    func hostile(_ text: String) async throws {
        let cache = try await filled()
        do throws(CacheError) {
            _ = try SearchQuery(text)
        } catch {
            guard case .badQuery(field: "q", _) = error else { throw error }
            return
        }
        _ = try await cache.found(text)
        _ = try await cache.hits(text)
    }

    @Test("a quotation mark or an operator does not change what is found")
    func quoted() async throws {
        let cache = try await filled()
        #expect(try await cache.found("\"zoe\"") == ["a"])
        #expect(try await cache.found("zoe OR bob") == [])
        #expect(try await cache.found("name:zoe") == [])
        #expect(try await cache.found("zoe*") == ["a"])
    }

    @Test(
        "a text that is too short, too long, or without letters and digits is refused",
        arguments: ["", " ", "a", "***", "a 😀", "😀", "Å", "\0", String(repeating: "e\u{301}", count: 5000)]
            + [String(repeating: "a b ", count: 11)])
    func refused(_ text: String) {
        #expect(throws: CacheError.self) { try SearchQuery(text) }
    }

    @Test("search combines with filters, order, cursor and count")
    func lists() async throws {
        let cache = try await filled()
        var query = ListQuery(
            entity: "clients", sort: [SortTerm(field: "name", descending: true)], limit: 1, count: true)
        query.search = try SearchQuery("smith")
        var names: [String] = []
        repeat {
            let page = try cache.store.list(query)
            #expect(page.total == 3)
            names += try JSONText(page.records).elements.compactMap { $0["id"]?.string }
            query.cursor = page.next
        } while query.cursor != nil
        #expect(names == ["b", "a", "c"])
        query.filters = [.init(field: "rank", comparison: .equal, values: ["gold"])]
        #expect(try cache.keys(query) == ["b"])
        let cursor = try cache.store.list(ListQuery(entity: "clients", limit: 1)).next
        var other = ListQuery(entity: "clients", limit: 1, cursor: cursor)
        other.search = try SearchQuery("smith")
        #expect(throws: CacheError.self) { try cache.store.list(other) }
    }

    @Test("an entity without searchable fields is refused, and one with only numbers is searched by them")
    func otherEntities() async throws {
        let cache = try await filled()
        await #expect(throws: CacheError.self) { try await cache.found("red", in: "colours") }
        await #expect(throws: CacheError.self) { try await cache.hits("red", in: ["colours"]) }
        _ = try await cache.pull("parts", #"[{"id":"p","code":"AB-12/34 x"}]"#)
        #expect(try await cache.found("b1234", in: "parts") == ["p"])
        #expect(try await cache.found("12/3 35x", in: "parts") == [])
        #expect(try await cache.found("b12 34x", in: "parts") == ["p"])
        #expect(try await cache.found("red b12", in: "parts") == [])
        #expect(try await cache.hits("1234").map(\.key) == ["p"])
    }

    // MARK: Across entities

    @Test("matches in the title come first, whole words before prefixes, then the newest")
    func order() async throws {
        let cache = try await filled()
        #expect(try await cache.hits("smith").map(\.key) == ["b", "c", "a"])
        _ = try await cache.pull("clients", #"[{"id":"d","name":"Ann Smith"}]"#)
        _ = try await cache.pull("devices", #"[{"id":"x","model":"Smith Corona"},{"id":"y","model":"Smithy"}]"#)
        #expect(try await cache.hits("smith").map(\.key) == ["d", "x", "b", "c", "y", "a"])
        #expect(try await cache.hits("smith", limit: 2).map(\.key) == ["d", "x"])
        #expect(try await cache.hits("smith", in: ["devices"]).map(\.key) == ["x", "y"])
    }

    @Test("a hit has a title and shows the match, in words and in numbers")
    func snippets() async throws {
        let cache = try await filled()
        _ = try await cache.pull(
            "devices", #"[{"id":"x","model":"Pad","pin":"4711","serial":"DN PX-4711"}]"#)
        #expect(
            try await cache.hits("zoe") == [
                SearchHit(entity: "clients", key: "a", title: "Zoë O'Brien", snippet: "«Zoë» O'Brien")
            ]
        )
        #expect(try await cache.hits("900123").first?.snippet == "+44 7700 «900-123»")
        #expect(try await cache.hits("zoe 77009").first?.snippet == "+44 «7700 9»00-123")
        let device = try #require(try await cache.hits("px47").first)
        #expect(device.title == "Pad" && device.snippet == "DN «PX-47»11")
    }

    @Test("a part of a long number is looked for as far as a snippet shows the number")
    func longNumber() async throws {
        let cache = try await filled()
        func number(_ before: Int) -> String { String(repeating: "7", count: before) + "0123" }
        _ = try await cache.pull("clients", #"[{"id":"d","name":"Long","phone":"\#(number(900))"}]"#)
        #expect(try await cache.hits("70123").first?.snippet == String(repeating: "7", count: 899) + "«70123»")
        _ = try await cache.pull("clients", #"[{"id":"d","name":"Long","phone":"\#(number(2000))"}]"#)
        #expect(try await cache.hits("70123").map(\.key) == ["d"])
        #expect(try await cache.hits("70123").first?.snippet == "")
    }

    @Test("a long title and a long snippet are cut")
    func longTitle() async throws {
        let cache = try TestCache(schema: SearchShop.schema)
        _ = try await cache.pull("clients", #"[{"id":"a","name":"Zoë \#(String(repeating: "é", count: 3000))"}]"#)
        let hit = try #require(try await cache.hits("zoe").first)
        #expect(hit.title.hasPrefix("Zoë é") && hit.title.hasSuffix("é…") && (190...200).contains(hit.title.utf8.count))
        #expect(hit.snippet.hasPrefix("«Zoë» é") && hit.snippet.utf8.count <= 1000)
    }

    @Test("a prefix finds every word that begins with it, few or many, and only those", arguments: [1, 4, 5, 12])
    func prefixes(_ count: Int) async throws {
        let cache = try TestCache(schema: SearchShop.schema)
        let words = (0..<count).map { "smith\(String(repeating: "e", count: $0))" } + ["smit", "smiti", "smjth"]
        let records = words.enumerated().map { #"{"id":"k\#($0 + 10)","name":"Zoe \#($1)"}"# }
        _ = try await cache.pull("clients", "[\(records.joined(separator: ","))]")
        let keys = (0..<count).map { "k\($0 + 10)" }
        #expect(try await cache.found("smith") == keys)
        #expect(try await cache.found("zoe SMITH") == keys)
        #expect(try await cache.hits("smith").map(\.key).sorted() == keys)
        #expect(try await cache.hits("smith").first?.snippet == "Zoe «\(words[0])»")
        #expect(try await cache.found("sm").count == count + 3)
        #expect(try await cache.found("smithx").isEmpty)
    }

    @Test("of a long text the part around the match is shown, whatever its letters", arguments: ["Ünter", "Unter"])
    func longTexts(_ word: String) async throws {
        let cache = try TestCache(schema: SearchShop.schema)
        let text = "one two three four five six seven eight nine ten \(word) den Linden, for ever and a day as well"
        _ = try await cache.pull("clients", #"[{"id":"a","name":"Ada","notes":"\#(text)"}]"#)
        #expect(
            try await cache.hits("unter linden").map(\.snippet) == [
                "…seven eight nine ten «\(word)» den «Linden», for ever and a day…"
            ])
        #expect(try await cache.hits("one").map(\.snippet).first?.hasPrefix("«one» two ") == true)
        #expect(try await cache.hits("as well").map(\.snippet).first?.hasSuffix(" «as» «well»") == true)
    }

    @Test("secrets are neither found nor shown")
    func secrets() async throws {
        #expect(try await filled().hits("4711").isEmpty)
    }
}
