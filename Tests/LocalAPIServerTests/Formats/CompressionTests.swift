import CacheStore
import Foundation
import JSONText
import ReferenceUpstream
import SocketServer
import TestSupport
import Testing

@testable import LocalAPIServer

@Suite("Compressed answers")
struct CompressionTests {
    private static let gzip = ["Accept-Encoding": "gzip"]

    /// An order with a text of 6,000 bytes, and a small one.
    private static func api() async throws -> TestAPI {
        let api = try TestAPI(field: "notes: { type: string }\n      pin: { type: string, secret: true }")
        let notes = String(repeating: "A long text. ", count: 500)
        let records = #"[{"id":"a","status":"ready","notes":"\#(notes)","pin":"1234"},{"id":"b","status":"open"}]"#
        _ = try await api.store.apply(PulledPage(entity: "orders", records: records), at: TestAPI.now)
        return api
    }

    private func expanded(_ bytes: [UInt8]) throws -> [UInt8] {
        let folder = try TemporaryFolder()
        let file = folder.path("answer.gz")
        try Data(bytes).write(to: URL(filePath: file))
        return try GzipFile.read(file)
    }

    private func bytes(_ answer: TestAPI.Answer) -> [UInt8] {
        guard case .bytes(let bytes) = answer.response.body else { return [] }
        return bytes
    }

    @Test("a large answer is compressed for a caller who asks, and expands to the plain one")
    func compressed() async throws {
        let api = try await Self.api()
        for path in ["/v1/orders/a", "/v1/orders", "/v1/schema", "/openapi.json"] {
            let plain = await api.call("GET", path)
            let coded = await api.call("GET", path, headers: Self.gzip)
            guard bytes(plain).count > 4096 else { continue }
            #expect(coded.header("Content-Encoding") == "gzip" && plain.header("Content-Encoding") == nil, "\(path)")
            #expect(bytes(coded).count < bytes(plain).count)
            #expect(try expanded(bytes(coded)) == bytes(plain))
        }
    }

    @Test("a small answer and one with a secret are sent as they are")
    func plain() async throws {
        let api = try await Self.api()
        for path in ["/v1/orders/b", "/v1/orders/a?reveal=pin", "/v1/pending/count", "/v1/events?since=0"] {
            let answer = await api.call("GET", path, headers: Self.gzip)
            #expect(answer.status == 200 && answer.header("Content-Encoding") == nil, "\(path)")
        }
    }

    @Test(
        "the weights of Accept-Encoding decide",
        arguments: [
            ("gzip", true), ("GZIP", true), ("br, gzip;q=0.5", true), ("*", true), ("x-gzip", true),
            ("gzip;q=0", false), ("identity", false), ("br", false), ("gzip;q=0.3, identity;q=0.8", false),
            ("*, gzip;q=0", false), ("gzip;q=high", false), ("", false),
        ])
    func weights(_ accepted: String, _ isCoded: Bool) async throws {
        let api = try await Self.api()
        let answer = await api.call("GET", "/v1/orders/a", headers: ["Accept-Encoding": accepted])
        #expect((answer.header("Content-Encoding") == "gzip") == isCoded)
    }

    @Test("the compressed answer has a tag of its own, and either tag is known when it is asked for again")
    func tags() async throws {
        let api = try await Self.api()
        let plain = try #require(await api.call("GET", "/v1/orders/a").header("ETag"))
        let coded = try #require(await api.call("GET", "/v1/orders/a", headers: Self.gzip).header("ETag"))
        #expect(coded == plain.dropLast() + "-gzip\"")
        for (tag, accepted, shown) in [
            (plain, nil, plain), (coded, "gzip", coded), (coded, nil, coded), (plain, "gzip", plain),
            ("W/\(coded)", "gzip", coded), ("\"0-0\", \(coded)", "gzip", coded), ("\"0-0\", \(plain)", nil, plain),
        ] {
            let again = await api.call(
                "GET", "/v1/orders/a", headers: ["If-None-Match": tag, "Accept-Encoding": accepted])
            #expect(again.status == 304 && again.header("ETag") == shown, "\(tag)")
        }
        let other = await api.call("GET", "/v1/orders/a", headers: ["If-None-Match": "\"0-0-gzip\""])
        #expect(other.status == 200)
    }

    @Test("either tag is good for a change, and both are outdated by it")
    func conditions() async throws {
        let api = try await Self.api()
        let coded = try #require(await api.call("GET", "/v1/orders/a", headers: Self.gzip).header("ETag"))
        func change(_ status: String) async -> TestAPI.Answer {
            await api.call(
                "PATCH", "/v1/orders/a", body: #"{"status":"\#(status)"}"#, headers: ["If-Match": coded])
        }
        #expect(await change("open").status == 200)
        #expect(await change("ready").status == 412)
        let batch =
            #"{"operations":[{"operation":"update","entity":"orders","id":"b","if_match":TAG,"body":{"total":1}}]}"#
        let tag = try #require(await api.call("GET", "/v1/orders/b").header("ETag"))
        let named = JSONText.string(tag.dropLast() + "-gzip\"").text
        #expect(await api.call("POST", "/v1/_batch", body: batch.replacing("TAG", with: named)).status == 200)
    }

    @Test("a whole list is compressed as it is written")
    func stream() async throws {
        let api = try await Self.api()
        let headers = ["Accept": "application/x-ndjson", "Accept-Encoding": "gzip"]
        let plain = await api.call("GET", "/v1/orders", headers: ["Accept": "application/x-ndjson"])
        let coded = await api.call("GET", "/v1/orders", headers: headers)
        #expect(coded.header("Content-Encoding") == "gzip")
        #expect(try await expanded(coded.wholeBytes()) == plain.wholeBytes())
    }

    @Test func `an answer that takes long to compress comes later, and expands to the plain one`() async throws {
        let api = try await Self.api()
        let notes = String(repeating: "A long text. ", count: 30_000)
        let record = #"[{"id":"c","status":"ready","notes":"\#(notes)"}]"#
        _ = try await api.store.apply(PulledPage(entity: "orders", records: record), at: TestAPI.now)
        for path in ["/v1/orders/c", "/v1/orders"] {
            let plain = await api.call("GET", path)
            let coded = await api.call("GET", path, headers: Self.gzip)
            #expect(coded.header("Content-Encoding") == "gzip", "\(path)")
            #expect(try expanded(bytes(coded)) == bytes(plain))
        }
    }

    @Test func `what would fill the memory while it waits is not compressed`() async {
        let (thread, caller) = (CompressionThread(), ReadCaller(user: 1, mayTakeAll: false))
        #expect(await thread.compressed([UInt8](repeating: 97, count: 17 << 20), for: caller) == nil)
        for _ in 1...3 {
            let compressed = await thread.compressed([UInt8](repeating: 97, count: 12 << 20), for: caller)
            #expect((compressed?.count ?? 0) > 0)
        }
    }

    @Test("pieces of any size come back from the compressor")
    func pieces() throws {
        let gzip = try #require(GzipStream())
        var random = SeededRandom(seed: 7)
        var (plain, coded): ([UInt8], [UInt8]) = ([], [])
        for size in [0, 1, 5, 100_000, 3, 2_000_000, 0] {
            let piece = (0..<size).map { _ in UInt8.random(in: 0...255, using: &random) }
            plain += piece
            coded += gzip.compressed(piece)
        }
        coded += gzip.compressed([], isLast: true)
        #expect(try expanded(coded) == plain)
    }
}
