import EntitySchema
import Testing

@testable import SyncEngine

@Suite("Why the upstream refuses a record")
struct RefusedMessageTests {
    @Test("of a long message the beginning is remembered")
    func long() {
        let reads = RefusedReads()
        let name = RecordName(entity: "orders", key: "a")
        let message = String(repeating: "m", count: 60_000)
        let start = Timestamp(milliseconds: 0)
        for time in [start, start + .seconds(3600)] { reads.note(name, message, at: time) }
        #expect(reads.reason(name, at: start + .seconds(3601))?.utf8.count == 1000)
    }
}
