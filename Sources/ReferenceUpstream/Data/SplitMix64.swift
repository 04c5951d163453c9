internal import JSONText

/// Pseudorandom numbers, the same for the same seed (Steele, Lea and Flood, "Fast Splittable Pseudorandom
/// Number Generators", 2014).
package struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// From 0 up to, not including, 1.
    package mutating func fraction() -> Double { Double(next() >> 11) * 0x1p-53 }

    /// True with probability `share`.
    package mutating func chance(_ share: Double) -> Bool { fraction() < share }

    /// From 0 up to, not including, `count`, which is above 0.
    package mutating func below(_ count: Int) -> Int {
        // Not the standard library's method: its mapping may change between releases, and a seed must keep its bytes.
        Int(truncatingIfNeeded: next().multipliedFullWidth(by: UInt64(count)).high)
    }

    /// One of `choices`, which is not empty.
    package mutating func pick<Element>(_ choices: [Element]) -> Element { choices[below(choices.count)] }

    /// Hexadecimal digits.
    package mutating func hex(_ count: Int) -> String {
        var text = ""
        while text.count < count { text += String(hexadecimal: next(), digits: 16) }
        return String(text.prefix(count))
    }
}
