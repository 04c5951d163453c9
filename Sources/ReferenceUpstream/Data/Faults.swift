/// How the upstream misbehaves: rules that are checked against each request in order.
///
/// Waits add up; of failures and broken responses the first one wins.
package struct Faults: Sendable, Equatable {
    package var rules: [Rule]

    package init(_ rules: [Rule] = []) { self.rules = rules }

    /// What goes wrong.
    package enum Effect: Sendable, Equatable {
        /// Responds with this status and applies nothing; `retryAfter` becomes the Retry-After field unchanged.
        case fail(status: Int, retryAfter: String? = nil)
        /// Delays the response by this much.
        case latency(Duration)
        /// Delays the request before anything is applied; if the caller disconnects meanwhile, nothing is applied.
        case hold(Duration)
        /// Applies the change and sends only the first half of the response's body.
        case cutBody
        /// Applies the first half of a batch, or any other change, and never responds.
        case cutBatch
        /// Applies the change and never responds. The connection closes after `hold`.
        case timeoutAfterApply(hold: Duration)
        /// Applies nothing and does not respond.
        case offline
    }

    package struct Rule: Sendable, Equatable {
        package var effect: Effect
        /// The share of the matching requests that it affects, 0 to 1.
        package var rate: Double
        /// How many more times it applies; nil for no limit.
        package var next: Int?
        /// Only requests with this method.
        package var method: String?
        /// Only requests whose path starts with this.
        package var path: String?

        package init(
            _ effect: Effect, rate: Double = 1, next: Int? = nil, method: String? = nil, path: String? = nil
        ) {
            self.effect = effect
            self.rate = rate
            self.next = next
            self.method = method
            self.path = path
        }

        func covers(method: String, path: String) -> Bool {
            next != 0 && (self.method ?? method) == method && path.hasPrefix(self.path ?? "")
        }
    }
}

extension Faults.Effect {
    /// One word for the log.
    var name: String {
        switch self {
        case .fail(let status, _): "fail \(status)"
        case .latency: "latency"
        case .hold: "hold"
        case .cutBody: "cut_body"
        case .cutBatch: "cut_batch"
        case .timeoutAfterApply: "timeout_after_apply"
        case .offline: "offline"
        }
    }
}
