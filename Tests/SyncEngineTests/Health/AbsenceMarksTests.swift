import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import SyncEngine

@Suite("Records that one read lacked")
struct AbsenceMarksTests {
    private let start = Timestamp.sample
    private let name = RecordName(entity: "orders", key: "a")
    private let known = JSONText.object(members: [("id", .string("a"))])

    @Test("an absence counts when it is seen again after the time to settle, and is then forgotten")
    func again() {
        let marks = AbsenceMarks()
        #expect(!marks.confirms(name, known: known, at: start, after: .seconds(60)))
        #expect(!marks.confirms(name, known: known, at: start + .seconds(59), after: .seconds(60)))
        #expect(marks.confirms(name, known: known, at: start + .seconds(60), after: .seconds(60)))
        #expect(!marks.confirms(name, known: known, at: start + .seconds(61), after: .seconds(60)))
    }

    @Test("a record that was found starts again, and without a time to settle one absence is enough")
    func found() {
        let marks = AbsenceMarks()
        #expect(!marks.confirms(name, known: known, at: start, after: .seconds(60)))
        marks.forget(name)
        #expect(!marks.confirms(name, known: known, at: start + .seconds(60), after: .seconds(60)))
        #expect(marks.confirms(RecordName(entity: "orders", key: "b"), known: known, at: start, after: .zero))
    }

    @Test("an absence after another version has come in between is the first one")
    func changed() {
        let marks = AbsenceMarks()
        let changed = JSONText.object(members: [("id", .string("a")), ("status", .string("ready"))])
        #expect(!marks.confirms(name, known: known, at: start, after: .seconds(60)))
        #expect(!marks.confirms(name, known: changed, at: start + .seconds(60), after: .seconds(60)))
        #expect(!marks.confirms(name, known: changed, at: start + .seconds(119), after: .seconds(60)))
        #expect(marks.confirms(name, known: changed, at: start + .seconds(120), after: .seconds(60)))
    }

    @Test("those that were lacking longest are due first, and no more than a thousand are kept")
    func due() {
        let marks = AbsenceMarks()
        for second in (1...1001).reversed() {
            _ = marks.confirms(
                RecordName(entity: "orders", key: "\(second)"), known: known, at: start + .seconds(second),
                after: .seconds(60))
        }
        let due = marks.due(2, at: start + .seconds(63), after: .seconds(60)).map(\.key)
        #expect(due == ["2", "3"], "the last one did not fit")
        #expect(marks.due(2000, at: start + .seconds(9999), after: .seconds(60)).count == 1000)
    }
}
