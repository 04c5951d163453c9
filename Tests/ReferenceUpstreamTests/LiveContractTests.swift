import EntitySchema
import JSONText
import ReferenceUpstream
import TestSupport
import Testing

/// The reference upstream in its live shape against what is known of the service, file by file.
@Suite("The live shape and the service's documents")
struct LiveContractTests {
    private let harness: Harness
    private let shapes: LiveShapes

    init() throws {
        shapes = try LiveShapes()
        let shop = LiveShopGenerator(orders: 60, seed: 5).records()
        harness = try Harness(TestSchema.live(), shop.mapValues { $0.map(\.text) }) {
            $0.workflows = LiveShopGenerator.workflows
            $0.shape = .repairMinder
        }
    }

    private func first(_ entity: String) throws -> JSONText {
        try #require(harness.upstream.records(of: entity).first)
    }

    @Test(
        "lists have no members but the documented ones, of the documented types",
        arguments: [
            ("/api/clients", "clients-list"), ("/api/orders?sort=updated_at&order=desc", "orders-list"),
            ("/api/devices?show_archived=true&include_buyback=true", "devices-list"), ("/api/tickets", "tickets-list"),
            ("/api/locations", "locations-list"), ("/api/users", "users-list"),
            ("/api/device-types", "device-types-list"), ("/api/macros", "macros-list"),
            ("/api/buyback", "buyback-list"), ("/api/product-types", "product-types-list"),
            ("/api/macro-executions", "macro-executions-list"),
        ])
    func lists(path: String, file: String) async throws {
        let answer = try await harness.get(path).json()
        let strangers = try shapes.strangers(in: answer, against: file)
        #expect(strangers.isEmpty, "\(strangers)")
    }

    @Test("single records have no members but the documented ones, of the documented types")
    func singles() async throws {
        let device = try first("devices")
        let paths = [
            ("/api/clients/\(try first("clients")["id"]?.plain ?? "")", "client-single"),
            ("/api/orders/\(try first("orders")["id"]?.plain ?? "")", "order-single"),
            ("/api/orders/\(device["order_id"]?.plain ?? "")/devices/\(device["id"]?.plain ?? "")", "device-single"),
            ("/api/tickets/\(try first("tickets")["id"]?.plain ?? "")", "ticket-single"),
            ("/api/buyback/\(try first("buyback")["id"]?.plain ?? "")", "buyback-single"),
        ]
        for (path, file) in paths {
            let strangers = try shapes.strangers(in: try await harness.get(path).json(), against: file)
            #expect(strangers.isEmpty, "\(path): \(strangers)")
        }
    }

    @Test("the documented requests are taken, and answered as documented")
    func writes() async throws {
        let order = try first("orders")["id"]?.plain ?? ""
        let ticket = try first("tickets")["id"]?.plain ?? ""
        let calls = [
            ("POST", "/api/clients", "client-create-request", "client-single"),
            ("POST", "/api/orders", "order-create-request", "order-create"),
            ("POST", "/api/orders/\(order)/items", "order-item-create-request", "order-item"),
            ("POST", "/api/orders/\(order)/payments", "order-payment-create-request", "order-payment"),
            ("POST", "/api/orders/\(order)/devices", "device-create-request", "device-create"),
            ("POST", "/api/tickets/\(ticket)/note", "ticket-note-request", "ticket-note"),
            ("POST", "/api/tickets/\(ticket)/reply", "ticket-reply-request", "ticket-reply"),
            ("PATCH", "/api/tickets/\(ticket)", "ticket-patch-request", "ticket-single"),
            ("PATCH", "/api/orders/\(order)", "order-patch-request", "order-single"),
        ]
        for (method, path, request, answer) in calls {
            let reply = try await harness.send(method, path, try shapes[request].text)
            #expect(reply.status / 100 == 2, "\(path): \(reply.text)")
            let strangers = try shapes.strangers(in: reply.json(), against: answer)
            #expect(strangers.isEmpty, "\(path): \(strangers)")
        }
    }

    @Test("a picture of a device is made by its upload, answered as documented, and served")
    func picture() async throws {
        let device = try first("devices")
        let images = "/api/orders/\(device["order_id"]?.plain ?? "")/devices/\(device["id"]?.plain ?? "")/images"
        let fields = try shapes["device-image-create-request"].members.filter { $0.key != "file" }
        let form = MultipartForm(fields: fields, file: "file", name: "1.jpg", type: "image/jpeg", key: "k")
        let body = String(decoding: form.prefix + Array("JPEG".utf8) + form.suffix, as: UTF8.self)
        let reply = try await harness.send("POST", images, body, headers: [("Content-Type", form.type)])
        #expect(reply.status / 100 == 2, "\(reply.text)")
        let strangers = try shapes.strangers(in: reply.json(), against: "device-image")
        #expect(strangers.isEmpty, "\(strangers)")
        let file = try await harness.get("\(images)/\(reply.at("data.id").plain)/file")
        #expect(file.text == "JPEG" && file.header("Content-Type") == "image/jpeg")
    }
}
