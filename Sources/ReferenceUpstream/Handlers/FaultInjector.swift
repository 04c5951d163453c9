/// Checks each request against the fault rules and decides what happens to it; the same seed gives the same decisions.
struct FaultInjector: Sendable {
    /// The faults of one request.
    struct Strike: Sendable {
        /// Before anything is applied.
        var hold = Duration.zero
        /// Before the response, whatever it is.
        var latency = Duration.zero
        /// The failure, if any; never a wait.
        var failure: Faults.Effect?
        /// For the log; nil without a fault.
        var name: String?
    }

    var faults: Faults
    private var random: SplitMix64

    init(faults: Faults, seed: UInt64) {
        self.faults = faults
        random = SplitMix64(seed: seed)
    }

    /// Decrements the counts of the rules that apply.
    mutating func strike(method: String, path: String) -> Strike {
        var strike = Strike()
        var names: [String] = []
        for (index, rule) in faults.rules.enumerated() where rule.covers(method: method, path: path) {
            guard rule.rate >= 1 || random.chance(rule.rate) else { continue }
            switch rule.effect {
            case .latency(let time): strike.latency += time
            case .hold(let time): strike.hold += time
            case .fail, .cutBody, .cutBatch, .timeoutAfterApply, .offline:
                // A rule after the one that applied keeps its count for the next request.
                guard strike.failure == nil else { continue }
                strike.failure = rule.effect
            }
            names.append(rule.effect.name)
            if let left = rule.next { faults.rules[index].next = left - 1 }
        }
        if !names.isEmpty { strike.name = names.joined(separator: "+") }
        return strike
    }
}
