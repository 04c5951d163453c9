import JSONText
import Testing

@testable import repairminder_sync

@Suite("Places in an answer")
struct PlaceSearchTests {
    @Test("values near the top come first, four levels deep")
    func levels() throws {
        let answer = try JSONText(parsing: #"{"a":{"b":{"c":{"d":{"e":1}}}},"x":2}"#)
        let places = PlaceSearch(answer).values.map(\.place)
        #expect(places == ["", "a", "x", "a.b", "a.b.c", "a.b.c.d"])
    }

    @Test("only so many values are looked at, however many an object has")
    func many() throws {
        let members = (0..<5000).map { "\"m\($0)\":{\"n\":1}" }.joined(separator: ",")
        let answer = try JSONText(parsing: "{\(members)}")
        #expect(PlaceSearch(answer).values.count <= 2000)
    }

    @Test("a member whose name is longer than any is left out")
    func longNames() throws {
        let name = String(repeating: "n", count: 2000)
        let answer = try JSONText(parsing: "{\"\(name)\":{\"a\":1},\"total\":3}")
        #expect(PlaceSearch(answer).values.map(\.place) == ["", "total"])
    }
}
