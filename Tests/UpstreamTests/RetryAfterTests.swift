import EntitySchema
import Testing

@testable import Upstream

@Suite("Retry-After")
struct RetryAfterTests {
    // Sun, 06 Nov 1994 08:49:37 GMT
    private let now = Timestamp(milliseconds: 784_111_777_000)

    @Test(
        "seconds and dates are read, never negative, never more than an hour",
        arguments: [
            ("0", 0), ("120", 120), ("99999", 3600), ("99999999999999999999", 3600),
            ("Sun, 06 Nov 1994 08:50:37 GMT", 60), ("Sun, 06 Nov 1994 08:40:00 GMT", 0),
            ("Fri, 01 Jan 2100 00:00:00 GMT", 3600),
        ])
    func reads(_ text: String, _ seconds: Int) {
        #expect(RetryAfter.delay(text, now: now) == .seconds(seconds))
    }

    @Test(
        "anything else is no delay at all",
        arguments: ["", "soon", "-1", "1.5", "1 2", "Sun, 06 Foo 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT"])
    func refuses(_ text: String) {
        #expect(RetryAfter.delay(text, now: now) == nil)
    }
}
