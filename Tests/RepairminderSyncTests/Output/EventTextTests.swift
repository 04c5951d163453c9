import EntitySchema
import JSONText
import Testing

@testable import repairminder_sync

@Suite struct EventTextTests {
    private let event: JSONText = .object([
        "seq": 4, "at": "2026-11-21T10:42:03.000Z", "kind": "failed", "entity": "orders", "id": "ord_1",
        "fields": .array(["status", "notes"]),
    ])

    @Test("for people a line has the local time of day, for programs tabs and the whole time")
    func lines() throws {
        let times = TimeText(now: Timestamp(milliseconds: 0)) { _ in 3600 }
        let terminal = Presentation(width: 80, hasColours: true, times: times)
        #expect(EventText.line(event, terminal).plain == "11:42:03  failed       orders ord_1  status, notes\n")
        #expect(EventText.line(event, terminal).painted.contains("\u{1B}[31mfailed"))
        #expect(
            EventText.line(event, .programs).plain
                == "2026-11-21T10:42:03.000Z\tfailed\torders\tord_1\tstatus, notes\n")
    }
}
