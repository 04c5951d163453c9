import Testing

@testable import Upstream

@Suite struct WireMeterTests {
    @Test("a body that comes three bytes at a time, each in a chunk and a record of TLS, is not too much")
    func smallPieces() {
        let pieces = 100 << 20
        #expect(!WireMeter.isTooMuch(received: pieces * (3 + 5 + 29), body: pieces * 3, after: .seconds(60)))
    }

    @Test("a day of silence with a ping each second is not too much")
    func pings() {
        #expect(!WireMeter.isTooMuch(received: 86_400 * 100, body: 0, after: .seconds(86_400)))
    }

    @Test("what the kernel has received ahead is not too much")
    func ahead() {
        #expect(!WireMeter.isTooMuch(received: 6 << 20, body: 0, after: .zero))
    }

    @Test("hundreds of megabytes around a few bytes are too much, also over hours")
    func flood() {
        #expect(WireMeter.isTooMuch(received: 500 << 20, body: 1000, after: .seconds(60)))
        #expect(WireMeter.isTooMuch(received: 500 << 30, body: 1 << 20, after: .seconds(3600)))
    }
}
