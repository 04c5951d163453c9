import Foundation
import TestSupport
import Testing

/// A list of any length, tested with the built daemon.
@Suite("Long lists")
struct LongListTests {
    private static let rows = 60_000
    private static let textLength = 900

    private static let schema = """
        schema: notes
        upstream:
          base_url: "http://127.0.0.1:1"
          records: data
          pagination: { style: page, page_size: 500, total: total }
        entities:
          notes:
            fields: { id: { type: string }, text: { type: string } }
            pull: { path: /notes }
        """

    private let data: TemporaryFolder

    init() throws {
        data = try TemporaryFolder()
        let text = String(repeating: "x", count: Self.textLength)
        let lines = (0..<Self.rows).map { #"{"id":"n\#($0)","text":"\#(text)"}"# }
        try data.write(lines.joined(separator: "\n"), to: "notes.ndjson")
    }

    @Test("a list of 54 MB is sent while it is read, in the memory of a few pages", .timeLimit(.minutes(5)))
    func memory() async throws {
        let shop = try await Shop(data: data.path) { _ in Self.schema }
        let result: Result<Void, any Error>
        do { result = .success(try await read(shop)) } catch { result = .failure(error) }
        await shop.end()
        try result.get()
    }

    private func read(_ shop: Shop) async throws {
        #expect(try await shop.command("sync", "--wait").status == 0)
        // What the pull has left in memory is not the list's.
        #expect(await shop.stopDaemon() == 0)
        try await shop.startDaemon()
        _ = try await list(2000, shop)
        let before = try await shop.daemonMemory()
        let (bytes, most) = try await list(Self.rows, shop)
        #expect(bytes > Self.rows * Self.textLength)
        // A debug build on a busy machine took 24 MB.
        #expect(most - before < 32 << 20)
    }

    /// Reads so many lines; returns how many bytes they have, and the most memory that the daemon had meanwhile.
    private func list(_ lines: Int, _ shop: Shop) async throws -> (bytes: Int, most: Int) {
        let connection = try RawConnection(path: "\(shop.folder.path)/api.sock")
        let request = [
            "GET /v1/notes?limit=\(lines) HTTP/1.1", "Host: localhost", "Accept: application/x-ndjson",
            "Connection: close",
        ]
        connection.send(request.joined(separator: "\r\n") + "\r\n\r\n")
        var bytes = 0
        var most = 0
        while true {
            let piece = try connection.receive()
            guard !piece.isEmpty else { return (bytes, most) }
            let isNextMegabyte = (bytes + piece.count) >> 20 > bytes >> 20
            bytes += piece.count
            if isNextMegabyte { most = try await max(most, shop.daemonMemory()) }
        }
    }
}
