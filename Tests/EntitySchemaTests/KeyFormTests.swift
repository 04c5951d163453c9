import Testing

@testable import EntitySchema

@Suite("What keys of new records look like")
struct KeyFormTests {
    @Test(
        "a pattern is characters and how many",
        arguments: [
            ("[a-z0-9]{15}", "0123456789abcdefghijklmnopqrstuvwxyz", 15), ("[0-9a-f]{24}", "0123456789abcdef", 24),
            ("[A-Za-z0-9_-]{22}", "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz", 22),
            ("[A-z]{20}", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", 20),
        ])
    func patterns(_ pattern: String, _ alphabet: String, _ length: Int) throws {
        #expect(try #require(KeyForm(pattern: pattern)) == .text(alphabet: Array(alphabet), length: length))
    }

    @Test(
        "what is no such pattern, or makes too few keys, is none",
        arguments: [
            "", "[a-z]", "[a-z]{3}", "a{40}", "[aaaa]{40}", "[z-a]{30}", "[a b]{60}", "[a-z0-9]{101}", "[a-z]+",
        ])
    func refused(_ pattern: String) {
        #expect(KeyForm(pattern: pattern) == nil)
    }

    @Test("100,000 random texts make as many keys, with each character about as often")
    func differ() throws {
        let form = try #require(KeyForm(pattern: "[a-z0-9]{15}"))
        var (keys, counts) = (Set<String>(), [Character: Int]())
        for number in 0..<100_000 {
            let key = form.key(from: "2f1c9d54-0000-4000-8000-\(number)")
            #expect(form.accepts(key))
            keys.insert(key)
            for character in key { counts[character, default: 0] += 1 }
        }
        #expect(keys.count == 100_000)
        let expected = 100_000.0 * 15 / 36
        #expect(counts.count == 36 && counts.values.allSatisfy { abs(Double($0) - expected) < expected * 0.05 })
    }

    @Test("the same text makes the same key")
    func repeats() throws {
        let form = try #require(KeyForm(pattern: "[a-z0-9]{15}"))
        #expect(form.key(from: "abc") == form.key(from: "abc"))
        #expect(KeyForm.server.key(from: "abc") == "abc")
    }
}
