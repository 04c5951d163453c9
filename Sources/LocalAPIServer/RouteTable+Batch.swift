internal import LocalAPI
internal import SocketServer

/// Many writes in one request.
extension RouteTable {
    static let batch = Route.fixed(
        "POST", .batch, "writeBatch",
        OpenAPIOperation(
            "Creates, changes and deletes up to \(BatchRequest.most) records, all or each by itself",
            parameters: ["wait_for_push", "timeout", "idempotency_key"], body: "Batch",
            answers: [200, 202].map { ($0, .json("BatchAnswer")) }, problems: [422])
    ) { handlers, request, _ in try await handlers.batch(request) }
}
