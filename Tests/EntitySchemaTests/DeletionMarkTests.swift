import JSONText
import Testing

@testable import EntitySchema

@Suite("Marks of deletion")
struct DeletionMarkTests {
    @Test(
        "a value that says no marks nothing, however the server writes it",
        arguments: [
            "null", "false", "0", #""""#, #""0""#, #""false""#, #""no""#, #""0001-01-01T00:00:00Z""#,
            #""0000-00-00 00:00:00""#,
        ])
    func unset(_ value: String) throws {
        let mark = PullPlan.DeletionMark(name: "deleted")
        #expect(!mark.isSet(by: try JSONText(parsing: value)))
        #expect(!mark.isSet(by: nil))
    }

    @Test(
        "any other value marks a deletion", arguments: ["true", "1", #""2026-11-25""#, #""yes""#, #"{"reason":"x"}"#])
    func set(_ value: String) throws {
        #expect(PullPlan.DeletionMark(name: "deleted").isSet(by: try JSONText(parsing: value)))
    }
}
