import CacheStore
import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import SyncEngine

@Suite("Looking up a lost creation by values that many records have")
struct LookUpByStateTests {
    private static let fields = """
        notes: { type: string }
              kind: { type: enum, default: { value: sale, send: true }, values: { sale: Sale, refund: Refund } }
              boxed: { type: boolean }
              total: { type: money }
              pieces: { type: integer, default: { value: 1, send: true } }
              refund_of: { type: reference, to: orders }
              remark: { type: string, write_only: true }
        """

    /// The finding for a creation with these members, sent two minutes ago, when the list shows these records.
    private func finding(
        _ sent: String, _ listed: [String], match: String = "kind, refund_of, boxed, pieces",
        errorClass: ErrorClass? = nil
    ) async throws -> CreateReconciler.Finding {
        let test = try TestPull(create: "call: POST /orders, look_up: { match: [\(match)] }") {
            $0.replacing("notes: { type: string }", with: Self.fields)
        }
        try test.upstream.serveSingles(of: "[]")
        try test.upstream.serve(["[\(listed.joined(separator: ","))]"])
        var change = try await test.lostCreation(JSONText(parsing: sent))
        change.errorClass = errorClass
        return try await test.lookUp(change)
    }

    private let mine = #"{"kind":"refund","notes":"mine","total":9.5}"#
    private let own =
        #"{"id":"b","kind":"refund","notes":"mine","total":9.5,"boxed":false,"pieces":1,"refund_of":null}"#
    private let others =
        #"{"id":"a","kind":"refund","notes":"theirs","total":80,"boxed":false,"pieces":1,"refund_of":null}"#

    @Test("a record that is like it only in them, and has other values in what else was sent, is left to a person")
    func others() async throws {
        let doubt = try await finding(mine, [others]).doubt
        #expect(doubt?.contains("may be this one: a") == true)
        let full = #"{"kind":"refund","refund_of":"z","boxed":true,"notes":"mine"}"#
        let theirs = #"{"id":"a","kind":"refund","refund_of":"z","boxed":true,"pieces":1,"notes":"theirs"}"#
        #expect(try await finding(full, [theirs]).doubt != nil, "though the creation sent a value in each")
    }

    @Test("a record that has all else that was sent is the created one, also after another that is like it in them")
    func own() async throws {
        for list in [[own], [others, own], [own, others]] {
            #expect(try await finding(mine, list).key == "b")
        }
        #expect(try await finding(#"{"kind":"refund"}"#, [own]).key == "b", "nothing else was sent")
    }

    @Test("what the record does not show decides nothing if the creation sent a value in each compared field")
    func hidden() async throws {
        let listed = #"{"id":"a","kind":"refund","boxed":true,"pieces":1}"#
        let part = #"{"kind":"refund","boxed":true,"remark":"r"}"#
        #expect(try await finding(part, [listed]).doubt != nil)
        #expect(try await finding(part, [listed], match: "kind, boxed").key == "a")
        #expect(try await finding(#"{"kind":"refund","boxed":true}"#, [listed]).key == "a", "nothing else was sent")
    }

    @Test("one value of which few records have the same is enough, though the server changed others")
    func told() async throws {
        #expect(try await finding(mine, [others], match: "kind, total").isAbsent)
        let changed = own.replacing("9.5", with: "-9.5")
        #expect(try await finding(mine, [changed], match: "kind, notes").key == "b")
        let counted = #"{"kind":"refund","pieces":3,"notes":"mine"}"#
        #expect(try await finding(counted, [others.replacing("\"pieces\":1", with: "\"pieces\":3")]).key == "a")
        #expect(try await finding(mine, [others.replacing("refund\"", with: "sale\"")]).isAbsent)
    }

    @Test("a record with all that was sent but the only compared value, or that in another unit, is left to a person")
    func changedAlone() async throws {
        func finding(_ total: Double, _ notes: String) async throws -> CreateReconciler.Finding {
            let listed = #"{"id":"b","kind":"refund","pieces":3,"notes":"\#(notes)","total":\#(total)}"#
            return try await self.finding(
                #"{"kind":"refund","pieces":3,"notes":"mine","total":9.5}"#, [listed], match: "total")
        }
        #expect(try await finding(7, "mine").doubt != nil)
        #expect(try await finding(950, "theirs").doubt != nil)
        #expect(try await finding(7, "theirs").isAbsent)
    }

    @Test("a record that was last changed over a minute before the attempt is left to a person")
    func older() async throws {
        for (seconds, isOwn) in [(110, true), (170, true), (190, false)] {
            let time = ManualClock().timestamp - .seconds(seconds)
            let listed = own.replacing("\"id\":\"b\"", with: "\"id\":\"b\",\"updated_at\":\"\(time)\"")
            let finding = try await finding(mine, [listed])
            #expect(isOwn ? finding.key == "b" : finding.doubt != nil, "\(seconds)")
        }
    }

    @Test("of a creation that the upstream has accepted, the only record that may be it is the created one")
    func accepted() async throws {
        let more = others.replacing("\"id\":\"a\"", with: "\"id\":\"c\"")
        #expect(try await finding(mine, [others], errorClass: .accepted).key == "a")
        #expect(try await finding(mine, [others, more], errorClass: .accepted).doubt != nil)
        #expect(try await finding(mine, [others, own], errorClass: .accepted).key == "b")
    }

    @Test("of a creation that the upstream has accepted, the only record with a trimmed text is the created one")
    func acceptedAndTrimmed() async throws {
        let sent = #"{"kind":"refund","notes":" mine "}"#
        let more = own.replacing("\"id\":\"b\"", with: "\"id\":\"c\"")
        #expect(try await finding(sent, [own], match: "notes", errorClass: .accepted).key == "b")
        #expect(try await finding(sent, [own, more], match: "notes", errorClass: .accepted).doubt != nil)
        #expect(try await finding(sent, [own], match: "notes").doubt != nil, "its answer was lost")
    }
}
