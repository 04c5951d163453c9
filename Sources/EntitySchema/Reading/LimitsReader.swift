/// Reads `upstream.limits`: one mapping, or a list of them.
struct LimitsReader {
    let node: SchemaNode

    func limits() throws(SchemaError) -> RequestLimits {
        var limits = RequestLimits()
        for element in try node.oneOrMore() {
            let earlier = limits.windows
            try add(element, to: &limits)
            guard limits.windows.count > earlier.count, let window = limits.windows.last else { continue }
            if earlier.contains(where: { $0.covers(window) || window.covers($0) }) {
                throw element.error(
                    "of this limit and one before, one is never reached: the other has no more requests for no less time; "
                        + "remove one")
            }
        }
        guard limits != RequestLimits() else { throw node.error("expected requests and per, parallel, or remaining") }
        return limits
    }

    private func add(_ node: SchemaNode, to limits: inout RequestLimits) throws(SchemaError) {
        try node.requireKeys(["requests", "per", "parallel", "remaining", "reset"])
        if let requests = node.child("requests") {
            let span = try node.required("per")
            let length = try span.duration()
            guard length >= .seconds(1), length <= .seconds(86_400) else { throw span.error("expected 1s to 24h") }
            limits.windows.append(
                RequestLimits.Window(requests: try requests.integer(in: 1...1_000_000), span: length))
        } else if let span = node.child("per") {
            throw span.error("per needs requests, the number of requests in that time; add requests")
        }
        if let parallel = node.child("parallel") {
            guard limits.parallel == nil else { throw parallel.error("parallel is set twice; remove one") }
            limits.parallel = try parallel.integer(in: 1...RequestLimits.mostParallel)
        }
        switch (node.child("remaining"), node.child("reset")) {
        case (nil, nil): break
        case (let remaining?, _) where limits.remainingHeader != nil:
            throw remaining.error("remaining is set twice; remove one")
        case (let remaining?, let reset?):
            limits.remainingHeader = try remaining.headerName()
            limits.resetHeader = try reset.headerName()
        case (let remaining?, nil):
            throw remaining.error("remaining needs reset, the header that says until when; add reset")
        case (nil, let reset?): throw reset.error("reset needs remaining, the header with the number; add remaining")
        }
    }
}

extension RequestLimits.Window {
    /// Whether it is reached whenever another is.
    fileprivate func covers(_ other: Self) -> Bool { requests <= other.requests && span >= other.span }
}
