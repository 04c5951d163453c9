import Testing

@testable import SyncEngine

@Suite("A list that disagrees with itself")
struct ListGapTests {
    @Test("it is counted up to enough, whatever was noted before")
    func counted() throws {
        let gap = try #require(ListGap(total: 1, repeated: []))
        #expect(gap.noted(after: nil) == (text: "1 1/0/0", times: 1))
        #expect(gap.noted(after: "2 1/0/0") == (text: "3 1/0/0", times: 3))
        #expect(gap.noted(after: "2 2/0/0").times == 1)
        #expect(gap.noted(after: "\(Int.max) 1/0/0").times == ListGap.enough)
    }
}
