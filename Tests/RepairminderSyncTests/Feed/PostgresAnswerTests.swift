import Testing

@testable import repairminder_sync

@Suite("What answers a feed in place of PostgreSQL")
struct PostgresAnswerTests {
    @Test("rows with all columns are used, and other rows are refused")
    func columns() throws {
        #expect(try PostgresConnection.Answer(rows: [["a", nil]]).rows(of: 2) == [["a", nil]])
        #expect(try PostgresConnection.Answer().rows(of: 2).isEmpty)
        for rows in [[["a"]], [["a", "b"], []], [["a", "b", "c"]]] {
            let answer = PostgresConnection.Answer(rows: rows)
            let error = #expect(throws: PostgresError.self) { _ = try answer.rows(of: 2) }
            #expect(error?.kind == .lasting)
        }
    }
}
