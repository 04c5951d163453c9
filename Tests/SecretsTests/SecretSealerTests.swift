import JSONText
import Testing

@testable import Secrets

@Suite("Sealing secrets")
struct SecretSealerTests {
    private let passcode = SecretField(entity: "devices", field: "passcode")

    private func sealer(_ byte: UInt8 = 1) throws -> SecretSealer {
        try #require(SecretSealer(key: Array(repeating: byte, count: 32)))
    }

    @Test(
        "a sealed value opens byte for byte",
        arguments: [
            #""1234""#, #""""#, "129.90", "true", #"{"a": [1, "\u00e9"]}"#, #""sealed:1:AAAA""#,
            "\"" + String(repeating: "x", count: 1000) + "\"",
        ])
    func roundTrip(_ text: String) throws {
        let value = try JSONText(parsing: text)
        let sealed = try sealer().seal(value, of: passcode)
        #expect(sealed.string?.hasPrefix("sealed:1:") == true)
        #expect(sealed != value)
        #expect(try sealer().open(sealed, of: passcode) == value)
    }

    @Test("null stays null")
    func null() throws {
        #expect(try sealer().seal(.null, of: passcode) == .null)
        #expect(try sealer().open(.null, of: passcode) == .null)
    }

    @Test("equal values give equal text, but not in another field or with another key")
    func deterministic() throws {
        let other = SecretField(entity: "devices", field: "pin")
        let sealed = try sealer().seal("1234", of: passcode)
        #expect(try sealer().seal("1234", of: passcode) == sealed)
        let texts = [
            sealed, try sealer().seal("1235", of: passcode), try sealer().seal(1234, of: passcode),
            try sealer().seal("1234", of: other), try sealer(2).seal("1234", of: passcode),
        ]
        #expect(Set(texts.map(\.text)).count == texts.count)
    }

    @Test("no two of ten thousand values share a nonce")
    func nonces() throws {
        let sealer = try sealer()
        let nonces = try (0..<10_000).map { try sealer.seal(.integer($0), of: passcode).text.prefix(9 + 17) }
        #expect(Set(nonces).count == nonces.count)
    }

    @Test("a proof holds for its own text and key only")
    func proofs() throws {
        let proof = try sealer().proof(of: [1, 2])
        #expect(try sealer().isProof(proof, of: [1, 2]))
        #expect(try !sealer().isProof(proof, of: [1, 3]))
        #expect(try !sealer(2).isProof(proof, of: [1, 2]))
        #expect(try !sealer().isProof(sealer().fingerprint(of: [1, 2]), of: [1, 2]))
        #expect(try !sealer().isProof("no base64", of: [1, 2]))
    }

    @Test("short values have the same sealed length")
    func length() throws {
        let lengths = try ["", "1", "123456", "a longer pass phrase"].map {
            try sealer().seal(.string($0), of: passcode).bytes.count
        }
        #expect(Set(lengths).count == 1)
    }

    @Test("text does not open with another key or field, or when altered or not sealed")
    func refused() throws {
        let sealed = try sealer().seal("1234", of: passcode)
        #expect(try sealer(2).open(sealed, of: passcode) == nil)
        #expect(try sealer().open(sealed, of: SecretField(entity: "devices", field: "pin")) == nil)
        let text = try #require(sealed.string)
        for index in text.indices.dropFirst(9) where text[index] != "=" {
            var altered = text
            altered.replaceSubrange(index...index, with: text[index] == "A" ? "B" : "A")
            #expect(try sealer().open(.string(altered), of: passcode) != .string("1234") || altered == text)
        }
        for clear: JSONText in ["1234", "sealed:1:", "sealed:1:AAAA", 1234, .object([:])] {
            #expect(try sealer().open(clear, of: passcode) == nil)
        }
    }

    @Test("a key of another length is rejected", arguments: [0, 16, 31, 33])
    func length(_ count: Int) {
        #expect(SecretSealer(key: Array(repeating: 1, count: count)) == nil)
    }

    @Test("a key is identified by its mark")
    func mark() throws {
        #expect(try sealer().mark == sealer().mark)
        #expect(try sealer().mark != sealer(2).mark)
    }

    @Test("a fingerprint is equal for equal text, and differs for another text or key")
    func fingerprint() throws {
        let text = Array("a request".utf8)
        #expect(try sealer().fingerprint(of: text) == sealer().fingerprint(of: text))
        #expect(try sealer().fingerprint(of: text) != sealer().fingerprint(of: text + [0]))
        #expect(try sealer().fingerprint(of: text) != sealer(2).fingerprint(of: text))
    }
}
