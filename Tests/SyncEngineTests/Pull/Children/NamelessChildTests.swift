import TestSupport
import Testing

@testable import CacheStore
@testable import SyncEngine

@Suite("Children that come without a key")
struct NamelessChildTests {
    @Test(
        "no child is gone while its parent shows one without a usable key",
        arguments: ["null", #"{"error":"could not be loaded"}"#, #"{"id":null}"#])
    func withoutKey(_ child: String) async throws {
        let test = try TestPull("detail: { into: messages, embedded: messages }")
        func serve(_ last: String, others: Int) throws {
            let others = (0..<others).map { #"{"id":"o\#($0)"}"# }.joined(separator: ",")
            try test.upstream.serve([
                #"[{"id":"a","messages":[{"id":"m"}\#(last)]},{"id":"b","messages":[\#(others)]}]"#
            ])
        }
        try serve(#",{"id":"n"}"#, others: 10)
        try await test.pull()
        try serve(",\(child)", others: 9)
        for _ in 1...3 { try await test.pull(full: true) }
        let kept = try test.keys("messages")
        #expect(kept.contains("n") && !kept.contains("o9"), "of the other parent a child is gone")
        try serve("", others: 9)
        for _ in 1...2 { try await test.pull(full: true) }
        #expect(try test.keys("messages") == kept.filter { $0 != "n" })
    }
}
