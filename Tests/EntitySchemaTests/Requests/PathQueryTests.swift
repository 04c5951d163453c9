import JSONText
import Testing

@testable import EntitySchema

@Suite("Paths that have parameters of their own")
struct PathQueryTests {
    private static func schema() throws -> EntitySchema {
        try EntitySchema(
            yaml: """
                schema: small
                upstream:
                  base_url: http://localhost
                  pagination: { style: page, page: page, size: size, page_size: 20 }
                  signals: [{ sse: { path: /stream?kind=notes, query: { all: "1" }, entity: notes } }]
                entities:
                  notes:
                    fields: { id: { type: string }, title: { type: string } }
                    pull:
                      path: /notes?kind=open
                      detail: { path: "/lines?note={id}", when_changed: any, records: lines, into: lines }
                    push:
                      create: { call: POST /notes, look_up: { match: [title], path: "/notes?title={title}" } }
                  lines: { fields: { id: { type: string }, note_id: { type: reference, to: notes } } }
                """, file: "small.yaml")
    }

    @Test("a list's parameters come after those of its path")
    func list() throws {
        let plan = try #require(Self.schema()["notes"]?.pull)
        #expect(plan.request(of: "notes").request.path == "/notes?kind=open&page=1&size=20")
        #expect(plan.request(of: "notes", at: "2").request.path == "/notes?kind=open&page=2&size=20")
    }

    @Test("a look-up whose path names the record asks for that record on every page")
    func lookUp() throws {
        let notes = try #require(Self.schema()["notes"])
        guard case .match(_, let template?, let list) = notes.push.create[0].lookUp else {
            Issue.record("the look-up has no path")
            return
        }
        let path = try #require(notes.path(template, of: JSONText(parsing: #"{"title":"a & b?"}"#)))
        let request = PageRequest(entity: "notes", path: path, list: list)
        #expect(request.request.path == "/notes?title=a%20%26%20b%3F&page=1&size=20")
    }

    @Test("a list of children keeps the parameter that names their parent")
    func detail() throws {
        let notes = try #require(Self.schema()["notes"])
        let detail = try #require(notes.pull?.details.first)
        let template = try #require(detail.path)
        let path = try #require(notes.path(template, of: JSONText(parsing: #"{"id":"7"}"#)))
        let request = PageRequest(entity: "lines", path: path, list: detail.list)
        #expect(request.request.path == "/lines?note=7&page=1&size=20")
    }

    @Test("a single record is below the list's path, without the list's parameters")
    func single() throws {
        let single = try #require(Self.schema()["notes"]?.pull?.single)
        #expect(single.path.source == "/notes/{id}")
    }

    @Test("a stream's parameters come after those of its path")
    func stream() throws {
        guard case .stream(let stream) = try Self.schema().upstream.signals[0].kind else {
            Issue.record("the source is no stream")
            return
        }
        #expect(stream.request(after: nil).path == "/stream?kind=notes&all=1")
    }
}
