/// Numbers that look random and are the same for the same seed (Steele, Lea and Flood, "Fast Splittable Pseudorandom
/// Number Generators", 2014).
struct SplitMix64: Sendable {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// From 0 up to, not including, 1.
    mutating func fraction() -> Double { Double(next() >> 11) * 0x1p-53 }

    /// True in `share` of all cases.
    mutating func chance(_ share: Double) -> Bool { fraction() < share }

    /// From 0 up to, not including, `count`, which is above 0.
    mutating func below(_ count: Int) -> Int {
        Int(truncatingIfNeeded: next().multipliedFullWidth(by: UInt64(count)).high)
    }

    /// One of `choices`, which is not empty.
    mutating func pick<Element>(_ choices: [Element]) -> Element { choices[below(choices.count)] }

    mutating func within(_ range: ClosedRange<Int>) -> Int { range.lowerBound + below(range.count) }
}
