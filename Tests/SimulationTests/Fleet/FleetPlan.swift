/// What goes wrong for a fleet, and when, in milliseconds from the start.
struct FleetPlan {
    enum Fault {
        /// The upstream cannot be reached.
        case unreachable
        /// It answers 503 without saying how long.
        case failing
        /// It answers 429 and names the end, the same for everyone.
        case throttling
    }

    struct Outage {
        var fault: Fault
        var range: Range<Int64>
    }

    struct PowerFailure {
        /// The machines of one region.
        var machines: Range<Int>
        var range: Range<Int64>
    }

    var length: Int64
    var outages: [Outage] = []
    /// When every machine restarts.
    var upgrades: [Int64] = []
    var powerFailures: [PowerFailure] = []

    static let hour: Int64 = 3_600_000
    static let day = 24 * hour

    func outage(at time: Int64) -> Outage? { outages.first { $0.range.contains(time) } }

    /// Nothing goes wrong.
    static func calm(days: Int) -> FleetPlan { FleetPlan(length: Int64(days) * day) }

    /// Every day something: upgrades, short and long outages, a 429 with one end for everyone, a region without power.
    static func rough(days: Int, machines: Int) -> FleetPlan {
        var plan = calm(days: days)
        for number in 0..<days {
            let start = Int64(number) * day
            let region = machines / 10 * (number % 10)
            plan.upgrades.append(start + 3 * hour)
            plan.powerFailures.append(
                PowerFailure(
                    machines: region..<region + machines / 10, range: start + 5 * hour..<start + 6 * hour))
            plan.outages += [
                Outage(fault: .failing, range: start + 8 * hour..<start + 8 * hour + 600_000),
                Outage(fault: .unreachable, range: start + 10 * hour..<start + 12 * hour),
                Outage(fault: .throttling, range: start + 15 * hour..<start + 15 * hour + 300_000),
                Outage(fault: .unreachable, range: start + 17 * hour..<start + 17 * hour + 30_000),
                Outage(fault: .failing, range: start + 19 * hour..<start + 20 * hour),
            ]
        }
        return plan
    }
}
