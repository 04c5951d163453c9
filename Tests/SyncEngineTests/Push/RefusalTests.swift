import Testing
import Upstream

@testable import SyncEngine

@Suite("Statuses that say that nothing was applied")
struct RefusalTests {
    @Test(
        "are those of requests that must be made elsewhere, or otherwise, but for those after which it may be applied",
        arguments: [
            (302, false), (303, false), (307, true), (308, true), (400, true), (403, true), (408, false), (425, false),
            (499, true), (500, false), (503, false),
        ])
    func barred(_ status: Int, _ isRefusal: Bool) {
        #expect(UpstreamError.barred(status: status, "no").isRefusal == isRefusal)
    }
}
