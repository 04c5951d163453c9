import Foundation
import Glibc
import Testing

@testable import repairminder_sync

@Suite("The memory of a command that root runs on another user's files")
struct MemoryLimitTests {
    private static var current: UInt64 {
        var limit = rlimit()
        _ = getrlimit(__rlimit_resource_t(RLIMIT_DATA.rawValue), &limit)
        return UInt64(limit.rlim_cur)
    }

    @Test("is half of the machine's, and enough for every command on a small machine")
    func share() {
        #expect(ProcessLimit.share(ofPhysical: 8 << 30) == 4 << 30)
        #expect(ProcessLimit.share(ofPhysical: 256 << 20) == 512 << 20)
        #expect(ProcessLimit.share(ofPhysical: 0) == 512 << 20)
        #expect(ProcessLimit.memoryOfThisMachine >= 512 << 20)
    }

    @Test("stays lower where it is lower already")
    func lower() {
        // So high that the other tests of this process do not notice.
        let high: UInt64 = min(Self.current, 1 << 62)
        ProcessLimit.memory(high)
        #expect(Self.current == high)
        ProcessLimit.memory(high + (1 << 30))
        #expect(Self.current == high)
    }
}
