import ReferenceUpstream

/// Random numbers that are the same for the same seed, on every machine.
package struct SeededRandom: RandomNumberGenerator, Sendable {
    package let seed: UInt64
    private var generator: SplitMix64

    package init(seed: UInt64 = TestRun.seed) {
        self.seed = seed
        generator = SplitMix64(seed: seed)
    }

    package mutating func next() -> UInt64 { generator.next() }

    /// From 0 up to, not including, `count`, which is above 0.
    package mutating func below(_ count: Int) -> Int { generator.below(count) }

    /// One of `choices`; nil when there are none.
    package mutating func pick<Element>(_ choices: [Element]) -> Element? {
        choices.isEmpty ? nil : choices[below(choices.count)]
    }
}

/// Hands out its cards in random order, all of them once before any of them again.
package struct Deck<Card> {
    private let cards: [Card]
    private var left: [Card] = []
    private var random: SeededRandom

    /// `cards` is not empty.
    package init(_ cards: [Card], seed: UInt64 = TestRun.seed) {
        self.cards = cards
        random = SeededRandom(seed: seed)
    }

    package mutating func draw() -> Card {
        if left.isEmpty { left = cards.shuffled(using: &random) }
        return left.removeLast()
    }

    /// As many cards as `count` says, at most all of them; none twice.
    package mutating func draw(_ count: Int) -> [Card] {
        Array(cards.shuffled(using: &random).prefix(count))
    }
}
