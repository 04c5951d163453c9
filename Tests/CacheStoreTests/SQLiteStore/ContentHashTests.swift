import SQLiteStore
import Testing

@testable import CacheStore

@Suite("Content hashes")
struct ContentHashTests {
    @Test("texts that differ in one byte, or only in length, have different hashes")
    func differ() {
        var seen: Set<UInt64> = []
        var count = 0
        for length in 0..<70 {
            let zeros = [UInt8](repeating: 0, count: length)
            for position in 0...length {
                var bytes = zeros
                if position < length { bytes[position] = 1 }
                seen.insert(ContentHash.of(bytes))
                count += 1
            }
        }
        #expect(seen.count == count)
    }

    @Test("a hash is the same in every run, so that it can be compared after a restart")
    func stable() {
        #expect(ContentHash.of(Array("{\"id\":\"a\",\"total\":129.90}".utf8)) == Self.known)
        #expect(ContentHash.of("{\"id\":\"a\",\"total\":129.90}".utf8) == Self.known)
    }

    @Test("a long text has the hash that it always had")
    func long() {
        let text = String(repeating: "{\"id\":\"a\",\"total\":129.90}", count: 9)
        #expect(ContentHash.of(Array(text.utf8)) == 6_032_387_655_833_735_805)
    }

    private static let known: UInt64 = 1_328_228_391_767_804_777
}
