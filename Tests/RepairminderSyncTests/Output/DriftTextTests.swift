import JSONText
import Testing

@testable import repairminder_sync

@Suite struct DriftTextTests {
    @Test("drift has a row per mismatch, and records set aside have their own table")
    func report() throws {
        let answer = try JSONText(
            parsing: #"""
                {"data":[{"entity":"orders","field":"colour","kind":"unknown","expected":null,"found":"string","count":3,
                "example":"a","first_seen":"x","last_seen":"2026"}],
                "set_aside":[{"entity":"orders","record":{"total":2},"at":"2026"}]}
                """#)
        #expect(
            DriftText.report(answer, .programs) { $0.rendered(.programs) }.plain == """
                entity\tfield\tkind\texpected\tfound\tcount\texample\tlast_seen
                orders\tcolour\tunknown\t\tstring\t3\ta\t2026

                set aside because they have no usable key:
                entity\tat\trecord
                orders\t2026\t{"total":2}

                """)
    }

    @Test("without drift, a message says so")
    func none() {
        let answer = JSONText.object(["data": .array([]), "set_aside": .array([])])
        #expect(
            DriftText.report(answer, .programs) { $0.rendered(.programs) }.plain
                == "no drift: records match the schema\n")
    }

    @Test("no text in the status becomes a line of its own, which would look like another fact")
    func forgedFact() throws {
        let status = try JSONText(
            parsing: #"{"state":"error","error":"gone\npending\t0\r\u2028failed\t0","pending":3}"#)
        #expect(StatusText.summary(status) == "state\terror\nerror\tgone pending 0  failed 0\npending\t3\n")
    }

    @Test("the status shows drift only if there is some")
    func status() throws {
        let some = try JSONText(parsing: #"{"state":"idle","drift":2,"set_aside":1}"#)
        #expect(StatusText.summary(some) == "state\tidle\ndrift\t2\nset aside\t1\n")
        let none = try JSONText(parsing: #"{"state":"idle","drift":0,"set_aside":0}"#)
        #expect(StatusText.summary(none) == "state\tidle\n")
    }
}
