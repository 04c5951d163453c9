/// Holds each request against the rules and says what becomes of it; the same seed gives the same course.
struct FaultInjector: Sendable {
    /// What strikes one request.
    struct Strike: Sendable {
        /// Before anything is applied.
        var hold = Duration.zero
        /// Before the answer, whatever it is.
        var latency = Duration.zero
        /// The one thing that goes wrong; never a wait.
        var failure: Faults.Effect?
        /// For the log; nil when nothing struck.
        var name: String?
    }

    var faults: Faults
    private var random: SplitMix64

    init(faults: Faults, seed: UInt64) {
        self.faults = faults
        random = SplitMix64(seed: seed)
    }

    /// Uses up what a rule has left.
    mutating func strike(method: String, path: String) -> Strike {
        var strike = Strike()
        var names: [String] = []
        for (index, rule) in faults.rules.enumerated() where rule.covers(method: method, path: path) {
            guard rule.rate >= 1 || random.chance(rule.rate) else { continue }
            switch rule.effect {
            case .latency(let time): strike.latency += time
            case .hold(let time): strike.hold += time
            case .fail, .cutBody, .timeoutAfterApply, .offline:
                // A rule behind one that struck keeps its count for the next request.
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
