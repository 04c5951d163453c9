internal import SocketServer

/// How long a write's caller waits; nil when it does not.
struct PushWait {
    let limit: Duration

    init?(_ request: Request) throws(Problem) {
        let parameters = try QueryParameters(request)
        let timeout = try parameters.integer("timeout", in: 1...60, else: 10)
        switch try parameters.value("wait") {
        case "pushed": limit = .seconds(timeout)
        case nil:
            guard try parameters.value("timeout") == nil else {
                throw .badRequest("timeout goes with wait=pushed", field: "timeout")
            }
            return nil
        default: throw .badRequest("expected pushed", field: "wait")
        }
    }
}
