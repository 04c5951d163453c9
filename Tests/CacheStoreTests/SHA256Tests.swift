import Testing

@testable import CacheStore

@Suite("SHA-256")
struct SHA256Tests {
    @Test(
        "gives the values that FIPS 180-4 and NIST's examples have",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
        ])
    func values(_ message: String, _ hash: String) {
        #expect(SHA256.hex(of: Array(message.utf8)) == hash)
    }

    @Test("pads right at every length around a block")
    func lengths() {
        let hashes = (0...130).map { SHA256.hex(of: Array(repeating: 0x61, count: $0)) }
        #expect(Set(hashes).count == 131 && hashes.allSatisfy { $0.utf8.count == 64 })
        #expect(hashes[64] == "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb")
    }
}
