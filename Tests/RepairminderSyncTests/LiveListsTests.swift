import EntitySchema
import JSONText
import Synchronization
import Testing
import Upstream

@testable import repairminder_sync

@Suite("Lists of a live API")
struct LiveListsTests {
    private final class Answers: HTTPTransport {
        let body: String
        let urls = Mutex<[String]>([])

        init(_ body: String) { self.body = body }

        func send(_ request: HTTPRequest) -> HTTPResponse {
            urls.withLock { $0.append(request.url) }
            return HTTPResponse(status: 200, body: Array(body.utf8))
        }
    }

    @Test("an id that is a step to another place is not put into a path", arguments: [".", ".."])
    func steps(id: String) async {
        let transport = Answers(#"{"data":[{"id":"\#(id)","name":"x"}]}"#)
        var lists = LiveLists(address: "http://far", transport: transport, token: nil, place: .bearer)
        _ = await lists.observed(["/api/orders"])
        let paths = transport.urls.withLock { $0 }.map { $0.prefix { $0 != "?" } }
        #expect(Set(paths) == ["http://far/api/orders"])
    }
}
