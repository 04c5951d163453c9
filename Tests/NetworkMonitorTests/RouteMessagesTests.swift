import CLinux
import Testing

@testable import NetworkMonitor

@Suite("Route messages")
struct RouteMessagesTests {
    private func message(_ type: Int, _ payload: [UInt8] = [], length: Int? = nil) -> [UInt8] {
        func bytes(_ value: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }
        let header = bytes(UInt32(length ?? 16 + payload.count)) + bytes(UInt16(type)) + bytes(UInt16(0))
        let padding = [UInt8](repeating: 0, count: (4 - payload.count % 4) % 4)
        return header + bytes(UInt32(1)) + bytes(UInt32(0)) + payload + padding
    }

    private func reportsChange(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes { RouteMessages.reportsChange($0) } }

    @Test(
        "added and removed links, addresses and routes are changes",
        arguments: [RTM_NEWLINK, RTM_DELLINK, RTM_NEWADDR, RTM_DELADDR, RTM_NEWROUTE, RTM_DELROUTE])
    func changes(type: Int) {
        #expect(reportsChange(message(type, [UInt8](repeating: 0, count: 16))))
    }

    @Test("a change after other messages is found, even after an unaligned length")
    func second() {
        let other = message(Int(RTM_NEWNEIGH), [1, 2, 3, 4, 5])
        #expect(!reportsChange(other))
        #expect(reportsChange(other + message(RTM_DELADDR)))
    }

    @Test("a wireless scan is not a change")
    func wireless() {
        let link = [UInt8](repeating: 0, count: 16)
        #expect(!reportsChange(message(RTM_NEWLINK, link + [6, 0, UInt8(IFLA_WIRELESS), 0, 9, 9])))
        #expect(reportsChange(message(RTM_NEWLINK, link + [6, 0, UInt8(IFLA_MTU), 0, 9, 9])))
    }

    @Test("invalid lengths are ignored", arguments: [0, 1, 15, 17, 1 << 31])
    func broken(length: Int) {
        #expect(!reportsChange(message(RTM_DELADDR, length: length)))
    }

    @Test("arbitrary bytes never cause an out-of-bounds read")
    func random() {
        let seed = UInt64.random(in: .min ... .max)
        var state = seed
        for _ in 0..<10_000 {
            let bytes = (0..<Int(state % 64)).map { _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                // Small numbers are plausible lengths and types.
                return state >> 60 > 7 ? UInt8(truncatingIfNeeded: state >> 40) % 33 : 0
            }
            state &+= 1
            _ = reportsChange(bytes)
        }
        print("random messages with seed \(seed)")
    }
}
