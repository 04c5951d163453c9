/// How the upstream misbehaves: rules that each request is held against, in order.
///
/// Waits add up; of failures and broken answers the first one wins.
package struct Faults: Sendable, Equatable {
    package var rules: [Rule]

    package init(_ rules: [Rule] = []) {
        self.rules = rules
    }

    /// What goes wrong.
    package enum Effect: Sendable, Equatable {
        /// This status is answered and nothing is applied; `retryAfter` goes into the Retry-After field as it is.
        case fail(status: Int, retryAfter: String? = nil)
        /// The answer comes this much later.
        case latency(Duration)
        /// The request waits before anything is applied; a caller who leaves meanwhile has nothing applied.
        case hold(Duration)
        /// The change is applied; of the answer's body only the first half is sent.
        case cutBody
        /// The change is applied; the answer never comes. The connection closes after `hold`.
        case timeoutAfterApply(hold: Duration)
        /// Nothing is applied, nothing is answered.
        case offline
    }

    package struct Rule: Sendable, Equatable {
        package var effect: Effect
        /// The share of the requests in scope that it strikes, 0 to 1.
        package var rate: Double
        /// It strikes only so many more times; nil for no end.
        package var next: Int?
        /// Only requests with this method.
        package var method: String?
        /// Only requests whose path begins so.
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
        case .timeoutAfterApply: "timeout_after_apply"
        case .offline: "offline"
        }
    }
}
