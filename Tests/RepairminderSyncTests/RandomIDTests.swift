import Foundation
import Glibc
import Testing

@testable import repairminder_sync

@Suite("Random ids")
struct RandomIDTests {
    @Test("they are random UUIDs in lower case, of version 4")
    func form() throws {
        for _ in 0..<100 {
            let id = RandomID.make()
            let uuid = try #require(UUID(uuidString: id))
            #expect(uuid.uuidString.lowercased() == id)
            #expect(uuid.uuid.6 >> 4 == 4 && uuid.uuid.8 >> 6 == 2)
        }
        #expect(Set((0..<100).map { _ in RandomID.make() }).count == 100)
    }

    @Test("they differ even where no file can be opened, because the upstream takes changes with the same key for one")
    func withoutDescriptors() async {
        await #expect(processExitsWith: .success) {
            var limit = rlimit(rlim_cur: 0, rlim_max: 0)
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            guard open("/dev/urandom", O_RDONLY) < 0 else { exit(3) }
            guard Set((0..<3).map { _ in RandomID.make() }).count == 3 else { exit(4) }
        }
    }
}
