import SocketServer
import Testing

@testable import LocalAPIServer

@Suite("The pages of lists that were answered")
struct AnsweredListsTests {
    private static let request = Request(method: "GET", path: "/v1/orders", query: "limit=1000", headers: Headers())

    private static func page(_ count: Int, room: Int = 0) -> Response {
        var bytes = [UInt8](repeating: 0x20, count: count)
        bytes.reserveCapacity(room)
        return .json(200, bytes)
    }

    private static func kept(_ lists: AnsweredLists, at moment: UInt64) -> [UInt8]? {
        guard case .bytes(let bytes) = lists.answer(to: request, at: moment)?.body else { return nil }
        return bytes
    }

    @Test("a short page is kept without the room that its list could have filled, and a long one is not kept")
    func room() throws {
        let lists = AnsweredLists()
        lists.keep(Self.page(100_000), to: Self.request, at: 2)
        #expect(Self.kept(lists, at: 2) == nil)
        lists.keep(Self.page(100, room: 800_000), to: Self.request, at: 2)
        let bytes = try #require(Self.kept(lists, at: 2))
        #expect(bytes.count == 100 && bytes.capacity < 1000)
    }

    @Test("a page is answered only at the moment at which it was read, and an older one replaces none")
    func moments() {
        let lists = AnsweredLists()
        lists.keep(Self.page(1), to: Self.request, at: 4)
        lists.keep(Self.page(2), to: Self.request, at: 2)
        #expect(Self.kept(lists, at: 4)?.count == 1)
        #expect(Self.kept(lists, at: 2) == nil && Self.kept(lists, at: 6) == nil)
        lists.keep(Self.page(3), to: Self.request, at: 6)
        #expect(Self.kept(lists, at: 4) == nil && Self.kept(lists, at: 6)?.count == 3)
    }
}
