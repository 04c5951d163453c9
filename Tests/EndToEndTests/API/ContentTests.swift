import Foundation
import JSONText
import TestSupport
import Testing
import Upstream

/// Pictures and files, tested with the built commands.
@Suite("Pictures and files", .serialized)
struct ContentTests {
    private static let photos = """

        entities:
          photos:
            fields:
              id: { type: string }
              caption: { type: string }
              remote_image_url: { type: string }
              upload_status: { type: string, index: true }
              updated_at: { type: time, index: true }
            content:
              url: remote_image_url
              upload: { call: "PUT /api/photos/{id}/content" }
              delete: { call: "DELETE /api/photos/{id}/content" }
              max_size: 200MiB
              state: upload_status
            pull: { path: /api/photos, since: { param: updated_since, field: updated_at } }
            push:
              create: { call: POST /api/photos }
              update: { call: "PATCH /api/photos/{id}" }
              delete: { call: "DELETE /api/photos/{id}" }

        """

    private func withShop(_ body: (Shop) async throws -> Void) async throws {
        let shop = try await Shop(editing: { $0.replacing("\nentities:\n", with: Self.photos) })
        do {
            try await body(shop)
        } catch {
            await shop.end()
            throw error
        }
        await shop.end()
    }

    /// A picture of `size` bytes that is generated while it is sent.
    private func picture(_ size: Int) -> BodySource {
        // The bytes repeat after 256, so any part of the picture begins within the first 256 of these.
        let repeated = (0..<(256 + (1 << 20))).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        return BodySource(size: size) { offset, count in
            var bytes: [UInt8] = []
            while bytes.count < count {
                let start = (offset + bytes.count) % 256
                bytes += repeated[start..<(start + min(count - bytes.count, 1 << 20))]
            }
            for (index, byte) in ([0xFF, 0xD8, 0xFF] as [UInt8]).enumerated()
            where offset <= index && index < offset + count {
                bytes[index - offset] = byte
            }
            return bytes
        }
    }

    private func upload(_ shop: Shop, size: Int) async throws -> String {
        let made = try await shop.call("POST", "/v1/photos", .object(["caption": "The boiler"]))
        let id = try #require(made.body["id"]?.string)
        let put = try await shop.send("PUT", "/v1/photos/\(id)/content", type: "image/jpeg", picture(size))
        #expect(put.status == 200, "\(String(decoding: put.body, as: UTF8.self))")
        return id
    }

    @Test("a picture uploaded offline survives a crash and arrives whole", .timeLimit(.minutes(10)))
    func story() async throws {
        try await withShop { shop in
            #expect(try await shop.command("sync", "--wait").status == 0)
            await shop.gateway.close()
            let size = 3 << 20
            let id = try await upload(shop, size: size)
            #expect(try await shop.call("GET", "/v1/photos/\(id)").body["upload_status"] == "queued")
            await shop.killDaemon()
            try await shop.startDaemon()
            let part = try await shop.exchange("GET", "/v1/photos/\(id)/content", [HTTPHeader("Range", "bytes=0-4")])
            #expect(part.status == 206)
            #expect(part.body == [0xFF, 0xD8, 0xFF, 93, 124])
            #expect(part.header("Content-Range") == "bytes 0-4/\(size)")
            let pending = try await shop.call("GET", "/v1/pending").body["data"]?.elements ?? []
            #expect(pending.compactMap { $0["operation"]?.string } == ["create", "content"])
            try await shop.gateway.open()
            #expect(try await shop.command("sync", "--wait").status == 0)
            try await shop.uploaded("photos", id)
            let record = try await shop.call("GET", "/v1/photos/\(id)").body
            let key = try #require(record["id"]?.string)
            let there = try await shop.upstreamCall("GET", "/api/photos/\(key)/content")
            #expect(there.body.count == size)
            #expect(there.body.last == UInt8(truncatingIfNeeded: (size - 1) &* 31))
            #expect(try await shop.call("GET", "/v1/pending/count").body["pending"] == 0)
        }
    }

    @Test("a hundred megabytes are streamed, not held in memory", .timeLimit(.minutes(5)))
    func memory() async throws {
        try await withShop { shop in
            #expect(try await shop.command("sync", "--wait").status == 0)
            // What the first picture loads into memory stays there.
            try await shop.uploaded("photos", upload(shop, size: 1 << 20))
            let before = try await shop.daemonPeak()
            try await shop.uploaded("photos", upload(shop, size: 100 << 20))
            #expect(try await shop.daemonPeak() - before < 32 << 20)
        }
    }

    @Test("a picture is downloaded on first use, and a thumbnail is made", .timeLimit(.minutes(10)))
    func fetching() async throws {
        try await withShop { shop in
            let made = try await shop.upstreamCall("POST", "/api/photos", .object(["caption": "Theirs"]))
            let id = try #require(try JSONText(made.body).at(path: "data.id")?.string)
            let address = JSONText.string("/api/photos/\(id)/content")
            _ = try await shop.upstreamCall("PATCH", "/api/photos/\(id)", .object(["remote_image_url": address]))
            #expect(try await shop.command("sync", "--wait").status == 0)
            await shop.gateway.close()
            #expect(try await shop.exchange("GET", "/v1/photos/\(id)/content", []).status == 404)
            try await shop.gateway.open()
            #expect(try await shop.command("sync", "--wait").status == 0)
            let small = try await shop.exchange("GET", "/v1/photos/\(id)/thumbnail?size=64", [])
            #expect(small.status == 200, "\(String(decoding: small.body, as: UTF8.self))")
            #expect(small.body.starts(with: [0x89, 0x50, 0x4E, 0x47]))
            await shop.gateway.close()
            let whole = try await shop.exchange("GET", "/v1/photos/\(id)/content", [])
            #expect(whole.status == 200)
            let tag = try #require(whole.header("ETag"))
            let again = try await shop.exchange("GET", "/v1/photos/\(id)/content", [HTTPHeader("If-None-Match", tag)])
            #expect(again.status == 304)
        }
    }
}
