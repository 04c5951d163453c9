import Foundation

/// How many requests there were in each second.
struct RequestRate {
    private var seconds: [Int]

    /// `length` in milliseconds.
    init(length: Int64) { seconds = Array(repeating: 0, count: Int(length / 1000)) }

    /// What is later than the end is not counted.
    mutating func add(at time: Int64) {
        let second = Int(time / 1000)
        if second < seconds.count { seconds[second] += 1 }
    }

    /// Requests a second, over the whole time.
    var mean: Double { Double(seconds.reduce(0, +)) / Double(seconds.count) }

    /// The most requests a second, averaged over any `length` seconds.
    func peak(over length: Int) -> Double {
        var sum = seconds.prefix(length).reduce(0, +)
        var most = sum
        for end in length..<seconds.count {
            sum += seconds[end] - seconds[end - length]
            most = max(most, sum)
        }
        return Double(most) / Double(length)
    }

    /// For a line of figures.
    var figures: String {
        "mean \(mean) requests a second, most \(peak(over: 60)) over a minute, \(peak(over: 10)) over 10 s, \(peak(over: 1)) "
            + "in one second"
    }

    /// The requests of syncs and writes that begin at times of chance alone (Poisson processes): what machines without any
    /// herd show. The mean is about `mean`.
    static func ofChance(_ machines: Int, _ plan: FleetPlan, mean: Double, seed: UInt64) -> RequestRate {
        let random = FleetRandom(seed: seed)
        var rate = RequestRate(length: plan.length)
        let fulls = Double(machines) / 86_400
        let writes = Double(machines) / Fleet.writeEvery
        let syncs = (mean - writes - fulls * Double(Fleet.pages)) / Double(Fleet.lists)
        func happen(_ perSecond: Double, _ body: (Int64) -> Void) {
            var time = 0.0
            while true {
                time -= log(1 - random.fraction()) / perSecond * 1000
                guard time < Double(plan.length) else { return }
                body(Int64(time))
            }
        }
        happen(syncs) { begin in
            let isFull = random.fraction() < fulls / syncs
            for number in 1...(Fleet.lists + (isFull ? Fleet.pages : 0)) {
                rate.add(at: begin + Int64(number) * Fleet.requestTime)
            }
        }
        happen(writes) { rate.add(at: $0) }
        return rate
    }
}
