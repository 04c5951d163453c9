import Foundation
import JSONText
import Testing
import Upstream

/// Pictures of devices, which the live service makes by their upload.
@Suite("Pictures of devices with the live schema", .serialized)
struct DevicePictureTests {
    @Test(
        "an order, its device and two pictures made offline arrive once, whatever answers are lost",
        .timeLimit(.minutes(5)))
    func story() async throws {
        try await Shop.with("repairminder-live", rows: 10, Shop.userArguments) { shop in
            try await shop.signIn()
            #expect(try await shop.command("sync", "--wait").status == 0)
            await shop.gateway.close()
            var day = ShopDay(in: shop)
            try await takeIn(&day)
            try await takePictures(&day)
            await shop.killDaemon()
            try await shop.startDaemon()
            try await loseAnswers(shop)
            try await shop.gateway.open()
            try await deliver(shop)
            // The first may join a run that has pulled the clients before the order brought one.
            for _ in 1...2 { #expect(try await shop.command("sync", "--wait").status == 0) }
            try await expectArrived(day)
            try await BothSides(of: shop, schema: "repairminder-live").expectEqual()
        }
    }

    private static let names = ["left", "right"]

    /// Two pictures of the same kind and caption are only told apart by their bytes.
    private static func picture(_ name: String) -> [UInt8] {
        let bytes = (0..<70_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ name.count) }
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + bytes
    }

    private func takeIn(_ day: inout ShopDay) async throws {
        try await day.create(
            "order", at: "/v1/orders",
            #"""
            {"client_email": "zoe@example.org", "client_first_name": "Zoe", "intake_method": "walk_in",
             "signature": {"typed_name": "Zoe", "terms_agreed": true}}
            """#)
        try await day.create("device", at: day["orders", "order"] + "/devices", #"{"custom_brand": "Example"}"#)
    }

    private func takePictures(_ day: inout ShopDay) async throws {
        for name in Self.names {
            try await day.create(
                name, at: day["devices", "device"] + "/images", #"{"image_type": "damage", "caption": "Screen"}"#)
            let key = try day.key(name)
            let queued = try await day.shop.call("GET", "/v1/pending?record=\(key)").body.at(path: "data")?.elements
            #expect(queued?.map { $0["state"] } == ["blocked"])
            #expect(
                queued?.first?.at(path: "error.message")?.string?.contains("/v1/device_images/\(key)/content") == true)
            let bytes = Self.picture(name)
            let source = BodySource(size: bytes.count) { offset, count in Array(bytes[offset..<(offset + count)]) }
            let put = try await day.shop.send(
                "PUT", "\(day["device_images", name])/content", type: "image/png", source)
            #expect(put.status == 200, "\(String(decoding: put.body, as: UTF8.self))")
        }
        #expect(try await day.shop.call("GET", "/v1/pending/count").body["pending"] == 4)
    }

    /// The answers to the device and to both pictures.
    private func loseAnswers(_ shop: Shop) async throws {
        let rule = JSONText.object(["effect": "cut_body", "method": "POST", "path": "/api/orders/", "next": 3])
        _ = try await shop.admin("faults", "POST", .object(["faults": .array([rule])]))
    }

    /// A sync does not wait for contents.
    private func deliver(_ shop: Shop) async throws {
        var seen = 0
        while try await shop.call("GET", "/v1/pending/count").body["pending"] != 0 {
            let page = try await shop.call("GET", "/v1/changes?since=\(seen)&wait=60").body
            seen = try #require(page["next"]?.integer)
            try #require(page["data"]?.elements.isEmpty == false, "nothing moves any more")
        }
        #expect(try await shop.call("GET", "/v1/pending/count").body["failed"] == 0)
    }

    private func expectArrived(_ day: ShopDay) async throws {
        let device = try #require(try await day.record("devices", "device")["id"])
        let there = try await day.shop.admin("records/device_images").filter { $0["device_id"] == device }
        #expect(there.count == 2 && there.allSatisfy { $0["caption"] == "Screen" && $0["image_type"] == "damage" })
        for name in Self.names {
            let record = try await day.record("device_images", name)
            #expect(there.contains { $0["id"] == record["id"] })
            #expect(record.at(path: "_sync.state") == "synced")
            let content = try await day.shop.exchange("GET", "\(day["device_images", name])/content?refresh=true", [])
            #expect(content.status == 200 && content.body == Self.picture(name))
            let history = try await day.shop.call("GET", "\(day["device_images", name])/history").body
            #expect(history["data"]?.elements.contains { $0["kind"] == "waiting" } == true, "\(history.text)")
        }
        let log = try await day.shop.admin("log").filter { $0["applied"]?.boolean == true }
        #expect(log.filter { $0["path"]?.string?.hasSuffix("/images") == true }.count == 2)
        #expect(log.count == day.operations)
    }
}
