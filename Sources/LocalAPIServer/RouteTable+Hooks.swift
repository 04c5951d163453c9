internal import LocalAPI
internal import SocketServer

/// The hooks of the configuration.
extension RouteTable {
    static let hooks: [Route] = [
        .fixed(
            "GET", .hooks, "listHooks",
            OpenAPIOperation("The hooks, and how far each is", answers: [(200, .json("Hooks"))])
        ) { handlers, _, _ in try handlers.hooks() },
        .fixed(
            "GET", .hook, "getHook",
            OpenAPIOperation(
                "One hook, with its parked deliveries", answers: [(200, .json("Hook"))], problems: [404])
        ) { handlers, _, name in try handlers.hook(name) },
        .fixed(
            "POST", .pauseHook, "pauseHook",
            OpenAPIOperation(
                "Pauses a hook", parameters: ["idempotency_key"], answers: [(200, .json("Hook"))], problems: [404, 422])
        ) { handlers, request, name in try await handlers.pauseHook(name, true, request) },
        .fixed(
            "POST", .resumeHook, "resumeHook",
            OpenAPIOperation(
                "Ends the pause of a hook", parameters: ["idempotency_key"], answers: [(200, .json("Hook"))],
                problems: [404, 422])
        ) { handlers, request, name in try await handlers.pauseHook(name, false, request) },
        .fixed(
            "POST", .skipHook, "skipHookDelivery",
            OpenAPIOperation(
                "Gives up the delivery that has failed", parameters: ["idempotency_key"],
                answers: [(200, .json("Hook"))], problems: [404, 409, 422])
        ) { handlers, request, name in try await handlers.skipHook(name, request) },
        .fixed(
            "POST", .retryHook, "retryHook",
            OpenAPIOperation(
                "Retries a parked delivery, or all and the one that waits", parameters: ["idempotency_key"],
                body: "HookChoice", bodyIsOptional: true, answers: [(200, .json("Hook"))], problems: [404, 422])
        ) { handlers, request, name in try await handlers.retryHook(name, request) },
        .fixed(
            "POST", .discardParked, "discardHookDeliveries",
            OpenAPIOperation(
                "Discards a parked delivery, or all", parameters: ["idempotency_key"], body: "HookChoice",
                bodyIsOptional: true, answers: [(200, .json("Hook"))], problems: [404, 422])
        ) { handlers, request, name in try await handlers.discardParked(name, request) },
    ]
}
